------------------------------- MODULE MCLate -------------------------------
(***************************************************************************)
(* R8 with late requests: a process dies at any moment, and its last       *)
(* request, a join, a heartbeat or a leave, arrives whenever it may, also  *)
(* after the next process with the member id has joined, or never.         *)
(***************************************************************************)
EXTENDS MCSmall

OnePartition == {<<"foo", 0>>}
One == {[t \in MCTopics |-> 1]}
OnlyFoo == {{"foo"}}

\* CrashSending uses both disturbances of the budget at once; nothing uses one.
\* The members are alike, so one of them is enough.
LateNext == Next /\ budget' # 1 /\ \A request \in late' : request.member = "m1"
LateSpec == Init /\ [][LateNext]_vars /\ \A m \in MemberIds : Recovery(m)
=============================================================================
