----------------------------- MODULE MCKafkaLags ----------------------------
(***************************************************************************)
(* The open instance of Kafka 4.3 whose targets come late (E2,             *)
(* group.consumer.assignment.interval.ms): each request in each state,     *)
(* with the target that is due or without it.  The members' view is        *)
(* MCKafka43Lags.                                                          *)
(***************************************************************************)
EXTENDS MCKafka

\* @type: $dialect;
Kafka43Lags == [Kafka43 EXCEPT !.TargetMayLag = TRUE]

\* E2: the first target of a group is computed at once.
FirstTargetIsNotLate == group = NoGroup => group'.assignmentEpoch = group'.epoch
LagSpec == Init /\ [][BoundedNext /\ FirstTargetIsNotLate]_vars

\* E2: no group has a target that is older than the group.
TargetIsOfTheGroup ==
  group # NoGroup => group.assignmentEpoch >= Dialect.FirstGroupEpoch - 1
=============================================================================
