--------------------------- MODULE PartitionEpochs --------------------------
(***************************************************************************)
(* Kafka's way to accept a late commit (PartitionEpochs; O2): every        *)
(* partition that a member holds has the member epoch at which the member  *)
(* got the partition, and a commit with an older member epoch is accepted  *)
(* if that epoch is not older than the partition's. A member that sends a  *)
(* heartbeat and a commit at once is then not refused because its epoch    *)
(* moved on.                                                               *)
(*                                                                         *)
(* Left out: Kafka refuses a whole commit for one of its partitions; here  *)
(* a commit is of one partition, as in Offsets.                            *)
(***************************************************************************)
EXTENDS Offsets

\* @type: Str -> ($partition -> Int);
NothingGiven == [m \in MemberIds |-> [p \in Partitions |-> 0]]

\* Partitions that a member keeps through a step: also those that it is told to
\* revoke, but not those that it released and gets again in the same step.
\* @type: ($group, $group, Str) => Set($partition);
Through(before, after, m) ==
  Held(after, m) \cap (before.members[m].assigned \cup after.members[m].revoking)

\* Partition epochs after a step of the group: a partition that a member keeps
\* keeps its epoch, a new partition has the epoch to which the member moved
\* with it.
\* @type: ($group, $group, Str -> ($partition -> Int)) => (Str -> ($partition -> Int));
GivenAt(before, after, given) ==
  [m \in MemberIds |-> [p \in Partitions |->
     IF p \notin Held(after, m) THEN 0
     ELSE IF p \in Through(before, after, m) THEN given[m][p]
     ELSE after.members[m].epoch]]

\* The member whose partitions a member of the next state continues: itself, or
\* the member with its instance id, whose place it takes (S1).
\* @type: ($group, $group, Str) => Set(Str);
Continued(before, after, m) ==
  IF m \in Members(before) THEN {m}
  ELSE {k \in Members(before) \ Members(after) :
          before.members[k].instance # None /\ before.members[k].instance = after.members[m].instance}

\* The epochs with static members (S1): a member that is away, or returns, has
\* held the partitions of the place since 0, before any epoch.
\* @type: ($group, $group, Str -> ($partition -> Int)) => (Str -> ($partition -> Int));
GivenAtPlaces(before, after, given) ==
  [m \in MemberIds |-> [p \in Partitions |->
     IF p \notin Held(after, m) \/ IsAway(after, m) THEN 0
     ELSE IF p \notin after.members[m].revoking
               /\ \A k \in Continued(before, after, m) : p \notin before.members[k].assigned
          THEN after.members[m].epoch
     ELSE IF m \in Members(before) THEN given[m][p] ELSE 0]]

\* O2: the current member epoch, or one since which the member has held the
\* partition.
\* @type: ($group, Str -> ($partition -> Int), Str, Int, $partition) => Str;
CommitErrorOf(g, given, m, epoch, p) ==
  IF /\ CommitError(g, m, epoch) = "STALE_MEMBER_EPOCH"
     /\ Dialect.PartitionEpochs
     /\ epoch < g.members[m].epoch
     /\ p \in Held(g, m) /\ given[m][p] <= epoch
  THEN "NONE" ELSE CommitError(g, m, epoch)
=============================================================================
