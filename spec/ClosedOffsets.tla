---------------------------- MODULE ClosedOffsets ---------------------------
(***************************************************************************)
(* The closed instance with offsets: members fetch the committed offset of *)
(* their new partitions, consume, commit at any time, give partitions up   *)
(* with a last commit or without, and crash with a commit on the way;      *)
(* zombies (R7) go on consuming and committing.  The member epoch (O2)     *)
(* protects a partition's next owner from all of them: this module shows   *)
(* that the exemption of R7 is harmless.                                   *)
(*                                                                         *)
(* R9 is needed here, too.  Between two revocations in a row a member      *)
(* keeps its epoch (branch acknowledge-revoke): a commit of a live process *)
(* that arrives after the acknowledgement of the first revocation has the  *)
(* member's current epoch, is accepted, and overwrites the commit of the   *)
(* next owner.  So a commit that a process has abandoned must be dropped   *)
(* before its next heartbeat arrives: NetworkDropsOldRequests holds for    *)
(* commits.                                                                *)
(*                                                                         *)
(* A commit is handled in the step that sends it: a lost commit is no      *)
(* step, and the arrival of its answer changes nothing here (a member      *)
(* without the answer goes on or commits again).  A fetch is answered at   *)
(* once: while the member holds the partition no other client may commit   *)
(* (that is O2), so an answer in flight stays true; after that the answer  *)
(* belongs to a zombie.                                                    *)
(*                                                                         *)
(* `processed` and `stopped` are history: no action depends on them.       *)
(***************************************************************************)
EXTENDS ClosedGroup, Offsets

CONSTANT
  \* The number of records in each partition.
  \* @type: Int;
  EndOffset

(*
  A commit on the way whose process is gone (or, without R9, has given it up).
  `superseded` is history: has someone else held the partition since?
  @typeAlias: commit = {
    member: Str, epoch: Int, partition: $partition, offset: Int, superseded: Bool
  };
*)
ClosedOffsets_aliases == TRUE

VARIABLES
  \* The committed offset of each partition, NoOffset where there is none.
  \* @type: $partition -> Int;
  offsets,
  \* The offset of the next record that a member processes; NoOffset for a
  \* partition that it does not own, or whose committed offset it has not
  \* fetched.
  \* @type: Str -> ($partition -> Int);
  positions,
  \* Commits that may still arrive.
  \* @type: Set($commit);
  lateCommits,
  \* History: the number of records of each partition that any client has
  \* processed.
  \* @type: $partition -> Int;
  processed,
  \* History: where the last owner stopped, if all that it did was committed
  \* by then; else NoOffset.
  \* @type: $partition -> Int;
  stopped

offsetVars == <<vars, offsets, positions, lateCommits, processed, stopped>>
offsetView == <<view, offsets, positions, lateCommits, processed, stopped>>

OffsetInit ==
  /\ Init
  /\ offsets = NoOffsets
  /\ positions = [m \in MemberIds |-> NoOffsets]
  /\ lateCommits = {}
  /\ processed = [p \in Partitions |-> 0]
  /\ stopped = NoOffsets

groupVars == <<group, topics, clients, responses, late, zombies>>

(***************************************************************************)
(* The coordinator's side of a commit                                      *)
(***************************************************************************)

\* @type: (Str, $partition) => $commit;
CommitOf(m, p) ==
  [member |-> m, epoch |-> clients[m].epoch, partition |-> p, offset |-> positions[m][p],
   superseded |-> m \in zombies]

\* O2: a commit.  No variable of the group changes.
\* @type: ($commit, Str) => Bool;
HandleCommit(commit, error) ==
  /\ offsets' = Commit(offsets, commit.partition, commit.offset, error)
  /\ Record(OffsetStep("OffsetCommit", commit.member, commit.epoch, commit.partition, commit.offset, error))

\* @type: ($commit) => Str;
ErrorOf(commit) ==
  FirstError(CommitError(group, commit.member, commit.epoch), PartitionError(topics, commit.partition))

(***************************************************************************)
(* The members                                                             *)
(***************************************************************************)

\* @type: (Str, $partition) => Bool;
Consumes(m, p) == clients[m].up /\ p \in clients[m].owned

\* O4: the new owner fetches the offset to begin at; if fenced, it fetches
\* again later.  Without a committed offset it begins at the first record.
OffsetFetch(m, p) ==
  LET epoch == clients[m].epoch
      error == FirstError(FetchError(group, m, epoch), PartitionError(topics, p))
      offset == Fetch(offsets, p, error)
  IN
  /\ Consumes(m, p) /\ p \in clients[m].told /\ positions[m][p] = NoOffset
  /\ Record(OffsetStep("OffsetFetch", m, epoch, p, offset, error))
  /\ positions' = IF error # "NONE" THEN positions
                  ELSE [positions EXCEPT ![m][p] = IF offset = NoOffset THEN 0 ELSE offset]
  /\ stopped' = IF error # "NONE" THEN stopped ELSE [stopped EXCEPT ![p] = NoOffset]
  /\ UNCHANGED <<groupVars, budget, offsets, lateCommits, processed>>

\* The next record; K2: a partition that is to be given up is not consumed any
\* more.
Consume(m, p) ==
  LET next == positions[m][p] + 1 IN
  /\ Consumes(m, p) /\ p \in clients[m].told
  /\ positions[m][p] # NoOffset /\ next <= EndOffset
  /\ positions' = [positions EXCEPT ![m][p] = next]
  /\ processed' = [processed EXCEPT ![p] = IF next > processed[p] THEN next ELSE processed[p]]
  /\ Record([EventStep("Consume", m, p[1], 0) EXCEPT !.partition = {p}, !.offset = next])
  /\ UNCHANGED <<groupVars, budget, offsets, lateCommits, stopped>>

\* O2, O3: at any time while the member believes to own the partition; before
\* it gives one up (K2), or not.
OffsetCommit(m, p) ==
  /\ Consumes(m, p) /\ positions[m][p] # NoOffset
  /\ HandleCommit(CommitOf(m, p), ErrorOf(CommitOf(m, p)))
  /\ UNCHANGED <<groupVars, budget, positions, lateCommits, processed, stopped>>

\* A commit arrives late, or (a disturbance) a second time; no client waits for
\* its answer.
\* @type: ($commit, Str) => Bool;
LateCommitArrives(commit, error) ==
  /\ \/ lateCommits' = lateCommits \ {commit} /\ UNCHANGED budget
     \/ Disturb(1) /\ UNCHANGED lateCommits
  /\ HandleCommit(commit, error)
  /\ UNCHANGED <<groupVars, positions, processed, stopped>>

ReceiveLateCommit(m) ==
  \E commit \in lateCommits : commit.member = m /\ LateCommitArrives(commit, ErrorOf(commit))

\* Without R9: a commit is so late that its sender gives it up, and lives on.
LoseCommit(m, p) ==
  /\ ~NetworkDropsOldRequests
  /\ Disturb(1)
  /\ Consumes(m, p) /\ positions[m][p] # NoOffset
  /\ lateCommits' = lateCommits \cup {CommitOf(m, p)}
  /\ Record([EventStep("LoseCommit", m, p[1], 0) EXCEPT !.partition = {p}, !.offset = positions[m][p]])
  /\ UNCHANGED <<groupVars, offsets, positions, processed, stopped>>

(***************************************************************************)
(* The group's steps                                                       *)
(***************************************************************************)

\* A step keeps a member's positions in the partitions that it continues to
\* own. A partition is new to a member once (K3): the member fetches the offset
\* to begin at (OffsetFetch).
PositionsFollow ==
  positions' = [m \in MemberIds |-> [p \in Partitions |->
                  IF p \in clients[m].owned \cap clients'[m].owned THEN positions[m][p] ELSE NoOffset]]

\* Does `m`, being no zombie, give up `p`, from which it has consumed?
\* @type: (Str, $partition) => Bool;
Stops(m, p) ==
  /\ m \notin zombies /\ p \in clients[m].owned /\ p \notin clients'[m].owned
  /\ positions[m][p] # NoOffset

\* History.  O3: a stop is clean if the owner committed its last position; a
\* crash never is, as its last commit may be in flight.
StoppedFollows ==
  stopped' = [p \in Partitions |->
    IF Surviving(offsets, group, group', topics')[p] = NoOffset THEN NoOffset
    ELSE IF \A m \in MemberIds : ~Stops(m, p) THEN stopped[p]
    ELSE IF \A m \in MemberIds :
              Stops(m, p) => positions[m][p] = offsets[p] /\ step'.action \notin {"Crash", "CrashSending"}
    THEN offsets[p] ELSE NoOffset]

\* History: has another member, or another incarnation, taken over in this
\* step?
LateCommitsFollow(commits) ==
  lateCommits' = {[commit EXCEPT !.superseded =
                     \/ commit.superseded
                     \/ commit.member \in Ended(group, group', step')
                     \/ \E n \in MemberIds \ {commit.member} : commit.partition \in Held(group', n)]
                  : commit \in commits}

\* @type: (Set($commit)) => Bool;
OffsetsFollow(commits) ==
  /\ offsets' = Surviving(offsets, group, group', topics')
  /\ PositionsFollow /\ StoppedFollows /\ LateCommitsFollow(commits)
  /\ UNCHANGED processed

\* As for late requests: a group is deleted long after its last commit (E5),
\* and a static member's id is not used again while a commit of it is in
\* flight.
GroupStep ==
  /\ Next
  /\ Exists(group) /\ ~Exists(group') => lateCommits = {}
  /\ \A commit \in lateCommits :
       step'.action = "Start" /\ step'.member = commit.member => InstanceOf[commit.member] = None
  /\ OffsetsFollow(lateCommits)

\* A disturbance: the process dies with a commit on the way.
CrashCommitting(m, p) ==
  /\ Consumes(m, p) /\ positions[m][p] # NoOffset
  /\ Crash(m)
  /\ OffsetsFollow(lateCommits \cup {CommitOf(m, p)})

OffsetNext ==
  \/ GroupStep
  \/ \E m \in MemberIds, p \in Partitions :
       \/ OffsetFetch(m, p) \/ Consume(m, p) \/ OffsetCommit(m, p)
       \/ CrashCommitting(m, p) \/ LoseCommit(m, p)
  \/ \E m \in MemberIds : ReceiveLateCommit(m)

OffsetSpec == OffsetInit /\ [][OffsetNext]_offsetVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* O2: does the coordinator's holder commit, and has no other member held the
\* partition since the holder sent the commit?
\* @type: ($commit, Bool) => Bool;
OfTheHolder(commit, superseded) ==
  commit.partition \in Held(group, commit.member) /\ ~superseded

\* O2: a commit from a former owner never overwrites its successor's, be the
\* former owner a zombie or the commit late.
NoCommitOfASupersededOwner ==
  /\ \A m \in MemberIds, p \in Partitions :
       /\ Consumes(m, p) /\ positions[m][p] # NoOffset /\ ErrorOf(CommitOf(m, p)) = "NONE"
       => OfTheHolder(CommitOf(m, p), m \in zombies)
  /\ \A commit \in lateCommits :
       ErrorOf(commit) = "NONE" => OfTheHolder(commit, commit.superseded)

\* O3: at least once.  A member that begins at the committed offset skips only
\* records that some client has processed.
AtLeastOnce ==
  \A p \in Partitions :
    /\ offsets[p] <= processed[p]
    /\ \A m \in MemberIds : positions[m][p] <= processed[p]

\* O3: exactly once over a clean revocation: the committed offset is where
\* the last owner stopped until the next one begins there.
HandOverIsExact ==
  \A p \in Partitions : stopped[p] # NoOffset => offsets[p] = stopped[p]
=============================================================================
