---------------------------- MODULE Coordinator -----------------------------
(***************************************************************************)
(* KIP-848's group coordinator as functions on the state of one group: the *)
(* heartbeat in the three steps that the code has too (update the member,  *)
(* update the target, reconcile), the time-outs, the topic changes.        *)
(*                                                                         *)
(* Static members (S1, S2) are in StaticMembers, what a request is refused *)
(* for (H3, H4) in Validation, offsets and the log in modules of their own.*)
(* Left out: client-side assignors.  A target assignment is any legal one  *)
(* (A4), so what holds here holds for every server-side assignor; Uniform  *)
(* narrows it to the assignor of that name.  Time-outs are untimed: one    *)
(* may fire whenever its timer is armed.                                   *)
(***************************************************************************)
EXTENDS StaticMembers, Validation

(***************************************************************************)
(* Step 1 of the heartbeat: update the member                              *)
(***************************************************************************)

\* The result of step 1 for steps 2 and 3.
\* @type: ($group, Str, Str, Bool) => $updated;
Updated(g, error, kind, acknowledges) ==
  [group |-> g, error |-> error, kind |-> kind, acknowledges |-> acknowledges]

\* @type: ($group) => Str;
UnknownError(g) == IF Exists(g) THEN "UNKNOWN_MEMBER_ID" ELSE Dialect.UnknownGroupError

\* H7: the member with the request's fields; an absent field stays.
\* @type: ($request, $member) => $member;
ReportedBy(request, member) ==
  [member EXCEPT !.instance = TextOr(request.instance, member.instance),
                 !.subscription = ValueOr(request.subscription, member.subscription),
                 !.regex = TextOr(request.regex, member.regex),
                 !.assignor = TextOr(request.assignor, member.assignor)]

\* A member with the fields of its join.
\* @type: ($request) => $member;
NewMember(request) == ReportedBy(request, [NoMember EXCEPT !.epoch = 0])

\* @type: ($member) => Bool;
SubscribesToNothing(member) == member.subscription = {} /\ member.regex = None

\* H1: memberEpoch 0 from a member that the group does not have.
\* @type: ($group, Str -> Int, Str, $request) => $updated;
Join(g, topics, m, request) ==
  LET member == NewMember(request)
      starts == ~Exists(g) /\ Dialect.FirstGroupEpoch = 1
      joined == [g EXCEPT !.members[m] = member]
      bumps == \/ starts \/ ~SubscribesToNothing(member) \/ PreferenceChanged(g, joined)
               \/ Dialect.JoinWithEmptySubscriptionBumps
  IN Updated(RefreshGroup(joined, topics, bumps), "NONE", "join", FALSE)

\* E1: did a field change that bumps the group epoch?
\* @type: ($member, $member) => Bool;
BumpsGroupEpoch(new, old) ==
  \/ new.subscription # old.subscription
  \/ new.regex # old.regex
  \/ new.assignor # old.assignor /\ Dialect.AssignorChangeBumps = "always"

\* A member that takes the place of `n`: with the fields of its join alone, or
\* with those of the place where the join leaves them out.
\* @type: ($group, Str, $request) => $member;
ReturningMember(g, n, request) ==
  IF Dialect.ReturnLeftOut = "forgotten" THEN NewMember(request)
  ELSE ReportedBy(request, [g.members[n] EXCEPT !.epoch = 0, !.previousEpoch = 0, !.assigned = {},
                                                !.revoking = {}, !.acknowledged = FALSE])

\* S1: a join with the instance id of a member that is away takes its place;
\* the group epoch is bumped only if something else changed.
\* @type: ($group, Str -> Int, Str, $request) => $updated;
Return(g, topics, m, request) ==
  LET n == CHOOSE k \in HolderOf(g, request) : TRUE
      member == ReturningMember(g, n, request)
      returned == TakePlace(g, n, m, member)
      changed == \/ BumpsGroupEpoch(member, g.members[n]) \/ PreferenceChanged(g, returned)
                 \/ m # n /\ m \in Members(g)
  IN Updated(RefreshGroup(returned, topics, changed), "NONE", "return", TRUE)

\* H6: the answer that moved the member to its epoch was lost, and it asks
\* again with the epoch before.
\* @type: ($group, Str, $request) => Bool;
IsRetry(g, m, request) ==
  LET member == g.members[m] IN
  /\ request.epoch = member.previousEpoch
  /\ request.epoch # member.epoch /\ ~IsAway(g, m)
  /\ IF Dialect.RetrySubsetOf = "target"
     THEN ValueOr(request.owned, {}) \subseteq TargetOf(g, m)
     ELSE request.owned # {} /\ ValueOr(request.owned, {}) \subseteq member.assigned

\* R1: a heartbeat of the current epoch acknowledges a revocation if it reports
\* owned partitions, and none of the revoked ones.  Absent is not empty: no
\* report.  Where a revocation may move the member to its epoch
\* (AcknowledgedEpoch), a retry with the previous epoch acknowledges, too.
\* @type: ($group, Str, $request) => Bool;
Acknowledges(g, m, request) ==
  /\ IF Dialect.AcknowledgedEpoch = "next" THEN TRUE ELSE request.epoch = g.members[m].epoch
  /\ request.owned # {}
  /\ ValueOr(request.owned, {}) \cap g.members[m].revoking = {}

\* The member's new subscription, assignor and instance id (H7).  The instance
\* id alone is not for the group to know.
\* @type: ($group, Str -> Int, Str, $request) => $group;
UpdateSubscription(g, topics, m, request) ==
  LET new == ReportedBy(request, g.members[m])
      updated == [g EXCEPT !.members[m] = new]
  IN RefreshGroup(updated, topics, BumpsGroupEpoch(new, g.members[m]) \/ PreferenceChanged(g, updated))

\* H1: memberEpoch 0 from a member that the group has.
\* @type: ($group, Str -> Int, Str, $request) => $updated;
Rejoin(g, topics, m, request) ==
  CASE Dialect.RejoinOfLiveMember = "replaces" ->
         Join([g EXCEPT !.members[m] = NoMember], topics, m, request)
    [] Dialect.RejoinOfLiveMember = "keeps" \/ IsRetry(g, m, request) ->
         Updated(UpdateSubscription([g EXCEPT !.members[m].acknowledged = FALSE], topics, m, request),
                 "NONE", "keep", TRUE)
    [] OTHER -> Updated(g, "FENCED_MEMBER_EPOCH", "fenced", FALSE)

\* H2: leaving skips the epoch check.
\* @type: ($group, Str -> Int, Str) => $updated;
Leave(g, topics, m) ==
  IF m \notin Members(g) THEN Updated(g, UnknownError(g), "unknown", FALSE)
  ELSE Updated(RemoveMember(g, topics, m), "NONE", "leave", FALSE)

\* H2, S1: a static member leaves for a while; a dynamic one cannot.
\* @type: ($group, Str, $request) => $updated;
LeaveTemporarily(g, m, request) ==
  IF m \notin HolderOf(g, request) THEN Updated(g, UnknownError(g), "unknown", FALSE)
  ELSE Updated(KeepPlace(g, m), "NONE", "away", FALSE)

\* H5: unknown, fenced, or accepted and updated.
\* @type: ($group, Str -> Int, Str, $request) => $updated;
Heartbeat(g, topics, m, request) ==
  IF m \notin Members(g) THEN Updated(g, UnknownError(g), "unknown", FALSE)
  ELSE IF request.epoch # g.members[m].epoch /\ ~IsRetry(g, m, request)
  THEN Updated(IF Dialect.FencedMemberIsRemoved THEN RemoveMember(g, topics, m) ELSE g,
               "FENCED_MEMBER_EPOCH", "fenced", FALSE)
  ELSE Updated(UpdateSubscription(g, topics, m, request), "NONE",
               IF request.epoch # g.members[m].epoch THEN "retry" ELSE "current",
               Acknowledges(g, m, request))

\* The kind of a request, by its member epoch and its sender's membership.
\* @type: ($group, Str, $request) => Str;
ActionOf(g, m, request) ==
  IF request.epoch = -1 THEN "Leave"
  ELSE IF request.epoch = Away THEN "LeaveTemporarily"
  ELSE IF request.epoch # 0 THEN "Heartbeat"
  ELSE IF Returns(g, request) THEN "Return"
  ELSE IF m \in Members(g) THEN "Rejoin" ELSE "Join"

\* S2: the error of a request with an instance id that it may not use.
\* @type: ($group, Str, $request) => Str;
InstanceError(g, m, request) ==
  LET holder == HolderOf(g, request) IN
  IF Dialect.InstanceChecked = "unreleased"
  THEN IF InstanceConflict(g, m, request) THEN "UNRELEASED_INSTANCE_ID" ELSE "NONE"
  ELSE IF request.instance = {} \/ Returns(g, request) THEN "NONE"
  ELSE IF request.epoch = 0 THEN IF holder # {} THEN "UNRELEASED_INSTANCE_ID" ELSE "NONE"
  ELSE IF holder = {} THEN UnknownError(g)
  ELSE IF holder # {m} THEN "FENCED_INSTANCE_ID" ELSE "NONE"

\* H5: would the sender of the request exceed the maximum size of the group?
\* @type: ($group, Str, $request) => Bool;
Full(g, m, request) ==
  /\ Cardinality(Members(g)) >= MaxGroupSize
  /\ CASE Dialect.FullGroupRefuses = "joins" -> ActionOf(g, m, request) = "Join"
       [] Dialect.FullGroupRefuses = "strangers" -> m \notin Members(g) /\ request.epoch >= 0
       [] OTHER -> m \notin Members(g) /\ HolderOf(g, request) = {} /\ request.epoch >= 0

\* Step 1: create, check, update or remove the member, bump the group epoch.
\* `m` is the request's member id, or the one made for a join without (H1).
\* @type: ($group, Str -> Int, Str, $request) => $updated;
UpdateMember(g, topics, m, request) ==
  LET action == ActionOf(g, m, request)
      refused == InstanceError(g, m, request)
  IN
  IF Invalid(request) THEN Updated(g, "INVALID_REQUEST", "invalid", FALSE)
  ELSE IF Unsupported(request) THEN Updated(g, "UNSUPPORTED_ASSIGNOR", "unsupported", FALSE)
  ELSE IF Full(g, m, request) /\ (refused = "NONE" \/ Dialect.FullGroupRefuses # "joins")
  THEN Updated(g, "GROUP_MAX_SIZE_REACHED", "full", FALSE)
  ELSE IF refused # "NONE" THEN Updated(g, refused, "unreleased", FALSE)
  ELSE IF action = "Leave" THEN Leave(g, topics, m)
  ELSE IF action = "LeaveTemporarily" THEN LeaveTemporarily(g, m, request)
  ELSE IF action = "Heartbeat" THEN Heartbeat(g, topics, m, request)
  ELSE IF action = "Return" THEN Return(g, topics, m, request)
  ELSE IF action = "Rejoin" THEN Rejoin(g, topics, m, request)
  ELSE Join(g, topics, m, request)

(***************************************************************************)
(* Step 2: update the target (E2, A3, A4)                                  *)
(***************************************************************************)

\* Every function that could be a target.
Targets == [Partitions -> MemberIds \cup {None}]

\* A4: every partition of a subscribed topic has one owner, and its owner
\* subscribes to that topic; no other partition has an owner.
\* @type: ($group, $partition -> Str) => Bool;
LegalTarget(g, target) ==
  \A p \in Partitions :
    IF p \in SubscribedPartitions(g)
    THEN target[p] \in Members(g) /\ p[1] \in TopicsOf(g.members[target[p]])
    ELSE target[p] = None

\* @type: ($partition -> Str, Str) => Int;
Load(target, m) == Cardinality({p \in Partitions : target[p] = m})

\* The partitions whose owner changes with a new target.
\* @type: ($group, $partition -> Str) => Int;
Moved(g, target) == Cardinality({p \in Partitions : target[p] # None /\ target[p] # g.target[p]})

\* A2 `uniform`: no single move improves the balance.
\* @type: ($group, $partition -> Str) => Bool;
Balanced(g, target) ==
  \A p \in SubscribedPartitions(g), m \in Members(g) :
    p[1] \in TopicsOf(g.members[m]) => Load(target, target[p]) <= Load(target, m) + 1

\* A2 `uniform`: balanced, and among those the fewest partitions move.
\* @type: ($group, $partition -> Str) => Bool;
Uniform(g, target) ==
  /\ Balanced(g, target)
  /\ \A other \in Targets :
       LegalTarget(g, other) /\ Balanced(g, other) => Moved(g, target) <= Moved(g, other)

\* A3: may the assignor return `target` for this metadata and current target?
\* @type: ($group, $partition -> Str) => Bool;
AllowedTarget(g, target) ==
  /\ LegalTarget(g, target)
  /\ TargetRule = "uniform" => Uniform(g, target)

\* Step 2, then `Then` on the resulting group.  Where a target is due, the
\* assignment epoch becomes the epoch of the metadata that the assignor used.
\* Where none is due, or `now` leaves the target for later, the group stays.
\* @type: ($group, Bool, ($group) => Bool) => Bool;
UpdateTarget(g, now, Then(_)) ==
  IF now /\ g.epoch > g.assignmentEpoch
  THEN \E target \in Targets :
         /\ AllowedTarget(g, target)
         /\ Then([g EXCEPT !.target = target, !.assignmentEpoch = g.epoch])
  ELSE Then(g)

\* TRUE where a step computes the target that is due: always in KIP-848's
\* text.  A request that is refused computes none that was due before.
\* @type: (Str, $group) => Set(Bool);
ComputesNow(kind, g) ==
  IF kind \in {"join", "keep", "return", "current", "retry"}
  THEN IF Dialect.TargetMayLag THEN BOOLEAN ELSE {TRUE}
  ELSE IF kind \in {"topics", "failover"} THEN {Dialect.MetadataChange = "at-once"}
  ELSE {\/ Dialect.TargetOnRemoval = "at-once"
        \/ Dialect.LastLeaveAdvancesAssignmentEpoch /\ Members(g) = {}}

(***************************************************************************)
(* Step 3: reconcile the member with its target (R1-R3, R6)                *)
(***************************************************************************)

\* R1: revoke the partitions that are not in the target; the epoch stays.
\* @type: ($group, Str, Set($partition), Set($partition)) => $group;
Revoke(g, m, keeps, gives) ==
  LET member == g.members[m] IN
  [g EXCEPT !.members[m].assigned = keeps,
            !.members[m].revoking = gives,
            !.members[m].previousEpoch =
              IF Dialect.PreviousEpochReset = "reconciliation" THEN member.epoch ELSE member.previousEpoch]

\* R1 while an earlier revocation is not acknowledged yet, and the target may
\* have changed meanwhile.  A revoked partition remains revoked even when the
\* new target has it again: else one response would revoke and assign (R5).
\* `said`: the request changed the member's subscription.
\* @type: ($group, Str, Bool) => $group;
NarrowRevocation(g, m, said) ==
  LET member == g.members[m]
      target == TargetOf(g, m)
      given == {p \in member.assigned : p[1] \notin TopicsOf(member) \/ p[2] >= g.metadata[p[1]]}
  IN CASE Dialect.RevocationRestart = "narrow" ->
            Revoke(g, m, member.assigned \cap target, member.revoking \cup (member.assigned \ target))
       [] Dialect.RevocationRestart = "restore" ->
            Revoke(g, m, Held(g, m) \cap target, Held(g, m) \ target)
       [] OTHER -> IF Dialect.RevocationRestart = "waits" THEN g
                   ELSE IF said THEN Revoke(g, m, member.assigned \ given, member.revoking \cup given)
                   ELSE g

\* Is `m` at the epoch of the target, with all partitions of its target?
\* @type: ($group, Str) => Bool;
IsReconciled(g, m) ==
  LET member == g.members[m] IN
  member.epoch = g.assignmentEpoch /\ member.revoking = {} /\ member.assigned = TargetOf(g, m)

\* R2, R3: moves to the target epoch, and gets of its target what no other
\* member holds; the rest is pending and follows as it is released.
\* @type: ($group, Str) => $group;
Assign(g, m) ==
  LET member == g.members[m] IN
  [g EXCEPT !.members[m].epoch = g.assignmentEpoch,
            !.members[m].previousEpoch =
              IF member.epoch # g.assignmentEpoch
                 \/ (Dialect.PreviousEpochReset = "reconciliation" /\ ~IsReconciled(g, m))
              THEN member.epoch ELSE member.previousEpoch,
            !.members[m].assigned = TargetOf(g, m) \ HeldByOthers(g, m),
            !.members[m].revoking = {}]

\* R1: must the coordinator tell `m` to revoke partitions?
\* @type: (Set($partition), $request) => Bool;
AsksToRevoke(extra, request) ==
  /\ extra # {}
  /\ \/ Dialect.RevocationAsked = "always" \/ request.owned = {}
     \/ ValueOr(request.owned, {}) \cap extra # {}

\* @type: ($group, Str, $request, Bool, Bool) => $group;
ReconcileMember(g, m, request, acknowledges, said) ==
  LET member == g.members[m]
      extra == member.assigned \ TargetOf(g, m)
  IN IF member.revoking # {} /\ ~acknowledges THEN NarrowRevocation(g, m, said)
     ELSE IF AsksToRevoke(extra, request) THEN
       IF Dialect.AcknowledgedEpoch = "next" THEN
         [Revoke(g, m, member.assigned \ extra, extra) EXCEPT
            !.members[m].epoch = IF member.revoking # {} THEN @ + 1 ELSE @]
       ELSE Revoke(g, m, member.assigned \ extra, extra)
     ELSE Assign(g, m)

\* R5: has the member reported exactly the assignment that was sent last?
\* @type: ($group, $group, Str, $request, Str) => Bool;
NowAcknowledged(before, g, m, request, kind) ==
  LET assigned == g.members[m].assigned IN
  IF assigned # before.members[m].assigned \/ kind \in {"join", "keep", "return"} THEN FALSE
  ELSE IF kind = "current" /\ request.owned # {}
  THEN ValueOr(request.owned, {}) = assigned
  ELSE before.members[m].acknowledged

\* Step 3 as a whole: the group in which `m` is reconciled.
\* @type: ($group, $group, Str, $request, $updated) => $group;
Reconcile(before, g, m, request, updated) ==
  LET said == TopicsOf(g.members[m]) # TopicsOf(before.members[m])
      next == ReconcileMember(g, m, request, updated.acknowledges, said)
  IN
  [next EXCEPT !.members[m].acknowledged = NowAcknowledged(g, next, m, request, updated.kind)]

(***************************************************************************)
(* The response (H9)                                                       *)
(***************************************************************************)

\* R3: its target that others have not released yet.
\* @type: ($group, Str) => Set($partition);
Pending(g, m) ==
  LET member == g.members[m] IN
  IF member.epoch = g.assignmentEpoch /\ member.revoking = {}
  THEN TargetOf(g, m) \ member.assigned ELSE {}

\* R5: the assignment is sent until the member has acknowledged that it has
\* converged.
\* @type: ($group, $group, Str, $request, Str) => Bool;
SendsAssignment(before, g, m, request, kind) ==
  LET member == g.members[m] IN
  IF Dialect.AssignmentSent = "until-acknowledged"
  THEN \/ ~member.acknowledged \/ member.epoch # g.assignmentEpoch
       \/ member.revoking # {} \/ member.assigned # TargetOf(g, m)
  ELSE \/ kind \in {"join", "keep", "return"}
       \/ request.owned # {} /\ (request.subscription # {} \/ request.regex # {})
       \/ member.assigned # before.members[m].assigned

\* @type: ($group, $group, Str, $request, Str) => $response;
Response(before, g, m, request, kind) ==
  [error |-> "NONE", member |-> m, epoch |-> g.members[m].epoch,
   assignment |->
     IF SendsAssignment(before, g, m, request, kind)
     THEN {[assigned |-> g.members[m].assigned,
            pending |-> IF Dialect.PendingInResponse THEN Pending(g, m) ELSE {}]}
     ELSE {}]

\* @type: (Str) => $response;
ErrorResponse(error) == [error |-> error, member |-> None, epoch |-> 0, assignment |-> {}]

\* H2: the epoch that was sent, -1 or -2.
\* @type: (Str, Int) => $response;
LeaveResponse(m, epoch) == [error |-> "NONE", member |-> m, epoch |-> epoch, assignment |-> {}]

\* The branch that the request took, for coverage: no rule reads it.
\* @type: ($group, $group, Str, $updated) => Str;
BranchOf(before, g, m, updated) ==
  LET old == before.members[m]
      new == g.members[m]
  IN IF updated.error # "NONE" \/ updated.kind \in {"leave", "away", "return", "retry"}
     THEN updated.kind
     ELSE IF old.revoking # {} /\ updated.acknowledges
     THEN IF new.revoking # {} THEN "acknowledge-revoke" ELSE "acknowledge"
     ELSE IF old.revoking # {} /\ old.revoking # new.revoking THEN "narrow"
     ELSE IF old.revoking # {} THEN "revoking"
     ELSE IF new.revoking # {} THEN "revoke"
     ELSE IF new.epoch # old.epoch THEN "advance"
     ELSE IF new.assigned # old.assigned THEN "assign"
     ELSE "stable"

(***************************************************************************)
(* One request, one event                                                  *)
(***************************************************************************)

\* Step 3 on what steps 1 and 2 left, and the step that it makes.
\* @type: ($group, Str, $request, $updated, $group) => {group: $group, step: $step};
Handle(before, m, request, updated, installed) ==
  LET answers == updated.error = "NONE" /\ updated.kind \notin {"leave", "away"}
      after == IF answers THEN Reconcile(before, installed, m, request, updated) ELSE installed
      response == IF answers THEN Response(updated.group, after, m, request, updated.kind)
                  ELSE IF updated.error = "NONE" THEN LeaveResponse(m, request.epoch)
                  ELSE ErrorResponse(updated.error)
  IN [group |-> after,
      step |-> [action |-> ActionOf(before, m, request),
                branch |-> BranchOf(updated.group, after, m, updated),
                member |-> m, request |-> request, response |-> response,
                topic |-> "", partitions |-> 0, partition |-> {}, offset |-> 0]]

\* A step that is not a request.
\* @type: (Str, Str, Str, Int) => $step;
EventStep(action, m, topic, partitions) ==
  [NoStep EXCEPT !.action = action, !.member = m, !.topic = topic, !.partitions = partitions]

\* H8, R4: is the member's session or rebalance timer armed?
\* @type: ($group, Str) => Bool;
SessionTimerArmed(g, m) == m \in Members(g)
\* @type: ($group, Str) => Bool;
RebalanceTimerArmed(g, m) == g.members[m].revoking # {}

\* E1: a topic was created, changed or deleted, and the group notices.
\* @type: ($group, Str -> Int) => $group;
NoticeTopics(g, topics) ==
  IF Dialect.MetadataChange = "at-once" /\ Exists(g) THEN RefreshGroup(g, topics, FALSE) ELSE g

(***************************************************************************)
(* Fail-over (P2)                                                          *)
(***************************************************************************)

\* The group as a new coordinator loads it.  No record has a member's previous
\* epoch (a retry of H6 is fenced after a fail-over), its acknowledgement, or
\* the partitions that it must revoke.
\* @type: ($group) => $group;
AfterFailOver(g) ==
  [g EXCEPT !.members = [m \in MemberIds |->
     IF m \notin Members(g) THEN NoMember
     ELSE IF Dialect.RevocationRecorded THEN [g.members[m] EXCEPT !.acknowledged = FALSE]
     ELSE [g.members[m] EXCEPT !.previousEpoch = 0, !.acknowledged = FALSE,
                               !.assigned = Held(g, m), !.revoking = {}]]]

\* Once a due target is there, the partitions that a member must revoke are
\* derived (erratum: pending is derived): those that it holds and that are not
\* in its target.  Its rebalance timer starts anew (R4).
\* @type: ($group) => $group;
DeriveRevocations(g) ==
  [g EXCEPT !.members = [m \in MemberIds |->
     IF m \notin Members(g) \/ IsAway(g, m) \/ Dialect.RevocationRecorded THEN g.members[m]
     ELSE [g.members[m] EXCEPT !.assigned = @ \cap TargetOf(g, m),
                               !.revoking = g.members[m].assigned \ TargetOf(g, m)]]]
=============================================================================
