-------------------------- MODULE OffsetsInvariant --------------------------
(***************************************************************************)
(* The proof that fencing by the member epoch protects committed offsets   *)
(* (O2): the invariant of the closed instance, extended by what is known of*)
(* zombies and of commits that arrive late, is kept by every step of the   *)
(* closed instance with offsets, and implies that a commit that is accepted*)
(* is that of the partition's holder, whom nobody has superseded.  Epochs, *)
(* offsets and the number of disturbances are unbounded.  It needs R9.     *)
(*                                                                         *)
(* `lateCommits` begins with one commit: every conjunct speaks of one at a *)
(* time and no action looks at two.  Members are dynamic: MCHandOverStatic *)
(* has static ones.                                                        *)
(***************************************************************************)
EXTENDS ClosedOffsets, ClosedInvariant

\* Has the coordinator gone beyond this epoch of `m`, for good?
\* @type: (Str, Int) => Bool;
IsPast(m, epoch) ==
  epoch > 0 => /\ epoch < group.members[m].epoch
               /\ epoch # group.members[m].previousEpoch

\* A zombie knows no epoch that its member id is at, or that would pass for a
\* retry (H6).
ZombiesAreOld ==
  \A m \in zombies \cap Members(group) :
    /\ IsPast(m, clients[m].epoch)
    /\ group.members[m].previousEpoch > 0 => clients[m].epoch < group.members[m].previousEpoch
    /\ \A response \in responses[m] :
         response.error = "NONE" =>
           /\ IsPast(m, response.epoch)
           /\ group.members[m].previousEpoch > 0 => response.epoch < group.members[m].previousEpoch

\* A member that lives is not ahead of what the coordinator has of it.
AliveAreKnown ==
  \A m \in MemberIds : Alive(m) => clients[m].epoch <= group.members[m].epoch

\* H7: a join is a full request, so that no join is refused (H3).
JoinsAreFull ==
  /\ \A m \in MemberIds : clients[m].epoch = 0 => clients[m].report
  /\ \A request \in late : request.epoch = 0 => request.subscription # {}

\* A late commit whose epoch is still the member's is one of a process that is
\* gone, without an heir and without a late acknowledgement: nothing that it
\* held has been released.
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

\* The conditions that the proof adds to Inv.  Inv itself is kept by every step
\* of Next, as is proved in ClosedInvariant, and a step that is none of Next
\* leaves all that it speaks of unchanged (CommitsLeaveInv); so only this has to
\* be checked.
Fence == ZombiesAreOld /\ AliveAreKnown /\ JoinsAreFull /\ LateCommitsAreFenced

OffsetInv == Inv /\ Fence

(***************************************************************************)
(* Any state, field by field                                               *)
(***************************************************************************)

\* One late commit, or none.
AnyLateCommits ==
  \E there \in BOOLEAN, m \in MemberIds, epoch \in Int, p \in Partitions, offset \in Int,
     superseded \in BOOLEAN :
    lateCommits = {commit \in {[member |-> m, epoch |-> epoch, partition |-> p, offset |-> offset,
                                superseded |-> superseded]} : there}

OffsetInvInit ==
  /\ InvInit
  /\ offsets \in [Partitions -> Int]
  /\ \E position \in [MemberIds \X Partitions -> Int] :
       positions = [m \in MemberIds |-> [p \in Partitions |-> position[<<m, p>>]]]
  /\ processed \in [Partitions -> Int]
  /\ stopped \in [Partitions -> Int]
  /\ AnyLateCommits
  /\ OffsetInv

OffsetSafe == NoCommitOfASupersededOwner

CommitsLeaveInv == step'.action \in {"OffsetFetch", "Consume", "OffsetCommit", "LoseCommit"} =>
  UNCHANGED groupVars

\* Controls.
NobodyCommits == step.action = "OffsetCommit" => step.response.error # "NONE"
=============================================================================
