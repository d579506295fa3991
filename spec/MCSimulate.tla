----------------------------- MODULE MCSimulate -----------------------------
(***************************************************************************)
(* A closed instance too large to exhaust, for random behaviours: 3        *)
(* members, 2 topics of up to 3 and 1 partitions, many disturbances.       *)
(***************************************************************************)
EXTENDS MCSmall

ThreeMembers == {"m1", "m2", "m3"}
TwoTopics == {"bar", "foo"}
FourPartitions == {<<"bar", 0>>, <<"foo", 0>>, <<"foo", 1>>, <<"foo", 2>>}
SomeCounts == {[t \in TwoTopics |-> IF t = "foo" THEN n ELSE 0] : n \in 1..3}
AnySubscription == {{}, {"bar"}, {"foo"}, TwoTopics}
=============================================================================
