------------------------------- MODULE MCNoR9 -------------------------------
(***************************************************************************)
(* R9 taken away: a request that a living process gave up on may arrive    *)
(* late.  Must fail.  Only the faults that it takes are modelled, in fixed *)
(* roles, so that the counterexample is found in seconds.                  *)
(***************************************************************************)
EXTENDS MCSmall

TwoPartitions == {[t \in MCTopics |-> 2]}

NextR9 ==
  \/ \E m \in MemberIds : SendRequest(m) \/ ReceiveResponse(m) \/ FinishRevocation(m)
  \/ LoseRequest("m2") \/ ReceiveLate("m2")
  \/ ChangeSubscription("m2")

SpecR9 == Init /\ [][NextR9]_vars
=============================================================================
