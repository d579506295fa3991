------------------------------- MODULE MCHangs ------------------------------
(***************************************************************************)
(* R4, where no other rule helps: a client that hangs in the middle of a   *)
(* revocation while its heartbeats go on, as a client does whose           *)
(* application does not return from a callback.  Its session does not end. *)
(* The rebalance time-out removes the client, and the group converges      *)
(* (R8); without that time-out the group does not.                         *)
(*                                                                         *)
(* The process m1 never finishes a revocation.  When it learns that it is  *)
(* no member any more, it abandons its partitions (K1) and joins again.    *)
(***************************************************************************)
EXTENDS MCSmall

Hung == "m1"
TwoThere == {[t \in MCTopics |-> 2]}

\* R4: the time-out of a hanging client expires, which is no disturbance.
HungTimeout ==
  /\ RebalanceTimerArmed(group, Hung)
  /\ Event(RemoveMember(group, topics, Hung), "timeout", EventStep("RebalanceTimeout", Hung, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late, budget>>

\* All that may happen, but for the end of its revocations.
HangingNext ==
  \/ \E m \in MemberIds :
       \/ SendRequest(m) \/ ReceiveResponse(m) \/ ChangeSubscription(m)
       \/ m # Hung /\ FinishRevocation(m)
       \/ SessionTimeout(m) \/ Crash(m) \/ LeaveGroup(m) \/ Start(m)
       \/ LoseRequest(m) \/ LoseResponse(m)
  \/ \E p \in Partitions : AddPartitions(p)

\* R8: heartbeats get through, and the time-outs end.
HangingRecovery ==
  \A m \in MemberIds :
    /\ WF_state(SendRequest(m))
    /\ WF_state(ReceiveResponse(m))
    /\ WF_state(m # Hung /\ FinishRevocation(m))
    /\ WF_state(~clients[m].up /\ SessionTimeout(m))

TimeoutSpec == Init /\ [][HangingNext \/ HungTimeout]_vars /\ HangingRecovery /\ WF_state(HungTimeout)

\* A control, which must fail R8: no rebalance time-out.
NoTimeoutSpec == Init /\ [][HangingNext]_vars /\ HangingRecovery
=============================================================================
