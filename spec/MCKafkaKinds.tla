----------------------------- MODULE MCKafkaKinds -----------------------------
(***************************************************************************)
(* Bounds of joins to classic groups of consumers and of others, with the  *)
(* errors of a dialect of Kafka (H5, OtherKindError).                      *)
(*                                                                         *)
(* Left out: all that Kafka does otherwise as a group migrates, which is in*)
(* KafkaMigration.  The joins of this model are refused before that.       *)
(***************************************************************************)
EXTENDS MCMigrationTour, KafkaDialects

Nobody == {{}}
\* A group that has migrated is not looked at.
UntilConverted == consumer.epoch = 0
=============================================================================
