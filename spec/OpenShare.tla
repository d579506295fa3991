------------------------------ MODULE OpenShare -----------------------------
(***************************************************************************)
(* The open instance of share groups: the coordinator alone, against every *)
(* request of a bounded domain and every event, in any order.  No member is*)
(* modelled: requests may be absurd.  Conformance is checked here, because *)
(* every step calls the coordinator.                                       *)
(***************************************************************************)
EXTENDS ShareGroups

CONSTANTS
  \* The member epochs that a request may say.
  \* @type: Set(Int);
  RequestEpochs,
  \* Topics that a request may have: an option.
  \* @type: Set(Set(Set(Str)));
  Subscriptions,
  \* The most partitions that a topic gets.
  \* @type: Int;
  MaxPartitions

VARIABLES
  \* The coordinator's state of the group.
  \* @type: $share;
  share,
  \* The partitions of topics: 0 not created, -1 deleted.
  \* @type: Str -> Int;
  topics,
  \* The last step with its parameters and response; not part of the state.
  \* @type: $shareStep;
  step

vars == <<share, topics, step>>
view == <<share, topics>>

\* @type: (Str, Str, Str, Int) => $shareStep;
EventStep(action, m, topic, partitions) ==
  [action |-> action, branch |-> "", member |-> m, request |-> NoRequest, response |-> NoResponse,
   topic |-> topic, partitions |-> partitions]

NoStep == EventStep("Init", "", "", 0)

Init ==
  /\ share = NoShare
  /\ topics = [t \in Topics |-> 0]
  /\ step = NoStep

\* A ShareGroupHeartbeat by its epoch: the sender joins, stays, or leaves.
\* @type: (Int) => Str;
ActionOf(epoch) == IF epoch = 0 THEN "ShareJoin" ELSE IF epoch = -1 THEN "ShareLeave" ELSE "ShareHeartbeat"

\* Q1, Q2, Q6, Q7.
\* @type: (Str, $shareRequest) => Bool;
Request(m, request) ==
  LET done == HandleShare(share, topics, m, request) IN
  /\ share' = done.group
  /\ step' = [action |-> ActionOf(request.epoch), branch |-> done.branch, member |-> m, request |-> request,
              response |-> done.response, topic |-> "", partitions |-> 0]
  /\ UNCHANGED topics

ShareRequest ==
  \E m \in MemberIds \union {""}, epoch \in RequestEpochs, subscription \in Subscriptions :
    Request(m, [epoch |-> epoch, subscription |-> subscription])

\* Q6: a session ends.
ShareTimeout ==
  \E m \in Members(share) :
    /\ share' = Without(share, topics, m)
    /\ step' = EventStep("ShareTimeout", m, "", 0)
    /\ UNCHANGED topics

\* Q3: a topic is created, grows or is deleted; the group learns of it with the
\* next heartbeat.
\* @type: (Str, Int) => Bool;
Change(t, partitions) ==
  /\ topics[t] >= 0 /\ (partitions > topics[t] \/ (partitions = -1 /\ topics[t] > 0))
  /\ topics' = [topics EXCEPT ![t] = partitions]
  /\ step' = EventStep("ShareTopic", "", t, partitions)
  /\ UNCHANGED share

ShareTopic == \E t \in Topics, partitions \in {-1} \union (1..MaxPartitions) : Change(t, partitions)

\* Q8: a new coordinator loads the log, and knows the same.
ShareFailOver ==
  /\ Exists(share)
  /\ step' = EventStep("ShareFailOver", "", "", 0)
  /\ UNCHANGED <<share, topics>>

\* Q8: DeleteGroups; a group with members stays.
ShareDelete ==
  LET error == IF ~Exists(share) THEN "GROUP_ID_NOT_FOUND"
               ELSE IF Members(share) # {} THEN "NON_EMPTY_GROUP" ELSE "NONE" IN
  /\ share' = IF error = "NONE" THEN NoShare ELSE share
  /\ step' = [EventStep("ShareDelete", "", "", 0) EXCEPT !.response = [NoResponse EXCEPT !.error = error]]
  /\ UNCHANGED topics

Next ==
  \/ ShareRequest
  \/ ShareTimeout
  \/ ShareTopic
  \/ ShareFailOver
  \/ ShareDelete

Spec == Init /\ [][Next]_vars
=============================================================================
