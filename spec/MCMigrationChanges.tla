------------------------- MODULE MCMigrationChanges --------------------------
(***************************************************************************)
(* Bounds of online migration with what happens around members: those of   *)
(* MCMigrationStatic for a static consumer that is away; or two members    *)
(* and a topic that grows from 1 partition to 2; or two members and two    *)
(* partitions, of which targets change while a member revokes.             *)
(***************************************************************************)
EXTENDS MCMigrationTour, MixedChanges

TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
OneOfTwo == [t \in OneTopic |-> 1]
TwoClaimNames == [p \in TwoPartitions |-> IF p[2] = 0 THEN "owns foo 0" ELSE "owns foo 1"]
FirstToA == {[m \in TwoMembers |-> IF m = "a" THEN {{<<"foo", 0>>}} ELSE {{}}]}

BoundedChanges == ChangesNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch
\* Only a process that is away rejoins with the consumer protocol, and no
\* process of the classic protocol leaves.
AwayNext ==
  /\ BoundedChanges /\ AtMostTwo(classic', consumer')
  /\ step'.action \in {"Join", "Return", "LeaveTemporarily", "JoinGroup", "SyncGroup", "Heartbeat", "SessionTimeout"}
AwaySpec == Init /\ [][AwayNext]_vars
GrowingNext ==
  /\ BoundedChanges
  /\ step'.action \in {"Join", "Rejoin", "Heartbeat", "JoinGroup", "SyncGroup", "AddPartitions"}
  /\ step'.action = "Rejoin" => IsClassic
\* The first member has the partition that there is.
GrowingInit ==
  LET stable == StableGroup(TwoMembers, <<"range">>, None)
      Assigned(m) == IF stable.members[m].assignment = {Partitions} THEN {OnePartition} ELSE {{}}
  IN /\ classic = Classic!Save([stable EXCEPT
          !.members = [m \in MemberIds |-> [stable.members[m] EXCEPT !.assignment = Assigned(m)]]])
     /\ consumer = NoGroup /\ phase = NoPhases /\ words = [m \in MemberIds |-> NoWords]
     /\ topics = ClusterTopics
     /\ step = NoStep /\ classicStep = Classic!NoClassicStep /\ converted = NoGroup
GrowingSpec == GrowingInit /\ [][GrowingNext]_vars

OnlyFirst == {{"a"}}
\* A consumer converts the group of the first member and begins anew, while that
\* member rejoins: each time another target.
RevokingNext ==
  /\ BoundedNext
  /\ step'.action \in {"Join", "Rejoin", "JoinGroup"}
  /\ step'.action = "JoinGroup" => Exists(consumer) /\ step'.member = "a"
RevokingSpec == Init /\ [][RevokingNext]_vars
=============================================================================
