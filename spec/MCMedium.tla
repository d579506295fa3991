------------------------------ MODULE MCMedium ------------------------------
(***************************************************************************)
(* Bounds of a larger closed instance: 3 members, one topic of 3           *)
(* partitions, balanced targets (TargetRule "uniform" in the config).      *)
(***************************************************************************)
EXTENDS MCSmall

ThreeMembers == {"m1", "m2", "m3"}
ThreePartitions == {<<"foo", 0>>, <<"foo", 1>>, <<"foo", 2>>}
AllThree == {[t \in MCTopics |-> 3]}
=============================================================================
