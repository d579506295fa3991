--------------------------- MODULE ShareProperties --------------------------
(***************************************************************************)
(* Rules that share groups must always satisfy (Q1-Q8): predicates on one  *)
(* group's state, and on the two states of a step.  No rule takes its      *)
(* expected value from the function that makes the step.                   *)
(*                                                                         *)
(* Left out: that members make progress, as no member is modelled.         *)
(***************************************************************************)
EXTENDS ShareGroups, FiniteSets

\* @type: ($share) => Bool;
ShareTypeOK(g) ==
  /\ DOMAIN g.members = MemberIds /\ DOMAIN g.metadata = Topics
  /\ \A t \in Topics : g.metadata[t] >= 0
  /\ \A m \in MemberIds :
       g.members[m].epoch = 0 => g.members[m].previousEpoch = 0 /\ g.members[m] = NoMember

\* Q6, Q8: a group that is not there is dead; one without members is empty.
\* @type: ($share) => Bool;
StateIsNamed(g) ==
  /\ ShareState(g) = "Dead" <=> g = NoShare
  /\ ShareState(g) = "Empty" <=> g # NoShare /\ \A m \in MemberIds : g.members[m] = NoMember
  /\ ShareState(g) = "Stable" <=> \E m \in MemberIds : g.members[m] # NoMember

\* Q2, Q4: no member is ahead of the target, and the target not of the group.
\* @type: ($share) => Bool;
EpochsOrdered(g) ==
  /\ 0 <= g.assignmentEpoch /\ g.assignmentEpoch <= g.epoch
  /\ \A m \in Members(g) :
       0 <= g.members[m].previousEpoch /\ g.members[m].previousEpoch < g.members[m].epoch
         /\ g.members[m].epoch <= g.assignmentEpoch

\* Q3: the group has only topics to which a member subscribes.
\* @type: ($share) => Bool;
OnlySubscribedTopics(g) ==
  \A t \in Topics : g.metadata[t] > 0 => \E m \in Members(g) : t \in g.members[m].subscription

\* Q4: at its epoch a target gives each member every partition of the topics
\* that it subscribes to, though others have the partition, too, and no other
\* partition.
\* @type: ($share) => Bool;
EveryoneHasEverything(g) ==
  g.epoch = g.assignmentEpoch =>
    \A m \in Members(g), t \in Topics :
      LET count == IF t \in g.members[m].subscription THEN g.metadata[t] ELSE 0
          own == {r \in g.members[m].target : r[1] = t}
      IN Cardinality(own) = count /\ \A r \in own : 0 <= r[2] /\ r[2] < count

\* Q5: a member at the assignment epoch has all of its target, and no more.
\* @type: ($share) => Bool;
AssignedAtOnce(g) ==
  \A m \in Members(g) : g.members[m].epoch = g.assignmentEpoch => g.members[m].assigned = g.members[m].target

\* Q3: the group epoch goes up by one where members come, go or subscribe to
\* something else, or topics are seen to be others, and nowhere else.
\* @type: ($share, $share) => Bool;
EpochBumpedExactly(g, h) ==
  LET saying(x) == [m \in Members(x) |-> x.members[m].subscription]
      changes == saying(g) # saying(h) \/ g.metadata # h.metadata
  IN Exists(h) => h.epoch = IF changes THEN g.epoch + 1 ELSE g.epoch

\* Q2: epochs do not go back while the group, or the member, is there.
\* @type: ($share, $share) => Bool;
EpochsGoUp(g, h) ==
  Exists(g) /\ Exists(h) =>
    /\ g.epoch <= h.epoch /\ g.assignmentEpoch <= h.assignmentEpoch
    /\ \A m \in Members(g) \intersect Members(h) : g.members[m].epoch <= h.members[m].epoch

\* Q5, Q6: a member's partitions change with its own requests alone.
\* @type: ($share, $share, $shareStep) => Bool;
OthersKeepTheirs(g, h, s) ==
  \A m \in Members(g) \ {s.member} :
    Exists(h) =>
      /\ h.members[m].epoch = g.members[m].epoch
      /\ h.members[m].assigned = g.members[m].assigned
      /\ h.members[m].subscription = g.members[m].subscription

\* Q7: a refused request changes nothing.
\* @type: ($share, $share, $shareStep) => Bool;
RefusedChangesNothing(g, h, s) == s.response.error \notin {"", "NONE"} => h = g

\* Q1: a sender that joins and is not refused is a member with the subscription
\* of its request.
\* @type: ($share, $shareStep) => Bool;
JoinsAsItSays(h, s) ==
  s.action = "ShareJoin" /\ s.response.error = "NONE" =>
    s.member \in Members(h) /\ {h.members[s.member].subscription} = s.request.subscription

\* Q2, Q7: the errors, each where it must be and nowhere else.
\* @type: ($share, $shareStep) => Bool;
ShareErrorsExactly(g, s) ==
  LET said == s.request.epoch
      known == s.member \in Members(g)
      bad == s.member = "" \/ said < -1 \/ (said = 0 /\ s.request.subscription \in {{}, {{}}})
      mine == {g.members[s.member].epoch, g.members[s.member].previousEpoch}
  IN s.action \in {"ShareJoin", "ShareHeartbeat", "ShareLeave"} =>
    /\ s.response.error = "INVALID_REQUEST" <=> bad
    /\ s.response.error = "GROUP_ID_NOT_FOUND" <=> (~bad /\ said # 0 /\ ~Exists(g))
    /\ s.response.error = "UNKNOWN_MEMBER_ID" <=> (~bad /\ said # 0 /\ Exists(g) /\ ~known)
    /\ s.response.error = "FENCED_MEMBER_EPOCH" <=> (~bad /\ said > 0 /\ known /\ said \notin mine)

\* Q4, Q5: an accepted join or heartbeat computes the target that is due, and
\* the sender has its epoch at once.
\* @type: ($share, $shareStep) => Bool;
SenderIsUpToDate(h, s) ==
  s.response.error = "NONE" /\ s.action \in {"ShareJoin", "ShareHeartbeat"} =>
    h.assignmentEpoch = h.epoch /\ h.members[s.member].epoch = h.epoch

\* Q5: an answer has the member's epoch, and the assignment exactly where the
\* member may not know it: it has missed an answer, sends its subscription (as
\* each join does), or its assignment changes.
\* @type: ($share, $share, $shareStep) => Bool;
ToldWhatItHas(g, h, s) ==
  s.response.error = "NONE" /\ s.action \in {"ShareJoin", "ShareHeartbeat"} =>
    LET before == g.members[s.member]
        after == h.members[s.member]
        knows == /\ s.request.epoch = before.epoch /\ s.request.subscription = {}
                 /\ after.assigned = before.assigned
    IN s.response.epoch = after.epoch /\ s.response.assigned = IF knows THEN {} ELSE {after.assigned}

\* Q2, Q5: the way of a heartbeat: a retry has the previous epoch; any other
\* request advances the member, or finds it where it is.
\* @type: ($share, $share, $shareStep) => Bool;
BranchIsNamed(g, h, s) ==
  s.response.error = "NONE" /\ s.action \in {"ShareJoin", "ShareHeartbeat"} =>
    LET before == g.members[s.member]
        retries == s.action = "ShareHeartbeat" /\ s.request.epoch = before.previousEpoch
    IN s.branch = IF retries THEN "retry"
                  ELSE IF h.members[s.member].epoch > before.epoch THEN "advance" ELSE "stable"

\* An event has no request.
\* @type: ($shareStep) => Bool;
EventsRequestNothing(s) ==
  s.action \notin {"ShareJoin", "ShareHeartbeat", "ShareLeave"} => s.request.epoch = 0 /\ s.request.subscription = {}

\* Q6, Q7: the answer to a leave has the epoch -1, a refusal the epoch 0, and
\* neither has an assignment.
\* @type: ($shareStep) => Bool;
OthersGetNothing(s) ==
  LET left == s.action = "ShareLeave" /\ s.response.error = "NONE"
      refused == s.response.error \notin {"", "NONE"}
  IN left \/ refused => s.response.epoch = (IF left THEN -1 ELSE 0) /\ s.response.assigned = {}

\* Q6: a member that leaves or whose session ends is removed, and no other
\* member.
\* @type: ($share, $share, $shareStep) => Bool;
GoneExactly(g, h, s) ==
  LET gone == Members(g) \ Members(h) IN
  IF s.action = "ShareTimeout" \/ (s.action = "ShareLeave" /\ s.response.error = "NONE")
    THEN gone = {s.member} /\ h.assignmentEpoch = g.assignmentEpoch
    ELSE gone = {}

\* Q8: only an empty group is deleted, and one that is not there is not found.
\* A fail-over leaves the group as it is by the definition of ShareFailOver:
\* share groups have no log here.
\* @type: ($share, $share, $shareStep) => Bool;
KeptAndDeleted(g, h, s) ==
  /\ s.action = "ShareFailOver" => h = g
  /\ Exists(g) /\ ~Exists(h) <=> s.action = "ShareDelete" /\ s.response.error = "NONE"
  /\ s.action = "ShareDelete" =>
       /\ s.response.error = "NON_EMPTY_GROUP" <=> Members(g) # {}
       /\ s.response.error = "GROUP_ID_NOT_FOUND" <=> ~Exists(g)

\* Q3, Q6: an accepted request, and the end of a session, notice the topics as
\* they are.
\* @type: ($share, Str -> Int, $shareStep) => Bool;
TopicsAreNoticed(h, topics, s) ==
  LET accepted == s.action \in {"ShareJoin", "ShareHeartbeat", "ShareLeave"} /\ s.response.error = "NONE"
  IN accepted \/ s.action = "ShareTimeout" =>
    \A m \in Members(h), t \in Topics :
      t \in h.members[m].subscription => h.metadata[t] = IF topics[t] > 0 THEN topics[t] ELSE 0

\* Q1, Q3: the sender has the subscription of its request, or the one of before
\* if the request has none.
\* @type: ($share, $share, $shareStep) => Bool;
SubscriptionIsTaken(g, h, s) ==
  s.action \in {"ShareJoin", "ShareHeartbeat"} /\ s.response.error = "NONE" =>
    h.members[s.member].subscription =
      IF s.request.subscription = {} THEN g.members[s.member].subscription ELSE UNION s.request.subscription

\* Q2: the previous epoch is the one that the member had, so that a request of a
\* member that has not got the last answer is accepted.
\* @type: ($share, $share) => Bool;
PreviousEpochIsKept(g, h) ==
  \A m \in Members(g) \intersect Members(h) :
    h.members[m].previousEpoch = IF h.members[m].epoch = g.members[m].epoch
                                 THEN g.members[m].previousEpoch ELSE g.members[m].epoch
=============================================================================
