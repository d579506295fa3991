---------------------------- MODULE MCKafkaClosed ---------------------------
(***************************************************************************)
(* The closed instance in the dialects of Kafka: is what Kafka does        *)
(* otherwise safe, and does the group converge?                            *)
(***************************************************************************)
EXTENDS MCSmall, KafkaDialects
=============================================================================
