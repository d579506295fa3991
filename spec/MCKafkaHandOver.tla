--------------------------- MODULE MCKafkaHandOver --------------------------
(***************************************************************************)
(* The closed instance with offsets in the dialects of Kafka that have     *)
(* PartitionEpochs: do late commits, or a zombie's, ever overwrite those   *)
(* of a partition's next owner?  `ErrorOf <- ErrorByPartition`.            *)
(***************************************************************************)
EXTENDS MCHandOver, KafkaDialects, PartitionEpochs

VARIABLE
  \* The member epoch at which each member got each of its partitions; else 0.
  \* @type: Str -> ($partition -> Int);
  partitionEpochs

epochVars == <<offsetVars, partitionEpochs>>
epochView == <<offsetView, partitionEpochs>>

\* @type: ($commit) => Str;
ErrorByPartition(commit) ==
  FirstError(CommitErrorOf(group, partitionEpochs, commit.member, commit.epoch, commit.partition),
             PartitionError(topics, commit.partition))

EpochInit == OffsetInit /\ partitionEpochs = NothingGiven
EpochNext == OffsetNext /\ partitionEpochs' = GivenAt(group, group', partitionEpochs)

\* A process makes its own member id: the id of a process that ended is used
\* again when none of its commits is on the way.
NewIds ==
  \A commit \in lateCommits : step'.action = "Start" => step'.member # commit.member

EpochSpec == EpochInit /\ [][EpochNext /\ NewIds]_epochVars

\* Control: where a join under the id of a member keeps the member
\* (RejoinOfLiveMember), a process that starts again under its old id counts as
\* the earlier process, and so does a commit of the earlier process that is on
\* the way.
SameIdSpec == EpochInit /\ [][EpochNext]_epochVars

\* O2: only the coordinator's holder writes an offset; the rest vanish.
WrittenByAHolder ==
  [][\A p \in Partitions :
       offsets'[p] # offsets[p] /\ offsets'[p] # NoOffset =>
         /\ Commits /\ Accepted /\ step'.partition = {p} /\ offsets'[p] = step'.offset
         /\ p \in Held(group, step'.member)
         /\ partitionEpochs[step'.member][p] <= step'.request.epoch]_epochVars

\* Control: without the epochs of partitions, a process that was a member at an
\* older epoch and still is one may commit.
\* @type: ($commit) => Str;
ErrorOfAnyEpoch(commit) ==
  IF commit.member \in Members(group) THEN PartitionError(topics, commit.partition) ELSE "UNKNOWN_MEMBER_ID"
=============================================================================
