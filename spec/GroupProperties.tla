-------------------------- MODULE GroupProperties ---------------------------
(***************************************************************************)
(* Rules that a group must always satisfy, in the coordinator's view: one  *)
(* operator a requirement, over the state before and after a step.  The    *)
(* modules that are checked turn them into invariants and step properties. *)
(***************************************************************************)
EXTENDS Coordinator

\* Types and canonical form: a member that is not in the group has no state.
\* @type: ($group) => Bool;
GroupTypeOK(g) ==
  /\ g.epoch >= 0 /\ g.assignmentEpoch >= 0
  /\ g.target \in Targets
  /\ \A t \in Topics : g.metadata[t] >= 0
  /\ \A m \in MemberIds :
       LET member == g.members[m] IN
       /\ member.epoch >= Away
       /\ member.previousEpoch >= IF Dialect.RejoinOfLiveMember = "keeps" THEN Away ELSE 0
       /\ member.subscription \subseteq {TopicName[t] : t \in Topics}
       /\ member.regex \in {None} \cup DOMAIN Regexes
       /\ member.assigned \subseteq Partitions /\ member.revoking \subseteq Partitions
       /\ member.assigned \cap member.revoking = {}
       /\ m \notin Members(g) => member = NoMember

\* R7, coordinator's view: no partition is held by two members, ever.
\* @type: ($group) => Bool;
HeldDisjoint(g) ==
  \A m \in MemberIds, n \in MemberIds : m # n => Held(g, m) \cap Held(g, n) = {}

\* E4: member epoch <= assignment epoch <= group epoch.
\* @type: ($group) => Bool;
EpochsOrdered(g) ==
  /\ g.assignmentEpoch <= g.epoch
  /\ \A m \in MemberIds : g.members[m].epoch <= g.assignmentEpoch

\* H6: the previous epoch is an earlier epoch; a member that is away has no
\* previous epoch, or one that does not matter.
\* @type: ($group) => Bool;
PreviousEpochOrdered(g) ==
  \A m \in Members(g) :
    \/ IsAway(g, m) /\ Dialect.RevocationRecorded
    \/ g.members[m].previousEpoch <= IF IsAway(g, m) THEN 0 ELSE g.members[m].epoch

\* S2: no two members have the same instance id.
\* @type: ($group) => Bool;
InstancesUnique(g) ==
  \A m \in Members(g), n \in Members(g) :
    m # n => g.members[m].instance = None \/ g.members[m].instance # g.members[n].instance

\* S1: only a static member is away, and none that is away revokes anything.
\* @type: ($group) => Bool;
AwayIsStatic(g) ==
  \A m \in Members(g) :
    IsAway(g, m) => g.members[m].instance # None /\ g.members[m].revoking = {}

\* A4 as long as the metadata is that from which the target was computed.
\* @type: ($group) => Bool;
TargetLegal(g) ==
  g.assignmentEpoch = g.epoch => LegalTarget(g, g.target)

\* E5: a group without members has nothing left to assign.
\* @type: ($group) => Bool;
EmptyIsSettled(g) ==
  Members(g) = {} /\ Dialect.LastLeaveAdvancesAssignmentEpoch => g.assignmentEpoch = g.epoch

(***************************************************************************)
(* Steps: g is the group before, h after, s the step between them.         *)
(***************************************************************************)

\* Was `m` replaced by a new incarnation with its member id?
\* @type: ($group, $group, $step, Str) => Bool;
Replaced(g, h, s, m) ==
  /\ m \in Members(g) /\ m \in Members(h) /\ s.member = m
  /\ \/ s.action = "Rejoin" /\ Dialect.RejoinOfLiveMember = "replaces" /\ s.response.error = "NONE"
     \/ s.action = "Return" /\ s.response.error = "NONE"

\* Is `m` a member before and after the step, as the same incarnation?  A
\* member that leaves for a while is not.
\* @type: ($group, $group, $step, Str) => Bool;
SameIncarnation(g, h, s, m) ==
  /\ m \in Members(g) /\ m \in Members(h)
  /\ ~Replaced(g, h, s, m)
  /\ IsAway(g, m) <=> IsAway(h, m)

\* E4: no epoch decreases while the group, or this incarnation, lives.
\* @type: ($group, $group, $step) => Bool;
EpochsMonotone(g, h, s) ==
  /\ Exists(h) => h.epoch >= g.epoch /\ h.assignmentEpoch >= g.assignmentEpoch
  /\ \A m \in MemberIds : SameIncarnation(g, h, s, m) => h.members[m].epoch >= g.members[m].epoch

\* S1: the member whose place a step gives to another process, or back to
\* itself; none for other steps.
\* @type: ($group, $step) => Set(Str);
PlaceTaken(g, s) ==
  IF s.action = "Return" /\ s.response.error = "NONE" THEN HolderOf(g, s.request) ELSE {}

\* E1: does it count that `m` came or went?
\* @type: ($group, $group, Str) => Bool;
MembershipChanged(g, h, m) ==
  /\ (m \in Members(g)) # (m \in Members(h))
  /\ m \in Members(h) /\ SubscribesToNothing(h.members[m]) =>
       Dialect.JoinWithEmptySubscriptionBumps \/ (~Exists(g) /\ Dialect.FirstGroupEpoch = 1)

\* E1: a change that makes a new version of the group's metadata, seen in the
\* states. Taking a place that was kept (S1) is no change of the members.
\* @type: ($group, $group, $step) => Bool;
MetadataChanged(g, h, s) ==
  LET taken == PlaceTaken(g, s)
      returning == IF taken = {} THEN {} ELSE {s.member}
  IN \/ \E m \in MemberIds \ (taken \cup returning) :
          \/ MembershipChanged(g, h, m)
          \/ Replaced(g, h, s, m)
          \/ m \in Members(g) /\ m \in Members(h) /\ BumpsGroupEpoch(h.members[m], g.members[m])
     \/ \E n \in taken :
          \/ BumpsGroupEpoch(h.members[s.member], g.members[n])
          \/ n # s.member /\ s.member \in Members(g)
     \/ g.metadata # h.metadata
     \/ PreferenceChanged(g, h)

\* E1: bumped exactly when it must be, by one, once a step.
\* @type: ($group, $group, $step) => Bool;
EpochBumpedExactly(g, h, s) ==
  s.action # "DeleteGroup" =>
    h.epoch = IF MetadataChanged(g, h, s) THEN BumpGroupEpoch(g).epoch
              ELSE IF Exists(h) THEN Created(g).epoch ELSE g.epoch

\* E1: nothing of the topics that members subscribe to goes unnoticed.
\* @type: ($group, Str -> Int) => Bool;
TopicsNoticed(g, topics) ==
  Dialect.MetadataChange = "at-once" => g.metadata = MetadataOf(g, topics)

\* A4, E2: a target is legal when it is installed, and its epoch is the one
\* of the metadata that it was computed from.
\* @type: ($group, $group) => Bool;
LegalAtInstallation(g, h) ==
  h.target # g.target \/ h.assignmentEpoch # g.assignmentEpoch =>
    \/ h = NoGroup
    \/ /\ LegalTarget(h, h.target)
       /\ h.assignmentEpoch = h.epoch

\* R5: did the request of `m` itself say that it owns none of these?
\* @type: ($step, Str, Set($partition)) => Bool;
GivenUp(s, m, partitions) ==
  /\ Dialect.RevocationAsked = "if-owned"
  /\ s.member = m /\ s.request.owned # {} /\ ValueOr(s.request.owned, {}) \cap partitions = {}

\* R5: one response never gives and takes.
\* @type: ($group, $group, $step) => Bool;
NeverRevokeAndAssign(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ s.action # "FailOver" =>
      \/ h.members[m].assigned \subseteq g.members[m].assigned
      \/ g.members[m].assigned \subseteq h.members[m].assigned
      \/ GivenUp(s, m, g.members[m].assigned \ h.members[m].assigned)

\* R6: a member whose target stays the same only moves to the new epoch.
\* @type: ($group, $group, $step) => Bool;
UndisturbedIfUnchanged(g, h, s) ==
  \A m \in MemberIds :
    /\ SameIncarnation(g, h, s, m)
    /\ g.members[m].revoking = {} /\ g.members[m].assigned = TargetOf(h, m)
    => /\ h.members[m].assigned = g.members[m].assigned
       /\ h.members[m].revoking = {}
       /\ s.action = "Heartbeat" /\ s.member = m /\ s.response.error = "NONE" =>
            h.members[m].epoch = h.assignmentEpoch

\* R6: no barrier.  A step of one member leaves all other members as they are,
\* apart from a member whose place the first one takes.  A fail-over loses what
\* no record has.
\* @type: ($group, $group, $step) => Bool;
OthersUntouched(g, h, s) ==
  s.action # "FailOver" =>
    \A m \in MemberIds \ PlaceTaken(g, s) : m # s.member => h.members[m] = g.members[m]

\* R1, R2: a partition that a member holds is only released by its
\* acknowledgement, or by its removal or replacement.
\* @type: ($group, $group, $step) => Bool;
ReleasedOnlyByAcknowledgement(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ ~(Held(g, m) \subseteq Held(h, m)) =>
      /\ s.action \in {"Heartbeat", "Rejoin"} /\ s.member = m
      /\ s.action = "Heartbeat" =>
           /\ s.request.epoch = g.members[m].epoch \/ Dialect.RevocationAsked = "if-owned"
           /\ s.request.owned # {}
           /\ ValueOr(s.request.owned, {}) \cap (Held(g, m) \ Held(h, m)) = {}

\* R1, R2: a member that revokes before and after a step gets no partition in
\* that step.
\* @type: ($group, $group, $step) => Bool;
RevokingIsGivenNothing(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ g.members[m].revoking # {} /\ h.members[m].revoking # {} =>
      Held(h, m) \subseteq Held(g, m)

\* H1, R1: a member that joins again owns nothing, and has thereby released the
\* partitions that it was told to revoke.
\* @type: ($group, $group, $step) => Bool;
RejoinReleases(g, h, s) ==
  s.action = "Rejoin" /\ s.response.error = "NONE" =>
    h.members[s.member].revoking \cap g.members[s.member].revoking = {}

\* R1 with RevocationRestart, while a revocation is not acknowledged: what is
\* revoked stays revoked; besides, a member revokes the partitions of topics
\* from which it has just unsubscribed, or nothing at all.
\* @type: ($group, $group, $step) => Bool;
RevocationGrowsBySubscription(g, h, s) ==
  \A m \in MemberIds :
    LET before == g.members[m]
        after == h.members[m]
        gone == {p \in before.assigned : p[1] \notin TopicsOf(after) \/ p[2] >= h.metadata[p[1]]}
        unsubscribes == Dialect.RevocationRestart = "unsubscribed" /\ TopicsOf(after) # TopicsOf(before)
        acknowledged == /\ s.member = m /\ s.action \in {"Heartbeat", "Rejoin"}
                        /\ s.request.owned # {} /\ ValueOr(s.request.owned, {}) \cap before.revoking = {}
    IN /\ Dialect.RevocationRestart \in {"unsubscribed", "waits"}
       /\ SameIncarnation(g, h, s, m)
       /\ before.revoking # {} /\ ~acknowledged
       => /\ before.revoking \subseteq after.revoking
          /\ before.assigned \ after.assigned = IF unsubscribes THEN gone ELSE {}

\* R1 with RevocationAsked: a member that reports its owned partitions is told
\* to revoke those that it has.
\* @type: ($group, $group, $step) => Bool;
AskedForWhatItOwns(g, h, s) ==
  Dialect.RevocationAsked = "if-owned" /\ s.action = "Heartbeat" /\ s.response.error = "NONE" =>
    \/ h.members[s.member].revoking = {} \/ g.members[s.member].revoking # {}
    \/ s.request.owned = {} \/ ValueOr(s.request.owned, {}) \cap h.members[s.member].revoking # {}

\* H9 with AssignmentSent: a heartbeat is answered with the assignment where that
\* has changed, and where the member says everything anew.
\* @type: ($group, $group, $step) => Bool;
AssignmentIsToldOnChange(g, h, s) ==
  Dialect.AssignmentSent = "on-change" /\ s.action = "Heartbeat" /\ s.response.error = "NONE" =>
    (s.response.assignment # {} <=>
       \/ h.members[s.member].assigned # g.members[s.member].assigned
       \/ /\ s.request.owned # {}
          /\ s.request.subscription # {} \/ s.request.regex # {})

\* H5 without FencedMemberIsRemoved: nothing changes where a member is fenced.
\* @type: ($group, $group, $step) => Bool;
FencedChangesNothing(g, h, s) ==
  ~Dialect.FencedMemberIsRemoved /\ s.response.error = "FENCED_MEMBER_EPOCH" => h = g

\* E1 with MetadataChange: topics that changed are noticed by the next request that is
\* accepted, of whichever member.
\* @type: ($group, $step, Str -> Int) => Bool;
NoticedByRequests(h, s, topics) ==
  s.action \in {"Join", "Rejoin", "Return", "Heartbeat"} /\ s.response.error = "NONE" =>
    \A t \in Topics :
      h.metadata[t] =
        IF topics[t] > 0 /\ \E m \in MemberIds : t \in TopicsOf(h.members[m]) THEN topics[t] ELSE 0

\* S2 with InstanceChecked: a join is refused if a present member has its
\* instance id; any other request is refused if another member, or no member,
\* has its instance id.
\* @type: ($group, $step) => Bool;
InstancesCheckedExactly(g, s) ==
  LET request == s.request
      holders == {m \in MemberIds : g.members[m].epoch # NotInGroup /\ {g.members[m].instance} = request.instance}
      error == s.response.error
  IN /\ Dialect.InstanceChecked = "fenced" /\ request.instance # {}
     /\ s.branch \notin {"invalid", "unsupported", "full"}
     => IF request.epoch = 0
        THEN (error = "UNRELEASED_INSTANCE_ID") = (\E m \in holders : ~IsAway(g, m))
        ELSE /\ holders = {} => error \in {"UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND"}
             /\ (error = "FENCED_INSTANCE_ID") = (holders \ {s.member} # {})

\* R2 with AcknowledgedEpoch: or by one, on the way from one revocation to
\* another, and never beyond the target's epoch.
\* @type: ($group, $group, $step) => Bool;
AdvancesOnItsWay(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ h.members[m].epoch # g.members[m].epoch =>
      \/ /\ h.members[m].revoking = {}
         /\ h.members[m].epoch = h.assignmentEpoch
         /\ h.members[m].assigned \subseteq TargetOf(h, m)
      \/ /\ g.members[m].revoking # {} /\ h.members[m].revoking # {}
         /\ h.members[m].epoch = g.members[m].epoch + 1
         /\ h.members[m].epoch <= h.assignmentEpoch

\* R2: the member epoch advances only when nothing is left to revoke.
\* @type: ($group, $group, $step) => Bool;
AdvancesWithoutRevocation(g, h, s) ==
  IF Dialect.AcknowledgedEpoch = "next" THEN AdvancesOnItsWay(g, h, s) ELSE
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ h.members[m].epoch # g.members[m].epoch =>
      /\ h.members[m].revoking = {}
      /\ h.members[m].epoch = h.assignmentEpoch
      /\ h.members[m].assigned \subseteq TargetOf(h, m)

\* H5: a wrong epoch is fenced, an unknown member gets UNKNOWN_MEMBER_ID, and
\* no other request is fenced.
\* @type: ($group, $group, $step) => Bool;
ErrorsExactly(g, h, s) ==
  /\ s.response.error = "UNKNOWN_MEMBER_ID" =>
       /\ h = g
       /\ \/ s.action \in {"Heartbeat", "Leave"} /\ s.member \notin Members(g)
          \/ s.action = "LeaveTemporarily" /\ s.member \notin HolderOf(g, s.request)
          \/ Dialect.InstanceChecked = "fenced" /\ s.request.instance # {} /\ HolderOf(g, s.request) = {}
  /\ s.response.error = "FENCED_MEMBER_EPOCH" =>
       /\ s.action = "Heartbeat" => s.request.epoch # g.members[s.member].epoch
       /\ Dialect.FencedMemberIsRemoved => s.member \notin Members(h)
  /\ Dialect.InstanceChecked = "unreleased" =>
       (s.response.error = "UNRELEASED_INSTANCE_ID" <=>
          s.branch \notin {"", "invalid", "unsupported"} /\ InstanceConflict(g, s.member, s.request))
  /\ s.response.error = "FENCED_INSTANCE_ID" => s.member \notin HolderOf(g, s.request)
  /\ s.response.error \in {"INVALID_REQUEST", "UNSUPPORTED_ASSIGNOR", "UNRELEASED_INSTANCE_ID",
                          "FENCED_INSTANCE_ID", "GROUP_MAX_SIZE_REACHED"} => h = g

\* S1: a member that leaves for a while keeps its assignment, and the group its
\* epoch; a member that takes the place gets what the place held of the target,
\* at the assignment epoch.
\* @type: ($group, $group, $step) => Bool;
PlaceIsKept(g, h, s) ==
  /\ s.branch = "away" =>
       /\ h.epoch = g.epoch /\ h.target = g.target
       /\ h.members[s.member].assigned = g.members[s.member].assigned
       /\ IsAway(h, s.member)
  /\ \A n \in PlaceTaken(g, s) :
       /\ n # s.member => n \notin Members(h)
       /\ h.members[s.member].epoch = h.assignmentEpoch
       /\ h.members[s.member].instance = g.members[n].instance
       /\ g.members[n].assigned \cap TargetOf(h, s.member) \subseteq h.members[s.member].assigned

\* H5: a group never has more members than it may have.
\* @type: ($group) => Bool;
SizeBounded(g) == Cardinality(Members(g)) <= MaxGroupSize

\* P2: a fail-over loses no member, no epoch and nothing that is held.
\* @type: ($group, $group, $step) => Bool;
FailOverKeeps(g, h, s) ==
  s.action = "FailOver" =>
    /\ Members(h) = Members(g)
    /\ \A m \in MemberIds : h.members[m].epoch = g.members[m].epoch /\ Held(h, m) = Held(g, m)
    /\ h.metadata = g.metadata => h.epoch = g.epoch
    /\ h.assignmentEpoch = g.assignmentEpoch => h.target = g.target

\* R5: the response has the assignment that the coordinator records as sent.
\* @type: ($group, $step) => Bool;
ResponseMatches(h, s) ==
  s.action \in {"Join", "Rejoin", "Return", "Heartbeat"} /\ s.response.error = "NONE" =>
    /\ s.response.epoch = h.members[s.member].epoch
    /\ \A a \in s.response.assignment :
         /\ a.assigned = h.members[s.member].assigned
         /\ a.assigned \cap a.pending = {}
    /\ s.response.assignment = {} /\ Dialect.AssignmentSent = "until-acknowledged" =>
         /\ h.members[s.member].assigned = TargetOf(h, s.member)
         /\ h.members[s.member].revoking = {}
         /\ h.members[s.member].epoch = h.assignmentEpoch

\* H2, H8, R4, S1: a member that leaves, or whose timer runs out, is not in the
\* group after the step; one that leaves for a while keeps its place.  No other
\* step removes a member, apart from a fenced heartbeat, from a static member
\* that takes a place, and from the deletion of the group.
\* @type: ($group, $group, $step) => Bool;
LeavesExactly(g, h, s) ==
  LET accepted == s.response.error = "NONE"
      timedOut == s.action \in {"SessionTimeout", "RebalanceTimeout"}
      fenced == Dialect.FencedMemberIsRemoved /\ s.response.error = "FENCED_MEMBER_EPOCH"
      leaves == timedOut \/ fenced \/ (s.action = "Leave" /\ accepted)
  IN /\ s.action # "DeleteGroup" =>
          Members(g) \ Members(h) = IF leaves THEN {s.member} ELSE PlaceTaken(g, s) \ {s.member}
     /\ s.action = "LeaveTemporarily" /\ accepted =>
          h = [g EXCEPT !.members[s.member] = h.members[s.member]] /\ IsAway(h, s.member)

\* E2: a request that is accepted computes the target that is due, and so does
\* a step that changes the members or their topics where no target may be due
\* after it.
\* @type: ($group, $step) => Bool;
DueIsComputed(h, s) ==
  LET atOnce == Dialect.TargetOnRemoval = "at-once" /\ Dialect.MetadataChange = "at-once"
      accepted == s.action \in {"Join", "Rejoin", "Return", "Heartbeat"} /\ s.response.error = "NONE"
  IN ~Dialect.TargetMayLag /\ (accepted \/ atOnce) => h.assignmentEpoch = h.epoch

\* H5: the error of a request whose group, or whose sender, is not there.
\* @type: ($group, $step) => Bool;
AbsentIsAnswered(g, s) ==
  LET absent == IF Exists(g) THEN "UNKNOWN_MEMBER_ID" ELSE Dialect.UnknownGroupError
  IN /\ s.response.error \in {"UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND"} => s.response.error = absent
     /\ s.action \in {"Heartbeat", "Leave"} /\ s.member \notin Members(g) =>
          s.response.error \in {absent, "INVALID_REQUEST", "UNSUPPORTED_ASSIGNOR", "GROUP_MAX_SIZE_REACHED",
                                "FENCED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID"}

\* H5, H6 with RetrySubsetOf: a heartbeat is accepted if its epoch is the
\* member's, or the previous one with reported partitions that the member all
\* has; else it is fenced.
\* @type: ($group, $step) => Bool;
AcceptedByAssignment(g, s) ==
  LET member == g.members[s.member]
      hasAll == s.request.owned # {} /\ ValueOr(s.request.owned, {}) \subseteq member.assigned
      retries == s.request.epoch = member.previousEpoch /\ member.epoch # Away /\ hasAll
  IN /\ Dialect.RetrySubsetOf = "assigned" /\ s.action = "Heartbeat"
     /\ s.response.error \in {"NONE", "FENCED_MEMBER_EPOCH"}
     => (s.response.error = "NONE") = (s.request.epoch = member.epoch \/ retries)

\* R5, H9: the answer to a join that is accepted has the member's assignment.
\* @type: ($step) => Bool;
JoinIsAnswered(s) ==
  s.action \in {"Join", "Rejoin", "Return"} /\ s.response.error = "NONE" => s.response.assignment # {}
=============================================================================
