---------------------------- MODULE MixedOffsets -----------------------------
(***************************************************************************)
(* The open instance of online migration with offsets (M2, O2): a client   *)
(* may commit and fetch with any member id, any epoch or generation, for   *)
(* any partition, at any moment, in a group of either kind.                *)
(*                                                                         *)
(* A request is fenced by the protocol of its member.  In a consumer group *)
(* the fence is the member epoch, which is the generation of a member of   *)
(* the classic protocol: that member gets ILLEGAL_GENERATION for a wrong   *)
(* one, others STALE_MEMBER_EPOCH.  A classic group has one generation for *)
(* all, and refuses commits, not fetches, while its leader has yet to      *)
(* assign. Committed offsets stay when the group is converted.             *)
(*                                                                         *)
(* Left out: what Offsets leaves out, and instance ids.                    *)
(***************************************************************************)
EXTENDS OpenMigration, Offsets

CONSTANTS
  \* The offsets that a commit may carry.
  \* @type: Set(Int);
  OffsetValues,
  \* The member epochs or generations that a commit or a fetch may carry, besides
  \* none.
  \* @type: Set(Int);
  CommitEpochs

VARIABLE
  \* The committed offset of each partition, NoOffset where there is none.
  \* @type: $partition -> Int;
  offsets

offsetVars == <<vars, offsets>>
offsetView == <<view, offsets>>

\* O2, M2: an epoch that is not a member's is a generation to one of the classic
\* protocol.
\* @type: (Str, Str) => Str;
AsGeneration(m, error) ==
  IF error = "STALE_MEMBER_EPOCH" /\ m \in ClassicMembers(Mixed) THEN "ILLEGAL_GENERATION" ELSE error

\* @type: (Str, Int) => $classicRequest;
OfGeneration(m, generation) == [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = generation]

\* O2, M2: the error of a commit.
\* @type: (Str, Int) => Str;
MixedCommitError(m, epoch) ==
  IF IsClassic THEN Classic!ClassicCommitError(classic, OfGeneration(m, epoch))
  ELSE AsGeneration(m, CommitError(consumer, m, epoch))

\* O4, M2: the error of a fetch.  A sender that names neither a member nor an
\* epoch may always fetch.
\* @type: (Str, Int) => Str;
MixedFetchError(m, epoch) ==
  IF IsClassic /\ ~NamesNoMember(m, epoch) THEN Classic!GenerationError(classic, OfGeneration(m, epoch))
  ELSE AsGeneration(m, AnyFetchError(consumer, m, epoch))

\* A commit or a fetch is of neither protocol.
\* @type: (Str, Str, Int, $partition, Int, Str) => Bool;
TakeOffset(action, m, epoch, p, offset, error) ==
  /\ step' = OffsetStep(action, m, epoch, p, offset, error)
  /\ classicStep' = NoRequestOf(action, m)
  /\ converted' = NoGroup
  /\ UNCHANGED <<consumer, phase, words, classic, topics>>

\* Senders: a member id, or none.
Senders == MemberIds \cup {None}

\* O1, O2.
OffsetCommit ==
  \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions, offset \in OffsetValues :
    LET error == FirstError(MixedCommitError(m, epoch), PartitionError(topics, p)) IN
    /\ offsets' = Commit(offsets, p, offset, error)
    /\ TakeOffset("OffsetCommit", m, epoch, p, offset, error)

\* O1, O4: `step.offset` is what the fetch answers.
OffsetFetch ==
  /\ \E m \in Senders, epoch \in CommitEpochs \cup {NoEpoch}, p \in Partitions :
       LET error == FirstError(MixedFetchError(m, epoch), PartitionError(topics, p)) IN
       TakeOffset("OffsetFetch", m, epoch, p, Fetch(offsets, p, error), error)
  /\ UNCHANGED offsets

\* Every other step.  E5: a deleted group takes its offsets along, a converted
\* group does not.
GroupStep ==
  /\ Next
  /\ offsets' = IF step'.action = "DeleteGroup" THEN NoOffsets ELSE offsets

OffsetInit == Init /\ offsets = NoOffsets
OffsetNext == GroupStep \/ OffsetCommit \/ OffsetFetch
OffsetSpec == OffsetInit /\ [][OffsetNext]_offsetVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* The generation or epoch that a member is at.
\* @type: (Str) => Int;
At(m) == IF IsClassic THEN classic.generation ELSE consumer.members[m].epoch

\* @type: (Str) => Bool;
IsThere(m) == m \in Members(consumer) \cup Classic!InGroup(classic)

\* O2, O4, M2: commits and fetches are answered exactly so.
OffsetsAreFenced ==
  [][step'.action \in {"OffsetCommit", "OffsetFetch"} =>
       LET m == step'.member
           epoch == step'.request.epoch
           error == step'.response.error
           commits == step'.action = "OffsetCommit"
           nobody == NamesNoMember(m, epoch)
           stale == ~nobody /\ IsThere(m) /\ epoch # At(m)
           usesClassic == IsClassic \/ phase[m] # ""
           unassigned == commits /\ classic.state = "CompletingRebalance" /\ IsThere(m) /\ ~stale
           overwrites == Members(consumer) # {} \/ (IsClassic /\ classic.state # "Empty")
       IN /\ (error = "UNKNOWN_MEMBER_ID") = IF nobody THEN commits /\ overwrites ELSE ~IsThere(m)
          /\ (error = "STALE_MEMBER_EPOCH") = (stale /\ ~usesClassic)
          /\ (error = "ILLEGAL_GENERATION") = (stale /\ usesClassic)
          /\ (error = "REBALANCE_IN_PROGRESS") = unassigned]_offsetVars

\* O2: only an accepted commit, and the deletion of the group, changes
\* committed offsets. A conversion keeps them (M1) by the definition of GroupStep.
OnlyCommitsCount ==
  [][offsets' # offsets =>
       \/ step'.action = "DeleteGroup"
       \/ step'.action = "OffsetCommit" /\ step'.response.error = "NONE"]_offsetVars

\* O1: a fetch tells the committed offset.
FetchesTellOffsets ==
  [][step'.action = "OffsetFetch" =>
       \A p \in step'.partition : step'.offset = IF step'.response.error = "NONE" THEN offsets[p] ELSE NoOffset]_offsetVars

\* O2: commits and fetches are no heartbeats.
OffsetsLeaveTheGroup ==
  [][step'.action \in {"OffsetCommit", "OffsetFetch"} => UNCHANGED view]_offsetVars
=============================================================================
