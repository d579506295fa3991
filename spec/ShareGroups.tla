---------------------------- MODULE ShareGroups -----------------------------
(***************************************************************************)
(* Share groups (KIP-932), thin: how members join, send heartbeats, leave  *)
(* and are removed, their assignments, and epochs (Q1-Q8).  Functions on   *)
(* one group's state; OpenShare has every request of a bounded domain.     *)
(*                                                                         *)
(* Difference from a consumer group: several members may have the same     *)
(* partition.  So there is one assignor, which gives each member all       *)
(* partitions of the topics that it subscribes to; nothing is revoked, and *)
(* nothing has to be acknowledged: a member that is behind gets its target *)
(* and the assignment epoch at once, with the next heartbeat.              *)
(*                                                                         *)
(* Decisions where the text leaves a question open; the alternatives in    *)
(* brackets.                                                               *)
(*  1 A member brings its own id, also with its first join.  [An empty id  *)
(*    is replaced by a new one: early versions of the request.]            *)
(*  2 A member of the group that sends epoch 0 joins again: it keeps its   *)
(*    place, and bumps the group epoch only by another subscription.       *)
(*    [FENCED_MEMBER_EPOCH, as epoch 0 is not its own: a member that was   *)
(*    fenced and must join again could not until its session ends.]        *)
(*  3 The epoch before the last is accepted, because the answer with the   *)
(*    last may be lost; such a request is answered with the assignment.    *)
(*    [Only where the assignment changes in this step: a member that lost  *)
(*    the answer in which it changed would never learn of it.]             *)
(*  4 A removal bumps the group epoch and computes no target: the next     *)
(*    heartbeat does.  So do topics that are created, grow and are         *)
(*    deleted.                                                             *)
(*  5 An empty group stays until an administrator deletes it.              *)
(*                                                                         *)
(* Left out: share partitions with their state and its initialization,     *)
(* records that are acquired and acknowledged, acquisition locks, share    *)
(* sessions, racks, a topic that comes back under its name, the maximum    *)
(* number of members of a group, other assignors.                          *)
(***************************************************************************)
EXTENDS Integers

(*
  A member.  Epoch 0: it is not in the group, and nothing is known of it.
  `assigned` is what it was told to use, at its epoch; `target` what it is
  told with its next heartbeat.
  @typeAlias: shareMember = {epoch: Int, previousEpoch: Int, subscription: Set(Str),
    target: Set(<<Str, Int>>), assigned: Set(<<Str, Int>>)};
  The group; epoch 0: there is none.  `metadata` has the number of partitions
  of each topic that some member subscribes to, and 0 of others.
  @typeAlias: share = {epoch: Int, assignmentEpoch: Int, metadata: Str -> Int, members: Str -> $shareMember};
  ShareGroupHeartbeat, and its response.  An option is a set of at most one
  element: {} is null.
  @typeAlias: shareRequest = {epoch: Int, subscription: Set(Set(Str))};
  @typeAlias: shareResponse = {error: Str, epoch: Int, assigned: Set(Set(<<Str, Int>>))};
  @typeAlias: shareStep = {action: Str, branch: Str, member: Str, request: $shareRequest,
    response: $shareResponse, topic: Str, partitions: Int};
  What a request makes of a group, and its response.
  @typeAlias: shared = {group: $share, branch: Str, response: $shareResponse};
*)
ShareGroups_aliases == TRUE

CONSTANTS
  \* The ids of members.
  \* @type: Set(Str);
  MemberIds,
  \* The names of topics, which are their ids, too.
  \* @type: Set(Str);
  Topics

\* @type: $shareMember;
NoMember == [epoch |-> 0, previousEpoch |-> 0, subscription |-> {}, target |-> {}, assigned |-> {}]

\* @type: $share;
NoShare == [epoch |-> 0, assignmentEpoch |-> 0, metadata |-> [t \in Topics |-> 0],
            members |-> [m \in MemberIds |-> NoMember]]

\* @type: $shareRequest;
NoRequest == [epoch |-> 0, subscription |-> {}]
\* @type: $shareResponse;
NoResponse == [error |-> "", epoch |-> 0, assigned |-> {}]

\* @type: ($share) => Bool;
Exists(g) == g.epoch > 0

\* @type: ($share) => Set(Str);
Members(g) == {m \in MemberIds : g.members[m].epoch > 0}

\* Q6, Q8.
\* @type: ($share) => Str;
ShareState(g) == IF ~Exists(g) THEN "Dead" ELSE IF Members(g) = {} THEN "Empty" ELSE "Stable"

(***************************************************************************)
(* Topics that the group knows, and the assignor (Q3, Q4)                  *)
(***************************************************************************)

\* Q3: the partitions of the topics that some of these members subscribe to.
\* A topic that is gone counts -1.
\* @type: (Str -> $shareMember, Str -> Int) => (Str -> Int);
MetadataOf(members, topics) ==
  [t \in Topics |-> IF topics[t] > 0 /\ \E m \in MemberIds : t \in members[m].subscription THEN topics[t] ELSE 0]

\* Q4: all partitions of what a member subscribes to.
\* @type: (Set(Str), Str -> Int) => Set(<<Str, Int>>);
Everything(subscription, metadata) ==
  UNION {{<<t, p>> : p \in 0..(metadata[t] - 1)} : t \in subscription}

(***************************************************************************)
(* Requests                                                                *)
(***************************************************************************)

\* Q7: a member id, and with a join a topic; no epoch below -1.
\* @type: (Str, $shareRequest) => Bool;
Invalid(m, request) ==
  \/ m = ""
  \/ request.epoch < -1
  \/ request.epoch = 0 /\ UNION request.subscription = {}

\* Q2, Q7: the reason for which a request is refused, "NONE" if it is not.
\* @type: ($share, Str, $shareRequest) => Str;
ErrorOf(g, m, request) ==
  IF Invalid(m, request) THEN "INVALID_REQUEST"
  ELSE IF request.epoch = 0 THEN "NONE"
  ELSE IF ~Exists(g) THEN "GROUP_ID_NOT_FOUND"
  ELSE IF g.members[m].epoch = 0 THEN "UNKNOWN_MEMBER_ID"
  ELSE IF request.epoch \in {-1, g.members[m].epoch, g.members[m].previousEpoch} THEN "NONE"
  ELSE "FENCED_MEMBER_EPOCH"

\* Q6: the group without a member; no target is computed.
\* @type: ($share, Str -> Int, Str) => $share;
Without(g, topics, m) ==
  LET members == [g.members EXCEPT ![m] = NoMember]
  IN [g EXCEPT !.epoch = @ + 1, !.metadata = MetadataOf(members, topics), !.members = members]

\* Q1, Q3: step 1 of a heartbeat: the member's fields, and the group epoch.
\* @type: ($share, Str -> Int, Str, $shareRequest) => $share;
Updated(g, topics, m, request) ==
  LET subscription == IF request.subscription = {} THEN g.members[m].subscription ELSE UNION request.subscription
      members == [g.members EXCEPT ![m].subscription = subscription]
      metadata == MetadataOf(members, topics)
      same == g.members[m].epoch > 0 /\ members = g.members /\ metadata = g.metadata
  IN [g EXCEPT !.epoch = IF same THEN @ ELSE @ + 1, !.metadata = metadata, !.members = members]

\* Q4: step 2: the target of every member, once the group has moved on.
\* @type: ($share, Str) => $share;
Targeted(g, m) ==
  IF g.epoch = g.assignmentEpoch THEN g
  ELSE [g EXCEPT
    !.assignmentEpoch = g.epoch,
    !.members = [n \in MemberIds |->
      IF n = m \/ g.members[n].epoch > 0
        THEN [g.members[n] EXCEPT !.target = Everything(g.members[n].subscription, g.metadata)]
        ELSE g.members[n]]]

\* Q5: step 3: a member that is behind has its target and the assignment epoch.
\* @type: ($share, Str) => $share;
Reconciled(g, m) ==
  IF g.members[m].epoch = g.assignmentEpoch THEN g
  ELSE [g EXCEPT !.members[m] =
    [@ EXCEPT !.epoch = g.assignmentEpoch, !.previousEpoch = g.members[m].epoch, !.assigned = g.members[m].target]]

\* Q5: a member that joins, sends its subscription, or has no answer with its
\* epoch yet, gets its assignment, and so does a member whose assignment
\* changes.
\* @type: ($shareMember, $shareMember, $shareRequest) => Bool;
IncludesAssignment(before, after, request) ==
  \/ request.epoch = 0
  \/ request.epoch # before.epoch
  \/ request.subscription # {}
  \/ before.assigned # after.assigned

\* The way that a heartbeat goes.
\* @type: ($shareMember, $shareMember, $shareRequest) => Str;
BranchOf(before, after, request) ==
  IF request.epoch > 0 /\ request.epoch # before.epoch THEN "retry"
  ELSE IF before.epoch # after.epoch THEN "advance" ELSE "stable"

\* Q1, Q2, Q5: a join or heartbeat that is not refused.
\* @type: ($share, Str -> Int, Str, $shareRequest) => $shared;
AcceptHeartbeat(g, topics, m, request) ==
  LET after == Reconciled(Targeted(Updated(g, topics, m, request), m), m)
      member == after.members[m]
      told == IF IncludesAssignment(g.members[m], member, request) THEN {member.assigned} ELSE {}
  IN [group |-> after, branch |-> BranchOf(g.members[m], member, request),
      response |-> [error |-> "NONE", epoch |-> member.epoch, assigned |-> told]]

\* Q7: nothing changes.
\* @type: ($share, Str) => $shared;
Refused(g, error) ==
  [group |-> g, branch |-> "refused", response |-> [error |-> error, epoch |-> 0, assigned |-> {}]]

\* Q6: the member is gone at once.
\* @type: ($share, Str -> Int, Str) => $shared;
Left(g, topics, m) ==
  [group |-> Without(g, topics, m), branch |-> "leave",
   response |-> [error |-> "NONE", epoch |-> -1, assigned |-> {}]]

\* A ShareGroupHeartbeat.
\* @type: ($share, Str -> Int, Str, $shareRequest) => $shared;
HandleShare(g, topics, m, request) ==
  LET error == ErrorOf(g, m, request) IN
  IF error # "NONE" THEN Refused(g, error)
  ELSE IF request.epoch = -1 THEN Left(g, topics, m)
  ELSE AcceptHeartbeat(g, topics, m, request)
=============================================================================
