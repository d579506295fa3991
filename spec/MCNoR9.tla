------------------------------- MODULE MCNoR9 -------------------------------
(***************************************************************************)
(* Without R9: a request that a live process has abandoned may arrive      *)
(* late.  Must fail.  Only the faults that the counterexample needs are    *)
(* modelled, in fixed roles, so that it is found in seconds.               *)
(***************************************************************************)
EXTENDS MCSmall

TwoPartitions == {[t \in MCTopics |-> 2]}

NextR9 ==
  \/ \E m \in MemberIds : SendRequest(m) \/ ReceiveResponse(m) \/ FinishRevocation(m)
  \/ LoseRequest("m2") \/ ReceiveLate("m2")
  \/ ChangeSubscription("m2")

SpecR9 == Init /\ [][NextR9]_vars
=============================================================================
