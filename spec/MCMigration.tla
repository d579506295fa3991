----------------------------- MODULE MCMigration ----------------------------
(***************************************************************************)
(* Bounds of online migration: members of one classic group with a topic   *)
(* of 2 partitions, any `Budget` disturbances.                             *)
(***************************************************************************)
EXTENDS ClosedMigration

TwoMembers == {"a", "b"}
ThreeMembers == {"a", "b", "c"}
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
\* @type: Set(Str);
Nobody == {}
OnlyB == {"b"}
=============================================================================
