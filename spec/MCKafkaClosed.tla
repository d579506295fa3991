---------------------------- MODULE MCKafkaClosed ---------------------------
(***************************************************************************)
(* The closed instance in the dialects of Kafka: is what Kafka does        *)
(* otherwise safe, and does the group converge?                            *)
(***************************************************************************)
EXTENDS MCSmall, KafkaDialects

\* E2: between two targets passes a time (group.consumer.assignment.interval.ms),
\* so that a request may leave a target that is due to a later one.
\* @type: $dialect;
Kafka43Lags == [Kafka43 EXCEPT !.TargetMayLag = TRUE]
\* @type: $dialect;
Kafka44Lags == [Kafka44 EXCEPT !.TargetMayLag = TRUE]

\* E2: the first target of a group is computed at once: there is no target
\* before it from which that time would count.
FirstTargetIsNotLate == group = NoGroup => group'.assignmentEpoch = group'.epoch
SafeLagSpec == Init /\ [][Next /\ FirstTargetIsNotLate]_vars

\* E2: no group has a target that is older than the group: the epoch before its
\* first is that of the empty target that it starts with.
TargetIsOfTheGroup ==
  group # NoGroup => group.assignmentEpoch >= Dialect.FirstGroupEpoch - 1

\* R8: that time passes, and some request of a member comes after it.
FairLagSpec == SafeLagSpec /\ \A m \in MemberIds : Recovery(m)
LagSpec ==
  /\ FairLagSpec
  /\ \A m \in MemberIds : SF_state(SendRequest(m) /\ group'.assignmentEpoch = group'.epoch)

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
