------------------------------ MODULE MCTopics ------------------------------
(***************************************************************************)
(* Bounds of a closed instance with 2 topics of one partition, one of which*)
(* may not exist yet: subscriptions differ, topics come and go.            *)
(***************************************************************************)
EXTENDS MCSmall

TwoTopics == {"bar", "foo"}
OnePartitionEach == {<<"bar", 0>>, <<"foo", 0>>}
FooAndPerhapsBar == {[t \in TwoTopics |-> IF t = "foo" THEN 1 ELSE n] : n \in 0..1}
AnySubscription == {{}, {"bar"}, {"foo"}, TwoTopics}
=============================================================================
