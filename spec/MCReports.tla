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
  place

Foo0 == <<"foo", 0>>
Foo1 == <<"foo", 1>>

\* @type: (Str, Str) => Bool;
Targeted(first, second) == group'.target[Foo0] = first /\ group'.target[Foo1] = second

\* m1 joins and owns both partitions, m2 joins and gets the second.
Joins ==
  \/ place = 1 /\ SendRequest("m1")
  \/ place = 2 /\ ReceiveResponse("m1")
  \/ place = 3 /\ SendRequest("m2") /\ Targeted("m1", "m2")
  \/ place = 4 /\ ReceiveResponse("m2")
  \/ place = 5 /\ SendRequest("m1")
  \/ place = 6 /\ ReceiveResponse("m1")
  \/ place = 7 /\ FinishRevocation("m1")

\* The coordinator fails over before m1's acknowledgement; m1 is told to revoke
\* the first partition.  Another change of the target and another fail-over
\* follow: m1's report counts as the acknowledgement of the second revocation.
Failures ==
  \/ place = 8 /\ SendRequest("m3") /\ Targeted("m2", "m1")
  \/ place = 9 /\ FailOver
  \/ place = 10 /\ SendRequest("m1")
  \/ place = 11 /\ ReceiveResponse("m1")
  \/ place = 12 /\ LoseRequest("m1")
  \/ place = 13 /\ SendRequest("m4") /\ Targeted("m1", "m2")
  \/ place = 14 /\ FailOver
  \/ place = 15 /\ SendRequest("m1")
  \/ place = 16 /\ FinishRevocation("m1")
  \/ place = 17 /\ SendRequest("m2")
  \/ place = 18 /\ ReceiveResponse("m2")

InitReports == Init /\ place = 1 /\ \A m \in MemberIds : clients[m].up
NextReports == (Joins \/ Failures) /\ place' = place + 1
SpecReports == InitReports /\ [][NextReports]_<<vars, place>>
=============================================================================
