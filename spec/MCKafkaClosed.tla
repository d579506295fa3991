---------------------------- MODULE MCKafkaClosed ---------------------------
(***************************************************************************)
(* The closed instance in the dialects of Kafka: is what Kafka does        *)
(* otherwise safe, and does the group converge?                            *)
(***************************************************************************)
EXTENDS MCSmall, KafkaDialects

\* H8, where a join under the id of a member is refused (RejoinOfLiveMember
\* "fenced"): trying again and again does not prolong that member's session, so
\* it ends while its process is there, without a disturbance.
RefusedSessionEnds(m) ==
  /\ clients[m].up /\ clients[m].epoch = 0 /\ responses[m] = {}
  /\ SessionTimerArmed(group, m)
  /\ Event(RemoveMember(group, topics, m), "timeout", EventStep("SessionTimeout", m, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late, budget>>

RefusedNext == Next \/ \E m \in MemberIds : RefusedSessionEnds(m)
RefusedSpec == Init /\ [][RefusedNext]_vars

\* R8: and it does end, however often the process asks.
PatientSpec ==
  /\ RefusedSpec
  /\ \A m \in MemberIds : Recovery(m) /\ SF_state(RefusedSessionEnds(m))
=============================================================================
