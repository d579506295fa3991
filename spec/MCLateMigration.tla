--------------------------- MODULE MCLateMigration --------------------------
(***************************************************************************)
(* Bounds of online migration with late requests: those of MCMigration.    *)
(***************************************************************************)
EXTENDS LateMigration

TwoMembers == {"a", "b"}
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
OnlyB == {"b"}
=============================================================================
