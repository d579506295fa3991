--------------------------- MODULE MCKafkaMigration --------------------------
(***************************************************************************)
(* Online migration in the dialects of Kafka: the open instance, 2 members,*)
(* 1 partition and a stable classic group at the start.  Epochs and        *)
(* generations above MaxEpoch are cut off.                                 *)
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

BoundedNext == KafkaNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch
BoundedSpec == KafkaInit /\ [][BoundedNext]_kafkaVars
=============================================================================
