--------------------------- MODULE MCKafkaMigration --------------------------
(***************************************************************************)
(* Online migration in the dialects of Kafka: the open instance, 2 members,*)
(* 1 partition and a stable classic group at the start.  Epochs and        *)
(* generations above MaxEpoch are cut off.  In StaticSpec a third process  *)
(* takes the place of another.                                             *)
(***************************************************************************)
EXTENDS KafkaMigration, KafkaDialects

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"a", "b"}
InOrder == [m \in TwoMembers |-> IF m = "a" THEN 1 ELSE 2]
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
MCClaimNames == [p \in OnePartition |-> "owns foo 0"]
MCGenerationNames ==
  [g \in -1..4 |-> IF g = -1 THEN "generation -1" ELSE IF g = 1 THEN "generation 1"
                   ELSE IF g = 2 THEN "generation 2" ELSE IF g = 3 THEN "generation 3"
                   ELSE IF g = 4 THEN "generation 4" ELSE "generation 0"]
\* @type: Set(Seq(Str));
OneList == {<<"range">>}
OneType == {"consumer"}
NothingOrAll == {{}, Partitions}
\* @type: Set(Str);
NoStrings == {}
NoOldOnes == {FALSE}
MCEpochs == 1..MaxEpoch
Both == {TwoMembers}
\* All to one member, and nothing to the other.
MCAssignments == {[m \in TwoMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}

ThreeMembers == {"a", "b", "c"}
ThreeInOrder == [m \in ThreeMembers |-> IF m = "a" THEN 1 ELSE IF m = "b" THEN 2 ELSE 3]
AllToFirst == {[m \in ThreeMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}
FirstOrBoth == {{"a"}, TwoMembers}
OneInstance == {"i"}
\* @type: Set(Set($partition));
OnlyNothing == {{}}

BoundedNext == KafkaNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch
\* Of three ids no more than two are in the group at a time.
AtMostTwo(c, g) ==
  Cardinality(Classic!InGroup(c) \cup Classic!PendingIds(c)) <= 2 /\ Cardinality(Members(g)) <= 2
StaticSpec == KafkaInit /\ [][BoundedNext /\ AtMostTwo(classic', consumer')]_kafkaVars
BoundedSpec == KafkaInit /\ [][BoundedNext]_kafkaVars
=============================================================================
