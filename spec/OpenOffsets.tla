----------------------------- MODULE OpenOffsets ----------------------------
(***************************************************************************)
(* The open instance with offsets: any member id, any epoch, any partition *)
(* may be committed to and fetched from, at any moment.                    *)
(***************************************************************************)
EXTENDS OpenGroup, Offsets

CONSTANTS
  \* The offsets that a commit may carry.
  \* @type: Set(Int);
  OffsetValues,
  \* The member epochs that a commit or a fetch may carry, besides none.
  \* @type: Set(Int);
  CommitEpochs

VARIABLE
  \* The committed offset of each partition, NoOffset where there is none.
  \* @type: $partition -> Int;
  offsets

offsetVars == <<vars, offsets>>
offsetView == <<view, offsets>>

OffsetInit == Init /\ offsets = NoOffsets

\* Senders: a member id, or none.
Senders == MemberIds \cup {None}

\* O1, O2.
OffsetCommit ==
  /\ \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions, offset \in OffsetValues :
       LET error == FirstError(CommitError(group, m, epoch), PartitionError(topics, p)) IN
       /\ offsets' = Commit(offsets, p, offset, error)
       /\ step' = OffsetStep("OffsetCommit", m, epoch, p, offset, error)
  /\ UNCHANGED <<group, topics>>

\* O1, O4: `step.offset` is what the fetch answers.
OffsetFetch ==
  /\ \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions :
       LET error == FirstError(AnyFetchError(group, m, epoch), PartitionError(topics, p)) IN
       step' = OffsetStep("OffsetFetch", m, epoch, p, Fetch(offsets, p, error), error)
  /\ UNCHANGED <<group, topics, offsets>>

\* Every other step, and what becomes of the offsets (T2, E5).
GroupStep == Next /\ offsets' = Surviving(offsets, group, group', topics')

OffsetNext == GroupStep \/ OffsetCommit \/ OffsetFetch

OffsetSpec == OffsetInit /\ [][OffsetNext]_offsetVars
=============================================================================
