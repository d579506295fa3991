------------------------------ MODULE OpenGroup -----------------------------
(***************************************************************************)
(* The open instance: the coordinator alone, against every request of a    *)
(* bounded domain and every event, in any order.  No client is modelled:   *)
(* requests may be absurd.  Conformance of an implementation is checked    *)
(* here, because every step calls it; so is safety in the coordinator's    *)
(* view, because whatever clients and networks do, they only send requests.*)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
  \* The member epochs that a heartbeat may carry.
  \* @type: Set(Int);
  RequestEpochs,
  \* What a request may say of its subscription, besides being silent.
  \* @type: Set(Set(Str));
  Subscriptions,
  \* What a request may say of its server side assignor, besides being silent.
  \* @type: Set(Str);
  AssignorNames,
  \* The partitions that each topic may have at the start.
  \* @type: Set(Str -> Int);
  InitialTopics

VARIABLES
  \* The coordinator's state of the group.
  \* @type: $group;
  group,
  \* The cluster's topics: number of partitions, 0 not created, -1 deleted.
  \* @type: Str -> Int;
  topics,
  \* The last step with its parameters and response; not part of the state.
  \* @type: $step;
  step

vars == <<group, topics, step>>
view == <<group, topics>>

Init ==
  /\ group = NoGroup
  /\ topics \in InitialTopics
  /\ step = NoStep

\* @type: (Set(a)) => Set(Set(a));
Option(values) == {{}} \cup {{v} : v \in values}

\* A request from `m`; the singletons make TLC evaluate each step once.
\* @type: (Str, $request) => Bool;
Request(m, request) ==
  /\ \E updated \in {UpdateMember(group, topics, m, request)} :
     \E now \in ComputesNow(updated.kind, updated.group) :
       LET Answer(installed) ==
             \E handled \in {Handle(group, m, request, updated, installed)} :
               group' = handled.group /\ step' = handled.step
       IN UpdateTarget(updated.group, now, Answer)
  /\ UNCHANGED topics

\* @type: (Str, Int, Set(Set($partition)), Set(Set(Str)), Set(Str)) => $request;
NewRequest(member, epoch, owned, subscription, assignor) ==
  [member |-> member, epoch |-> epoch, owned |-> owned,
   subscription |-> subscription, assignor |-> assignor]

\* H1: a join names its subscription; its owned partitions mean nothing.  The
\* member id is given, or left out and made by the coordinator.
JoinRequest ==
  \E m \in MemberIds, subscription \in Subscriptions, assignor \in Option(AssignorNames) :
    \/ Request(m, NewRequest(m, 0, {{}}, {subscription}, assignor))
    \/ /\ m \notin Members(group)
       /\ Request(m, NewRequest(None, 0, {{}}, {subscription}, assignor))

\* Owned partitions, subscription and assignor: absent, empty, or given (H10).
HeartbeatRequest ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in Option(SUBSET Partitions),
     subscription \in Option(Subscriptions), assignor \in Option(AssignorNames) :
    Request(m, NewRequest(m, epoch, owned, subscription, assignor))

\* H2.
LeaveRequest ==
  \E m \in MemberIds : Request(m, NewRequest(m, -1, {}, {}, {}))

\* An event changes the members or their topics; the next target follows.
\* @type: ($group, Str, $step) => Bool;
Event(changed, kind, newStep) ==
  \E now \in ComputesNow(kind, changed) :
    LET Install(installed) == group' = installed /\ step' = newStep
    IN UpdateTarget(changed, now, Install)

\* H8: no heartbeat for the session time-out.
SessionTimeout ==
  \E m \in MemberIds :
    /\ SessionTimerArmed(group, m)
    /\ Event(RemoveMember(group, topics, m), "timeout", EventStep("SessionTimeout", m, "", 0))
    /\ UNCHANGED topics

\* R4: the revocation was not acknowledged in time.
RebalanceTimeout ==
  \E m \in MemberIds :
    /\ RebalanceTimerArmed(group, m)
    /\ Event(RemoveMember(group, topics, m), "timeout", EventStep("RebalanceTimeout", m, "", 0))
    /\ UNCHANGED topics

\* @type: (Str, Str, Int) => Bool;
ChangeTopic(action, t, partitions) ==
  LET changed == [topics EXCEPT ![t] = partitions] IN
  /\ topics' = changed
  /\ Event(NoticeTopics(group, changed), "topics", EventStep(action, None, t, partitions))

\* E1: a topic that a subscription names appears, with p as its last partition.
CreateTopic ==
  \E p \in Partitions :
    topics[p[1]] = 0 /\ ChangeTopic("CreateTopic", p[1], p[2] + 1)

\* E1: a new partition.
AddPartitions ==
  \E p \in Partitions :
    0 < topics[p[1]] /\ topics[p[1]] <= p[2] /\ ChangeTopic("AddPartitions", p[1], p[2] + 1)

\* E1: a topic is deleted, for good (a topic of the same name is another, T2).
DeleteTopic ==
  \E t \in Topics : topics[t] > 0 /\ ChangeTopic("DeleteTopic", t, -1)

\* E5: a group that has been empty long enough is deleted (DEAD).
DeleteGroup ==
  /\ GroupState(group) = "Empty"
  /\ group' = NoGroup
  /\ step' = EventStep("DeleteGroup", None, "", 0)
  /\ UNCHANGED topics

Next ==
  \/ JoinRequest
  \/ HeartbeatRequest
  \/ LeaveRequest
  \/ SessionTimeout
  \/ RebalanceTimeout
  \/ CreateTopic
  \/ AddPartitions
  \/ DeleteTopic
  \/ DeleteGroup

Spec == Init /\ [][Next]_vars
=============================================================================
