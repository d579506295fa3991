------------------------------ MODULE MCMedium ------------------------------
(***************************************************************************)
(* Bounds of larger closed instances: 3 members, 1 topic.  MCMedium has 2  *)
(* partitions and balanced targets (TargetRule "uniform"); MCLateThree has *)
(* 1 partition, any legal target, and two disturbances, so that a late     *)
(* request of one member meets the joins and leaves of two others.         *)
(***************************************************************************)
EXTENDS MCSmall

ThreeMembers == {"m1", "m2", "m3"}
OnePartition == {<<"foo", 0>>}
OneThere == {[t \in MCTopics |-> 1]}
BothPartitions == {[t \in MCTopics |-> 2]}
=============================================================================
