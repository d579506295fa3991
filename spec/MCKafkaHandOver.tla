--------------------------- MODULE MCKafkaHandOver --------------------------
(***************************************************************************)
(* The closed instance with offsets in the dialects of Kafka that have     *)
(* PartitionEpochs: do commits that are late, or a zombie's, ever overwrite*)
(* those of a partition's next owner?  `ErrorOf <- ErrorByPartition`.      *)
(***************************************************************************)
EXTENDS MCHandOver, KafkaDialects, PartitionEpochs

VARIABLE
  \* At which member epoch each member was given what it holds; else 0.
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

\* A process makes a member id of its own: the id of one that ended is used
\* again when no commit of it is on the way.
NewIds ==
  \A commit \in lateCommits : step'.action = "Start" => step'.member # commit.member

EpochSpec == EpochInit /\ [][EpochNext /\ NewIds]_epochVars

\* Control: where a join under the id of a member keeps it (RejoinOfLiveMember),
\* a process that starts again under its old id is taken for the one that it
\* was, and so is a commit of that one which is on the way.
SameIdSpec == EpochInit /\ [][EpochNext]_epochVars

\* O2: only the coordinator's holder writes an offset; the rest vanish.
WrittenByAHolder ==
  [][\A p \in Partitions :
       offsets'[p] # offsets[p] /\ offsets'[p] # NoOffset =>
         /\ Commits /\ Accepted /\ step'.partition = {p} /\ offsets'[p] = step'.offset
         /\ p \in Held(group, step'.member)
         /\ partitionEpochs[step'.member][p] <= step'.request.epoch]_epochVars

\* Control: without the epochs of partitions, whoever was a member at an older
\* epoch and still is one may commit.
\* @type: ($commit) => Str;
ErrorOfAnyEpoch(commit) ==
  IF commit.member \in Members(group) THEN PartitionError(topics, commit.partition) ELSE "UNKNOWN_MEMBER_ID"
=============================================================================
