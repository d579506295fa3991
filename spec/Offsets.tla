------------------------------ MODULE Offsets -------------------------------
(***************************************************************************)
(* OffsetCommit and OffsetFetch as functions on the offsets of one group:  *)
(* the members that may commit and fetch (O2, O4), the partitions that     *)
(* exist (O1, T2), and the end of offsets whose topic or group is deleted. *)
(*                                                                         *)
(* The member epoch is the fence.  A fenced commit or fetch changes        *)
(* nothing in the group.  An accepted one changes nothing either: a commit *)
(* is no heartbeat, and a member whose commit is fenced stays in the       *)
(* group.                                                                  *)
(*                                                                         *)
(* Left out: leader epoch and metadata of a commit (stored and returned),  *)
(* a topic by its name (an id stands for the name), both at once (O1, a    *)
(* matter of the wire), requests for several partitions (each partition is *)
(* judged alone), transactions, expiry.                                    *)
(***************************************************************************)
EXTENDS Coordinator

\* No committed offset; the answer to a fetch of such a partition.
NoOffset == -1

\* @type: $partition -> Int;
NoOffsets == [p \in Partitions |-> NoOffset]

\* The member epoch of a request that names no member.
NoEpoch == -1

\* Neither member nor epoch: a consumer without a group, or an administrator.
\* @type: (Str, Int) => Bool;
NamesNoMember(m, epoch) == m = None /\ epoch = NoEpoch

\* O2, O4: a member of the group, at exactly its current epoch.  A static
\* member that is away (S1) is at no epoch that a request could have, unless -2
\* counts as one (AwayCommits).
\* @type: ($group, Str, Int) => Str;
MemberError(g, m, epoch) ==
  IF m \notin Members(g) THEN UnknownError(g)
  ELSE IF Dialect.AwayCommits THEN
    IF epoch # g.members[m].epoch THEN "STALE_MEMBER_EPOCH" ELSE "NONE"
  ELSE IF epoch # g.members[m].epoch \/ epoch = Away THEN "STALE_MEMBER_EPOCH"
  ELSE "NONE"

\* O2: a sender that names no member may commit while no member can be
\* overwritten.
\* @type: ($group, Str, Int) => Str;
CommitError(g, m, epoch) ==
  IF ~NamesNoMember(m, epoch) THEN MemberError(g, m, epoch)
  ELSE IF Members(g) = {} THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"

\* O4: a fetch without a member id, or of a member.
\* @type: ($group, Str, Int) => Str;
FetchError(g, m, epoch) ==
  IF m = None THEN "NONE" ELSE MemberError(g, m, epoch)

\* O2, O4: member id and member epoch are verified, both: an epoch without a
\* member id is no member's.  A sender that names neither may always fetch.
\* Members of the closed instance always name themselves: FetchError says the
\* same of them.
\* @type: ($group, Str, Int) => Str;
AnyFetchError(g, m, epoch) ==
  IF m = None /\ epoch # NoEpoch THEN UnknownError(g) ELSE FetchError(g, m, epoch)

\* O1, T2: the error where a topic id is not there, or no longer; or where the
\* partition is beyond the topic's partitions.
\* @type: (Str -> Int, $partition) => Str;
PartitionError(topics, p) ==
  IF topics[p[1]] <= 0 THEN "UNKNOWN_TOPIC_ID"
  ELSE IF p[2] >= topics[p[1]] THEN "UNKNOWN_TOPIC_OR_PARTITION"
  ELSE "NONE"

\* The group is checked first: a fenced request learns nothing about topics.
\* @type: (Str, Str) => Str;
FirstError(error, other) == IF error # "NONE" THEN error ELSE other

\* O3: the offsets after a commit.  An offset need not grow: a member may go
\* back.
\* @type: ($partition -> Int, $partition, Int, Str) => ($partition -> Int);
Commit(offsets, p, offset, error) ==
  IF error = "NONE" THEN [offsets EXCEPT ![p] = offset] ELSE offsets

\* The answer of a fetch.
\* @type: ($partition -> Int, $partition, Str) => Int;
Fetch(offsets, p, error) == IF error = "NONE" THEN offsets[p] ELSE NoOffset

\* T2, E5: a deleted topic takes its offsets along (a topic of the same name
\* is another), a deleted group all of them.
\* @type: ($partition -> Int, $group, $group, Str -> Int) => ($partition -> Int);
Surviving(offsets, before, after, topics) ==
  [p \in Partitions |->
     IF topics[p[1]] = -1 \/ (Exists(before) /\ ~Exists(after)) THEN NoOffset ELSE offsets[p]]

\* The step that a commit or fetch of `offset` makes.
\* @type: (Str, Str, Int, $partition, Int, Str) => $step;
OffsetStep(action, m, epoch, p, offset, error) ==
  [NoStep EXCEPT !.action = action,
                 !.member = m,
                 !.request = [NoRequest EXCEPT !.member = m, !.epoch = epoch],
                 !.response = [NoResponse EXCEPT !.error = error],
                 !.topic = p[1],
                 !.partition = {p},
                 !.offset = offset]
=============================================================================
