-------------------------- MODULE MCMigrationWaits ---------------------------
(***************************************************************************)
(* M3, where a member waits for partitions of several others: it must      *)
(* rejoin when all of them are free, not when the first one is.            *)
(*                                                                         *)
(* Three members of a classic group, of which one has nothing and two have *)
(* a partition each; a fourth joins with the consumer protocol, and the    *)
(* target has both partitions for the first, so that it waits.             *)
(***************************************************************************)
EXTENDS MCMigrationTour

FourMembers == {"a", "b", "c", "d"}
FourInOrder ==
  [m \in FourMembers |-> IF m = "a" THEN 1 ELSE IF m = "b" THEN 2 ELSE IF m = "c" THEN 3 ELSE 4]
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
TwoClaimNames == [p \in TwoPartitions |-> IF p[2] = 0 THEN "owns foo 0" ELSE "owns foo 1"]
NothingToAll == {[m \in FourMembers |-> {{}}]}

\* The partitions of each member of the classic group.
AtFirst == [m \in FourMembers |-> IF m = "b" THEN {<<"foo", 0>>} ELSE IF m = "c" THEN {<<"foo", 1>>} ELSE {}]

WaitsInit ==
  LET stable == StableGroup(ThreeMembers, <<"range">>, None) IN
  /\ classic = Classic!Save([stable EXCEPT
       !.members = [m \in MemberIds |->
         IF m \in ThreeMembers THEN [stable.members[m] EXCEPT !.assignment = {AtFirst[m]}] ELSE stable.members[m]]])
  /\ consumer = NoGroup /\ phase = NoPhases /\ words = [m \in MemberIds |-> NoWords]
  /\ topics = ClusterTopics
  /\ step = NoStep /\ classicStep = Classic!NoClassicStep /\ converted = NoGroup

\* A member of the classic protocol rejoins and owns nothing, or synchronizes.
Rejoins ==
  \E m \in ThreeMembers, generation \in RequestGenerations :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m] IN
    \/ JoinMixed(m, [request EXCEPT !.type = {"consumer"}, !.protocols = <<"range">>,
                                    !.subscription = SubscriptionText(Names, {}, generation)])
    \/ SyncMixed(m, [request EXCEPT !.generation = generation])

\* The fourth joins, then the others rejoin.  All is for the first.
WaitsNext ==
  /\ IF Exists(consumer) THEN Rejoins ELSE ConsumerJoinRequest /\ step'.member = "d"
  /\ \A p \in Partitions : consumer'.target[p] = "a"
WaitsSpec == WaitsInit /\ [][WaitsNext]_vars
=============================================================================
