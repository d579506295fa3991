--------------------------- MODULE MCKafkaOffsets ---------------------------
(***************************************************************************)
(* The open instance with offsets in the dialects of Kafka: 2 members, one *)
(* topic of one partition.  Commits of partitions that are not there are   *)
(* left out: a broker answers those before its coordinator sees them.      *)
(***************************************************************************)
EXTENDS MCKafka, OpenOffsets, PartitionEpochs

VARIABLE
  \* The member epoch at which each member got each of its partitions; else 0.
  \* @type: Str -> ($partition -> Int);
  partitionEpochs

epochVars == <<offsetVars, partitionEpochs>>
epochView == <<offsetView, partitionEpochs>>

MCOffsetValues == {0}
MCCommitEpochs == 0..(MaxEpoch + 1)

\* O1, O2.
CommitByPartition ==
  /\ \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions, offset \in OffsetValues :
       LET error == CommitErrorOf(group, partitionEpochs, m, epoch, p) IN
       /\ p[2] < topics[p[1]]
       /\ offsets' = Commit(offsets, p, offset, error)
       /\ step' = OffsetStep("OffsetCommit", m, epoch, p, offset, error)
  /\ UNCHANGED <<group, topics>>

EpochNext ==
  /\ GroupStep \/ CommitByPartition
  /\ partitionEpochs' = GivenAt(group, group', partitionEpochs)
  /\ group'.epoch <= MaxEpoch

EpochSpec == OffsetInit /\ partitionEpochs = NothingGiven /\ [][EpochNext]_epochVars

\* Each partition was given at an epoch that the member has been at, or is
\* about to reach.
GivenInOrder ==
  \A m \in MemberIds, p \in Partitions :
    IF p \in Held(group, m)
    THEN partitionEpochs[m][p] \in 1..group.members[m].epoch
    ELSE partitionEpochs[m][p] = 0

\* O2: a partition that a member is assigned has the epoch of that step, and keeps
\* it while the member holds the partition; one that was to be revoked and is
\* assigned again is another time.
GivenOnce ==
  [][\A m \in MemberIds, p \in Partitions :
       LET had == p \in group.members[m].assigned
           has == p \in group'.members[m].assigned
       IN /\ has /\ ~had => partitionEpochs'[m][p] = group'.members[m].epoch
          /\ p \in Held(group, m) \cap Held(group', m) /\ (had \/ ~has) =>
               partitionEpochs'[m][p] = partitionEpochs[m][p]]_epochVars

\* O2: the member that commits holds the partition, and has since the epoch that
\* it says, unless that is the current one.
AcceptedFromTheHolder ==
  [][step'.action = "OffsetCommit" /\ step'.response.error = "NONE" =>
       \/ step'.member = None /\ Members(group) = {}
       \/ step'.request.epoch = group.members[step'.member].epoch
       \/ /\ Dialect.PartitionEpochs /\ step'.partition \subseteq Held(group, step'.member)
          /\ step'.request.epoch < group.members[step'.member].epoch
          /\ \A p \in step'.partition : partitionEpochs[step'.member][p] <= step'.request.epoch]_epochVars

\* O2: and was not refused for an epoch that it has held the partition since.
RefusedExactly ==
  [][step'.action = "OffsetCommit" /\ step'.response.error = "STALE_MEMBER_EPOCH" =>
       LET since == partitionEpochs[step'.member]
           epoch == step'.request.epoch
       IN \/ epoch > group.members[step'.member].epoch
          \/ /\ epoch < group.members[step'.member].epoch
             /\ \A p \in step'.partition : since[p] = 0 \/ epoch < since[p]]_epochVars
=============================================================================
