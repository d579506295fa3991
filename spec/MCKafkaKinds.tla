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
\* Nothing of a group that has migrated is looked at.
UntilConverted == consumer.epoch = 0
=============================================================================
