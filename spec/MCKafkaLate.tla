----------------------------- MODULE MCKafkaLate ----------------------------
(***************************************************************************)
(* R9 on Kafka: a request of a process that died arrives late, at a group  *)
(* that the next process has joined.  In Kafka's dialects a join of a live *)
(* member keeps the member and its partitions, and the partitions that the *)
(* join reports count as an acknowledgement.  So member ids must be new: a *)
(* process must not join under an id while a request with that id is on    *)
(* the way.                                                                *)
(***************************************************************************)
EXTENDS MCKafkaClosed

TwoPartitions == {[t \in MCTopics |-> 2]}

\* Every disturbance, but a process has a member id that no message knows.
NextNewIds == Next /\ \A request \in late : step'.action = "Start" => step'.member # request.member
SpecNewIds == Init /\ [][NextNewIds]_vars

\* Steps without reused ids where a join under the id of a living member is refused (4.0, 4.1),
\* so that the member's session ends while its process tries again (H8).
NextRefusedNewIds ==
  RefusedNext /\ \A request \in late : step'.action = "Start" => step'.member # request.member
SpecRefusedNewIds == Init /\ [][NextRefusedNewIds]_vars

\* Ids used again, in fixed roles, so that the counterexample is found in
\* seconds: m1 ends and starts again under its id.  Must fail.
NextOldIds ==
  \/ \E m \in MemberIds : SendRequest(m) \/ ReceiveResponse(m)
  \/ \E m \in {"m1", "m2"} : FinishRevocation(m)
  \/ CrashSending("m1") \/ Start("m1") \/ ReceiveLate("m1")
SpecOldIds == Init /\ [][NextOldIds]_vars
=============================================================================
