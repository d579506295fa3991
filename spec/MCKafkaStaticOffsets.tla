------------------------ MODULE MCKafkaStaticOffsets ------------------------
(***************************************************************************)
(* Commits and fetches of static members in the dialects of Kafka without  *)
(* PartitionEpochs: the open instance, one partition.  Those of partitions *)
(* that do not exist are left out: a broker answers them itself.           *)
(***************************************************************************)
EXTENDS MCKafkaStatic, OpenOffsets

MCOffsetValues == {0}
MCCommitEpochs == {Away} \cup 0..(MaxEpoch + 1)

OffsetSteadyNext ==
  /\ OffsetNext
  /\ KeepsInstance
  /\ group'.epoch <= MaxEpoch
  /\ \A p \in step'.partition : p[2] < topics[p[1]]

OffsetSteadySpec == OffsetInit /\ [][OffsetSteadyNext]_offsetVars

\* O2, O4: only the current epoch of a member is accepted, and that of a
\* member that is away only where AwayCommits says so.
CurrentEpochAlone ==
  [][step'.action \in {"OffsetCommit", "OffsetFetch"} /\ step'.member # None =>
       LET epoch == group.members[step'.member].epoch IN
       step'.response.error = "NONE" <=>
         /\ step'.member \in Members(group) /\ step'.request.epoch = epoch
         /\ epoch # Away \/ Dialect.AwayCommits]_offsetVars
=============================================================================
