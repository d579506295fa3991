-------------------------- MODULE OffsetsInvariant --------------------------
(***************************************************************************)
(* The proof that fencing by the member epoch protects committed offsets   *)
(* (O2): the invariant of the closed instance with its shapes              *)
(* (ClosedShapes), extended by conditions on zombies and on commits that   *)
(* arrive late, is kept by every step of the closed instance with offsets, *)
(* and implies that an accepted commit is the commit of the partition's    *)
(* holder, which no other process has superseded.  Epochs, offsets and the *)
(* number of disturbances are unbounded.  The proof needs R9.  The         *)
(* induction is closed: the shapes of the generated states hold again      *)
(* after a step.                                                           *)
(*                                                                         *)
(* Left out: a state is generated with at most one late commit.  Each      *)
(* conjunct speaks of one late commit, and no action looks at two.         *)
(* Members are dynamic: MCHandOverStatic has static ones.                  *)
(***************************************************************************)
EXTENDS ClosedOffsets, ClosedShapes

\* Has the coordinator gone beyond this epoch of `m`, for good?
\* @type: (Str, Int) => Bool;
IsPast(m, epoch) ==
  epoch > 0 => /\ epoch < group.members[m].epoch
               /\ epoch # group.members[m].previousEpoch

\* A zombie knows no epoch that is the epoch of its member id, or that would
\* count as a retry (H6).
ZombiesAreOld ==
  \A m \in zombies \cap Members(group) :
    /\ IsPast(m, clients[m].epoch)
    /\ group.members[m].previousEpoch > 0 => clients[m].epoch < group.members[m].previousEpoch
    /\ \A response \in responses[m] :
         response.error = "NONE" =>
           /\ IsPast(m, response.epoch)
           /\ group.members[m].previousEpoch > 0 => response.epoch < group.members[m].previousEpoch

\* A live member is not ahead of the coordinator's state of it.
AliveAreKnown ==
  \A m \in MemberIds : Alive(m) => clients[m].epoch <= group.members[m].epoch

\* A late commit with the member's current epoch is from a process that has
\* ended, without a successor and without a late acknowledgement: none of its
\* partitions has been released.
LateCommitsAreFenced ==
  \A commit \in lateCommits :
    LET m == commit.member
        member == group.members[m]
    IN /\ 0 < commit.epoch /\ commit.epoch <= group.epoch
       /\ m \in Members(group) => commit.epoch <= member.epoch
       /\ m \in Members(group) /\ commit.epoch = member.epoch =>
            /\ ~Alive(m)
            /\ ~commit.superseded /\ commit.partition \in Held(group, m)
            /\ \A request \in late : request.member = m => request.epoch # commit.epoch

\* The shape of the late commits that AnyLateCommits generates.
CommitShape ==
  \A commit \in lateCommits : commit.member \in MemberIds /\ commit.partition \in Partitions

\* The conditions that the proof adds to ShapedInv.  ShapedInv itself is kept by
\* every step of Next, as is proved in ClosedShapes, and a step that is none of
\* Next keeps it, too (CommitsLeaveInv); so only Fence has to be checked.
Fence == ZombiesAreOld /\ AliveAreKnown /\ LateCommitsAreFenced /\ CommitShape

OffsetInv == ShapedInv /\ Fence

(***************************************************************************)
(* Any state, field by field                                               *)
(***************************************************************************)

\* One late commit, or none.
AnyLateCommits ==
  \E there \in BOOLEAN, m \in MemberIds, epoch \in Int, p \in Partitions, offset \in Int,
     superseded \in BOOLEAN :
    lateCommits = {commit \in {[member |-> m, epoch |-> epoch, partition |-> p, offset |-> offset,
                                superseded |-> superseded]} : there}

\* Every state of OffsetInv with at most two late requests and one late commit.
OffsetInvInit ==
  /\ ShapedInit
  /\ offsets \in [Partitions -> Int]
  /\ \E position \in [MemberIds \X Partitions -> Int] :
       positions = [m \in MemberIds |-> [p \in Partitions |-> position[<<m, p>>]]]
  /\ processed \in [Partitions -> Int]
  /\ stopped \in [Partitions -> Int]
  /\ AnyLateCommits
  /\ OffsetInv

OffsetSafe == NoCommitOfASupersededOwner

\* A step that is none of Next leaves all that ShapedInv speaks of as it is, but
\* for the number of disturbances that are left.
CommitsLeaveInv == step'.action \in {"OffsetFetch", "Consume", "OffsetCommit", "LoseCommit"} =>
  UNCHANGED groupVars /\ budget' >= 0

\* Controls.
NobodyCommits == step.action = "OffsetCommit" => step.response.error # "NONE"
=============================================================================
