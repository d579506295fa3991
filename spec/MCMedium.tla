------------------------------ MODULE MCMedium ------------------------------
(***************************************************************************)
(* Bounds of a larger closed instance: 3 members, one topic of 2           *)
(* partitions, balanced targets (TargetRule "uniform" in the config).      *)
(***************************************************************************)
EXTENDS MCSmall

ThreeMembers == {"m1", "m2", "m3"}
BothPartitions == {[t \in MCTopics |-> 2]}
=============================================================================
