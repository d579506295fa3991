-------------------------- MODULE MCOwnershipClosed -------------------------
(***************************************************************************)
(* Bounds of closed instances of which Ownership is checked: members of the*)
(* text's dialect with late requests of processes that died, fail-overs, a *)
(* static member, and the dialects of Kafka.                               *)
(***************************************************************************)
EXTENDS MCKafkaStaticClosed, OwnershipOfClosed

\* E2: a request may leave a target that is due to a later one.
\* @type: $dialect;
LaggingKafka == [Kafka43 EXCEPT !.TargetMayLag = TRUE]

\* O2: if two processes use a partition, the zombie has the lower epoch.
ZombiesAreBehind ==
  \A m \in MemberIds, n \in MemberIds :
    BothOwn(m, n) /\ n \notin zombies => clients[m].epoch < clients[n].epoch
=============================================================================
