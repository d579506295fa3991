-------------------------- MODULE GroupProperties ---------------------------
(***************************************************************************)
(* What a group must always satisfy, in the coordinator's view: one        *)
(* operator a requirement, over the state before and after a step.  The    *)
(* modules that are checked turn them into invariants and step properties. *)
(***************************************************************************)
EXTENDS Coordinator

\* Types and canonical form: what is not in the group has no state.
\* @type: ($group) => Bool;
GroupTypeOK(g) ==
  /\ g.epoch >= 0 /\ g.assignmentEpoch >= 0
  /\ g.target \in Targets
  /\ \A t \in Topics : g.metadata[t] >= 0
  /\ \A m \in MemberIds :
       LET member == g.members[m] IN
       /\ member.epoch >= NotInGroup /\ member.previousEpoch >= 0
       /\ member.subscription \subseteq Topics
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

\* H6: the previous epoch is an earlier one.
\* @type: ($group) => Bool;
PreviousEpochOrdered(g) ==
  \A m \in Members(g) : g.members[m].previousEpoch <= g.members[m].epoch

\* A4 as long as the metadata is the one that the target was computed from.
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

\* Did `m` live through the step as the same incarnation?
\* @type: ($group, $group, $step, Str) => Bool;
SameIncarnation(g, h, s, m) ==
  /\ m \in Members(g) /\ m \in Members(h)
  /\ ~(s.action = "Rejoin" /\ s.member = m /\ Dialect.RejoinOfLiveMember = "replaces")

\* E4: no epoch decreases while the group, or this incarnation, lives.
\* @type: ($group, $group, $step) => Bool;
EpochsMonotone(g, h, s) ==
  /\ Exists(h) => h.epoch >= g.epoch /\ h.assignmentEpoch >= g.assignmentEpoch
  /\ \A m \in MemberIds : SameIncarnation(g, h, s, m) => h.members[m].epoch >= g.members[m].epoch

\* E1: what makes a new version of the group's metadata, seen in the states.
\* @type: ($group, $group, $step) => Bool;
MetadataChanged(g, h, s) ==
  \/ \E m \in MemberIds :
       \/ (m \in Members(g)) # (m \in Members(h))
       \/ m \in Members(h) /\ ~SameIncarnation(g, h, s, m)
       \/ g.members[m].subscription # h.members[m].subscription
       \/ g.members[m].assignor # h.members[m].assignor
  \/ g.metadata # h.metadata

\* E1: bumped exactly when it must be, by one, once a step.
\* @type: ($group, $group, $step) => Bool;
EpochBumpedExactly(g, h, s) ==
  s.action # "DeleteGroup" =>
    h.epoch = IF ~MetadataChanged(g, h, s) THEN g.epoch
              ELSE IF Exists(g) THEN g.epoch + 1 ELSE Dialect.FirstGroupEpoch

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

\* R5: one response never gives and takes.
\* @type: ($group, $group, $step) => Bool;
NeverRevokeAndAssign(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) =>
      \/ h.members[m].assigned \subseteq g.members[m].assigned
      \/ g.members[m].assigned \subseteq h.members[m].assigned

\* R6: a member whose target stays what it has only moves to the new epoch.
\* @type: ($group, $group, $step) => Bool;
UndisturbedIfUnchanged(g, h, s) ==
  \A m \in MemberIds :
    /\ SameIncarnation(g, h, s, m)
    /\ g.members[m].revoking = {} /\ g.members[m].assigned = TargetOf(h, m)
    => /\ h.members[m].assigned = g.members[m].assigned
       /\ h.members[m].revoking = {}
       /\ s.action = "Heartbeat" /\ s.member = m => h.members[m].epoch = h.assignmentEpoch

\* R6: no barrier: a step of one member leaves all others as they are.
\* @type: ($group, $group, $step) => Bool;
OthersUntouched(g, h, s) ==
  \A m \in MemberIds : m # s.member => h.members[m] = g.members[m]

\* R1, R2: what a member holds is only released by its acknowledgement, or
\* by its removal or replacement.
\* @type: ($group, $group, $step) => Bool;
ReleasedOnlyByAcknowledgement(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ ~(Held(g, m) \subseteq Held(h, m)) =>
      /\ s.action \in {"Heartbeat", "Rejoin"} /\ s.member = m
      /\ s.action = "Heartbeat" =>
           /\ s.request.epoch = g.members[m].epoch
           /\ s.request.owned # {}
           /\ ValueOr(s.request.owned, {}) \cap (Held(g, m) \ Held(h, m)) = {}

\* R2: the member epoch advances only when nothing is left to revoke.
\* @type: ($group, $group, $step) => Bool;
AdvancesWithoutRevocation(g, h, s) ==
  \A m \in MemberIds :
    SameIncarnation(g, h, s, m) /\ h.members[m].epoch # g.members[m].epoch =>
      /\ h.members[m].revoking = {}
      /\ h.members[m].epoch = h.assignmentEpoch
      /\ h.members[m].assigned \subseteq TargetOf(h, m)

\* H5: a wrong epoch is fenced, an unknown member told so, no one else is.
\* @type: ($group, $group, $step) => Bool;
ErrorsExactly(g, h, s) ==
  /\ s.response.error = "UNKNOWN_MEMBER_ID" =>
       s.action \in {"Heartbeat", "Leave"} /\ s.member \notin Members(g) /\ h = g
  /\ s.response.error = "FENCED_MEMBER_EPOCH" =>
       /\ s.action = "Heartbeat" => s.request.epoch # g.members[s.member].epoch
       /\ Dialect.FencedMemberIsRemoved => s.member \notin Members(h)

\* R5: the response says what the coordinator now takes for told.
\* @type: ($group, $step) => Bool;
ResponseMatches(h, s) ==
  s.action \in {"Join", "Rejoin", "Heartbeat"} /\ s.response.error = "NONE" =>
    /\ s.response.epoch = h.members[s.member].epoch
    /\ \A a \in s.response.assignment :
         /\ a.assigned = h.members[s.member].assigned
         /\ a.assigned \cap a.pending = {}
    /\ s.response.assignment = {} /\ Dialect.AssignmentSent = "until-acknowledged" =>
         /\ h.members[s.member].assigned = TargetOf(h, s.member)
         /\ h.members[s.member].revoking = {}
         /\ h.members[s.member].epoch = h.assignmentEpoch
=============================================================================
