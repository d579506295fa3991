------------------------ MODULE MCKafkaStaticClosed -------------------------
(***************************************************************************)
(* Two processes of one static member beside a dynamic one, with           *)
(* fail-overs, in the dialects of Kafka.                                   *)
(***************************************************************************)
EXTENDS MCStaticClosed, KafkaDialects

\* A static member that crashed is refused until its session has ended, under
\* its own member id, too (InstanceChecked).  Trying again and again does not
\* prolong that session.
SessionsEnd == \A m \in MemberIds : SF_state(~clients[m].up /\ SessionTimeout(m))
PatientSpec == FairSpec /\ SessionsEnd
=============================================================================
