------------------------ MODULE MCKafkaStaticEpochs -------------------------
(***************************************************************************)
(* Commits of static members in the dialects of Kafka with PartitionEpochs:*)
(* the open instance with fail-overs, one partition.  Commits of           *)
(* partitions that are not there are left out: a broker answers those      *)
(* itself.                                                                 *)
(***************************************************************************)
EXTENDS MCKafkaStaticOffsets, PartitionEpochs

VARIABLE
  \* The member epoch at which each member got each of its partitions; else 0.
  \* @type: Str -> ($partition -> Int);
  partitionEpochs

placeVars == <<offsetVars, partitionEpochs>>
placeView == <<offsetView, partitionEpochs>>

\* O1, O2.
CommitByPartition ==
  /\ \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions, offset \in OffsetValues :
       LET error == CommitErrorOf(group, partitionEpochs, m, epoch, p) IN
       /\ p[2] < topics[p[1]]
       /\ offsets' = Commit(offsets, p, offset, error)
       /\ step' = OffsetStep("OffsetCommit", m, epoch, p, offset, error)
  /\ UNCHANGED <<group, topics>>

PlaceNext ==
  /\ GroupStep \/ CommitByPartition
  /\ KeepsInstance
  /\ group'.epoch <= MaxEpoch
  /\ partitionEpochs' = GivenAtPlaces(group, group', partitionEpochs)

PlaceSpec == OffsetInit /\ partitionEpochs = NothingGiven /\ [][PlaceNext]_placeVars

\* O2, S1: each partition was given at an epoch that the member has been at, or is
\* about to reach; a member that is away has held the partitions since 0.
GivenInPlace ==
  \A m \in MemberIds, p \in Partitions :
    IF p \in Held(group, m) /\ ~IsAway(group, m)
    THEN partitionEpochs[m][p] \in 0..group.members[m].epoch
    ELSE partitionEpochs[m][p] = 0

\* O2, S1: a process that returns has held the partitions of its place since 0,
\* and new partitions since its own epoch.
ReturnedHoldsSince ==
  [][step'.action = "Return" /\ step'.response.error = "NONE" =>
       LET m == step'.member
           place == {k \in Members(group) : IsAway(group, k)
                       /\ group.members[k].instance = group'.members[m].instance}
       IN \A p \in group'.members[m].assigned :
            partitionEpochs'[m][p] =
              IF \E k \in place : p \in group.members[k].assigned THEN 0 ELSE group'.members[m].epoch]_placeVars

\* O2: a member that commits with an older epoch holds the partition since
\* then.
AcceptedFromTheHolder ==
  [][step'.action = "OffsetCommit" /\ step'.response.error = "NONE" =>
       \/ step'.member = None /\ Members(group) = {}
       \/ step'.request.epoch = group.members[step'.member].epoch
       \/ /\ step'.partition \subseteq Held(group, step'.member)
          /\ \A p \in step'.partition : partitionEpochs[step'.member][p] <= step'.request.epoch]_placeVars

\* O2: and is refused for no epoch since which the member has held the partition.
RefusedExactly ==
  [][step'.action = "OffsetCommit" /\ step'.response.error = "STALE_MEMBER_EPOCH" =>
       LET m == step'.member
           epoch == step'.request.epoch
       IN \/ epoch > group.members[m].epoch
          \/ /\ epoch < group.members[m].epoch
             /\ \A p \in step'.partition : p \notin Held(group, m) \/ epoch < partitionEpochs[m][p]]_placeVars
=============================================================================
