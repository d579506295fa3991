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

\* Where a leader may choose any legal target, each rebalance may lead to the
\* next one: group epochs above 4 are cut off, which is sound here: no property
\* is about progress.
AnyLeaderSpec == Init /\ [][Next /\ mixed'.group.epoch <= 4]_state
=============================================================================
