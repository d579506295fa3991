------------------------------- MODULE MCFenced -----------------------------
(***************************************************************************)
(* The closed instance where members are fenced (H5): 2 members, one       *)
(* partition, and a process of m1 that dies in a group that has converged, *)
(* with a heartbeat on the way, which meets the next process of that       *)
(* member.  No lesser disturbance makes a member's epoch wrong, so none is *)
(* here.                                                                   *)
(***************************************************************************)
EXTENDS MCSmall

OnePartition == {<<"foo", 0>>}
One == {[t \in MCTopics |-> 1]}

\* CrashSending takes both disturbances of the budget at once; nothing takes one.
OneLateHeartbeat ==
  /\ budget' # 1
  /\ \A request \in late' : request.member = "m1" /\ request.epoch > 0
  /\ late = {} /\ late' # {} => Converged

FencedNext == Next /\ OneLateHeartbeat
FencedSpec == Init /\ [][FencedNext]_vars
FencedFairSpec == FencedSpec /\ \A m \in MemberIds : Recovery(m)
=============================================================================
