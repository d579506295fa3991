------------------------------ MODULE MCReports -----------------------------
(***************************************************************************)
(* H7: a member reports no owned partitions during a revocation.  Without  *)
(* that rule (ReportsWhileRevoking = TRUE) R7 must fail with fail-overs:   *)
(* no record has the assignment that was sent to a member, so a new        *)
(* coordinator takes the report for the acknowledgement of another         *)
(* revocation.  The counterexample needs two fail-overs and a lost         *)
(* request.  One order of steps and three targets are modelled, so that it *)
(* is found in seconds.                                                    *)
(***************************************************************************)
EXTENDS MCSmall

FourMembers == {"m1", "m2", "m3", "m4"}
TwoPartitions == {[t \in MCTopics |-> 2]}

VARIABLE
  \* The number of the next step.
  \* @type: Int;
  turn

Foo0 == <<"foo", 0>>
Foo1 == <<"foo", 1>>

\* @type: (Str, Str) => Bool;
Targeted(first, second) == group'.target[Foo0] = first /\ group'.target[Foo1] = second

\* m1 joins and owns both partitions, m2 joins and gets the second.
Joins ==
  \/ turn = 1 /\ SendRequest("m1")
  \/ turn = 2 /\ ReceiveResponse("m1")
  \/ turn = 3 /\ SendRequest("m2") /\ Targeted("m1", "m2")
  \/ turn = 4 /\ ReceiveResponse("m2")
  \/ turn = 5 /\ SendRequest("m1")
  \/ turn = 6 /\ ReceiveResponse("m1")
  \/ turn = 7 /\ FinishRevocation("m1")

\* The coordinator fails over before m1's acknowledgement; m1 is told to revoke
\* the first partition.  Another change of the target and another fail-over
\* follow: m1's report counts as the acknowledgement of the second revocation.
Failures ==
  \/ turn = 8 /\ SendRequest("m3") /\ Targeted("m2", "m1")
  \/ turn = 9 /\ FailOver
  \/ turn = 10 /\ SendRequest("m1")
  \/ turn = 11 /\ ReceiveResponse("m1")
  \/ turn = 12 /\ LoseRequest("m1")
  \/ turn = 13 /\ SendRequest("m4") /\ Targeted("m1", "m2")
  \/ turn = 14 /\ FailOver
  \/ turn = 15 /\ SendRequest("m1")
  \/ turn = 16 /\ FinishRevocation("m1")
  \/ turn = 17 /\ SendRequest("m2")
  \/ turn = 18 /\ ReceiveResponse("m2")

InitReports == Init /\ turn = 1 /\ \A m \in MemberIds : clients[m].up
NextReports == (Joins \/ Failures) /\ turn' = turn + 1
SpecReports == InitReports /\ [][NextReports]_<<vars, turn>>
=============================================================================
