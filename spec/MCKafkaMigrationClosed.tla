----------------------- MODULE MCKafkaMigrationClosed -----------------------
(***************************************************************************)
(* Bounds of Kafka's online migration with its members: 2 of them, an eager*)
(* and a cooperative one, 2 partitions, and a stable classic group at the  *)
(* start.  Epochs and generations above MaxEpoch are cut off.              *)
(*                                                                         *)
(* On Kafka a partition may get a second owner (R7), in two ways; each has *)
(* a model that must fail.  A group that is converted back assigns its     *)
(* members their target, not the partitions that they hold: where the group*)
(* is converted once more before they have rejoined, the next owner gets   *)
(* partitions that are still in use.  And claims do not count: a rebalance *)
(* that interrupts another one forgets assignments, so that the partitions *)
(* of a cooperative member are free as the group is converted.             *)
(* DowngradedWithHeld and AssignedOrClaimed take both away.                *)
(***************************************************************************)
EXTENDS ClosedKafkaMigration, KafkaDialects

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"a", "b"}
\* @type: Str -> Int;
InOrder == [m \in TwoMembers |-> IF m = "a" THEN 1 ELSE 2]
OneTopic == {"foo"}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
MCClaimNames == [p \in TwoPartitions |-> IF p[2] = 0 THEN "owns foo 0" ELSE "owns foo 1"]
MCGenerationNames ==
  [g \in -1..6 |-> IF g = -1 THEN "generation -1" ELSE IF g = 1 THEN "generation 1"
                   ELSE IF g = 2 THEN "generation 2" ELSE IF g = 3 THEN "generation 3"
                   ELSE IF g = 4 THEN "generation 4" ELSE IF g = 5 THEN "generation 5"
                   ELSE IF g = 6 THEN "generation 6" ELSE "generation 0"]
\* @type: Set(Seq(Str));
OneList == {<<"range">>}
\* @type: Set(Str);
NoStrings == {}
OneType == {"consumer"}
NothingOrAll == {{}, Partitions}
NoOldOnes == {FALSE}
MCEpochs == 1..MaxEpoch
Both == {TwoMembers}
\* @type: Set(Str -> Set(Set($partition)));
NoAssignments == {}
OnlyB == {"b"}

\* M1, R7: members that are converted back are assigned the partitions that they
\* hold, where Kafka assigns them their target.
\* @type: ($mixed, Str, Str -> $words) => $classicGroup;
DowngradedWithHeld(x, gone, said) ==
  LET left == ClassicMembers(x) \ {gone}
      members == [m \in MemberIds |->
        IF m \notin left THEN Classic!NoClassicMember
        ELSE [Classic!NoClassicMember EXCEPT
                !.place = "member", !.instance = x.group.members[m].instance,
                !.protocols = said[m].protocols, !.subscription = said[m].subscription,
                !.assignment = {Held(x.group, m)}]]
      stable == [Classic!NoClassicGroup EXCEPT !.state = "Stable", !.members = members]
  IN KeepingAssignments(stable, BackToClassic(x.group.epoch, members).group)

\* M1, R7: the partitions that a member claims count beside its assignment, as far
\* as they are assigned to no other member. On Kafka claims do not count.
\* @type: ($classicGroup, Str) => Set($partition);
AssignedOrClaimed(c, m) ==
  LET Assigned(n) == UNION c.members[n].assignment
      others == UNION {Assigned(n) : n \in Classic!InGroup(c) \ {m}}
  IN Assigned(m) \cup (ClaimedIn(c.members[m].subscription) \ others)

BoundedSpec ==
  ClosedInit /\ [][ClosedNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch]_closedVars
=============================================================================
