---------------------------- MODULE MCProofKafka ----------------------------
(***************************************************************************)
(* Sizes of the proof of the coordinator alone in Kafka's dialects: those  *)
(* of MCProofOpen, and its seeded mutant.                                  *)
(***************************************************************************)
EXTENDS MCProofOpen, LaggingInvariant, KafkaDialects

\* E2: targets may come late; the steps of a dialect without late targets are
\* among the steps of the dialect with them.
\* @type: $dialect;
Kafka43Lags == [Kafka43 EXCEPT !.TargetMayLag = TRUE]
\* @type: $dialect;
Kafka44Lags == [Kafka44 EXCEPT !.TargetMayLag = TRUE]
=============================================================================
