------------------------- MODULE MCMigrationBounded -------------------------
(***************************************************************************)
(* The first states for the other engine, which searches a few steps deep: *)
(* a and b are the classic group, anywhere in a rebalance, assigned        *)
(* anything, and own any part of that and of their claims; c is there with *)
(* the consumer protocol, and has not joined.  With ClaimsCount = FALSE it *)
(* is violated.                                                            *)
(***************************************************************************)
EXTENDS MCMigration

WithTwo == [t \in OneTopic |-> 2]

\* @type: (Set($partition)) => $member;
ClassicMember(assigned) ==
  [NoMember EXCEPT !.epoch = 2, !.subscription = {TopicName[t] : t \in Topics}, !.assigned = assigned]

\* The processes at each phase of their members.
\* @type: Str -> Set(Str);
StagesAt == [phase \in {"stable", "prepare", "joined"} |->
  IF phase = "stable" THEN {"stable"} ELSE IF phase = "prepare" THEN {"stable", "rejoin"} ELSE {"waiting"}]

\* @type: (Str, Set($partition)) => $process;
ClassicProcess(stage, owned) ==
  [NewProcess("classic") EXCEPT !.epoch = 2, !.stage = stage, !.owned = owned, !.told = owned]

\* May a process own these partitions?  It may own those of its claims, and
\* those of its assignment unless it has rejoined since; none if it is eager
\* and rejoins.
\* @type: (Str, Str, Set($partition)) => Bool;
OwnsAt(m, stage, owned) ==
  /\ owned \subseteq mixed.said[m] \cup (IF stage = "waiting" THEN {} ELSE mixed.group.members[m].assigned)
  /\ m \in Eager /\ stage # "stable" => owned = {}

BeforeConversion ==
  /\ \E phaseA \in DOMAIN StagesAt, phaseB \in DOMAIN StagesAt,
        ofA \in SUBSET TwoPartitions, ofB \in SUBSET TwoPartitions,
        saidA \in SUBSET TwoPartitions, saidB \in SUBSET TwoPartitions :
       /\ (ofA \cup saidA) \cap (ofB \cup saidB) = {}
       /\ mixed = [kind |-> "classic",
                   phase |-> [m \in MemberIds |-> IF m = "a" THEN phaseA ELSE IF m = "b" THEN phaseB ELSE ""],
                   said |-> [m \in MemberIds |-> IF m = "a" THEN saidA ELSE IF m = "b" THEN saidB ELSE {}],
                   group |-> [NoGroup EXCEPT
                     !.epoch = 2, !.assignmentEpoch = 2, !.metadata = ClusterTopics,
                     !.members = [m \in MemberIds |-> IF m = "a" THEN ClassicMember(ofA)
                                                      ELSE IF m = "b" THEN ClassicMember(ofB) ELSE NoMember]]]
  /\ \E stageA \in StagesAt[mixed.phase["a"]], stageB \in StagesAt[mixed.phase["b"]],
        ownedA \in SUBSET TwoPartitions, ownedB \in SUBSET TwoPartitions :
       /\ OwnsAt("a", stageA, ownedA) /\ OwnsAt("b", stageB, ownedB)
       /\ processes = [m \in MemberIds |-> IF m = "a" THEN ClassicProcess(stageA, ownedA)
                                           ELSE IF m = "b" THEN ClassicProcess(stageB, ownedB)
                                           ELSE NewProcess("consumer")]
  /\ ~BarrierOpens(mixed)
  /\ replies = [m \in MemberIds |-> {}]
  /\ zombies = {}
  /\ budget = Budget

\* M1: steps that convert the group.
ConversionNext == \E m \in MemberIds : SendHeartbeat(m)

\* All invariants at once.
MigrationSafe ==
  NoDoubleOwnership /\ OwnedIsHeld /\ NoDoubleHolding /\ KindFollowsMembers /\ EpochsInOrder /\ PhasesOfMembers
=============================================================================
