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
  \* Subscriptions that a request may have; it may also leave its subscription
  \* out.
  \* @type: Set(Set(Str));
  Subscriptions,
  \* Server side assignors that a request may name; it may also name none.
  \* @type: Set(Str);
  AssignorNames,
  \* Instance ids and regular expressions that a request may have; it may also
  \* leave them out.
  \* @type: Set(Str);
  InstanceIds,
  \* @type: Set(Str);
  RegexNames,
  \* Requests that no client sends (H3, H4).
  \* @type: Set($request);
  OddRequests,
  \* May the coordinator fail over (P2)?
  \* @type: Bool;
  WithFailOver,
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

\* The choice of a model that has none of them.
\* @type: Set(Str);
NoStrings == {}
\* @type: Set($request);
NoOddRequests == {}

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

\* H1: a join names its subscription; its owned partitions mean nothing.  The
\* member id is given, or left out and made by the coordinator.  With the
\* instance id of a member that is away it is a Return (S1).
JoinRequest ==
  \E m \in MemberIds, instance \in Option(InstanceIds), subscription \in Subscriptions,
     regex \in Option(RegexNames), assignor \in Option(AssignorNames) :
    LET request == [member |-> m, epoch |-> 0, instance |-> instance, owned |-> {{}},
                    subscription |-> {subscription}, regex |-> regex, assignor |-> assignor]
    IN \/ Request(m, request)
       \/ m \notin Members(group) /\ Request(m, [request EXCEPT !.member = None])

\* Every other field: absent, empty, or given (H10).
HeartbeatRequest ==
  \E m \in MemberIds, epoch \in RequestEpochs, instance \in Option(InstanceIds),
     owned \in Option(SUBSET Partitions), subscription \in Option(Subscriptions),
     regex \in Option(RegexNames), assignor \in Option(AssignorNames) :
    Request(m, [member |-> m, epoch |-> epoch, instance |-> instance, owned |-> owned,
                subscription |-> subscription, regex |-> regex, assignor |-> assignor])

\* H2: for good, or (S1) for a while.
LeaveRequest ==
  \E m \in MemberIds, instance \in Option(InstanceIds) :
    \/ Request(m, [NoRequest EXCEPT !.member = m, !.epoch = -1, !.instance = instance])
    \/ instance # {} /\ Request(m, [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = instance])

\* H3, H4.
OddRequest ==
  \E request \in OddRequests : Request(request.member, request)

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

\* E1: a topic that a subscription names, or whose name a regular expression
\* matches (T1), is created, with p as its last partition.
CreateTopic ==
  \E p \in Partitions :
    MayBeCreated(topics, p[1]) /\ ChangeTopic("CreateTopic", p[1], p[2] + 1)

\* E1: a new partition.
AddPartitions ==
  \E p \in Partitions :
    0 < topics[p[1]] /\ topics[p[1]] <= p[2] /\ ChangeTopic("AddPartitions", p[1], p[2] + 1)

\* E1: a topic is deleted, for good: one of the same name has another id (T2).
DeleteTopic ==
  \E t \in Topics : topics[t] > 0 /\ ChangeTopic("DeleteTopic", t, -1)

\* P2: a new coordinator loads the log.  Perhaps a topic changed meanwhile, so
\* that no record says so: it must notice by itself.
\* @type: (Str, Int) => Bool;
FailOverTo(t, partitions) ==
  LET changed == IF t = "" THEN topics ELSE [topics EXCEPT ![t] = partitions]
      Install(installed) ==
        /\ group' = DeriveRevocations(installed)
        /\ step' = EventStep("FailOver", None, t, partitions)
  IN /\ topics' = changed
     /\ \E loaded \in {NoticeTopics(AfterFailOver(group), changed)} :
        \E now \in ComputesNow("failover", loaded) : UpdateTarget(loaded, now, Install)

FailOver ==
  /\ WithFailOver /\ Exists(group)
  /\ \/ FailOverTo("", 0)
     \/ \E p \in Partitions :
          /\ MayBeCreated(topics, p[1]) \/ (0 < topics[p[1]] /\ topics[p[1]] <= p[2])
          /\ FailOverTo(p[1], p[2] + 1)
     \/ \E t \in Topics : topics[t] > 0 /\ FailOverTo(t, -1)

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
  \/ OddRequest
  \/ SessionTimeout
  \/ RebalanceTimeout
  \/ CreateTopic
  \/ AddPartitions
  \/ DeleteTopic
  \/ DeleteGroup
  \/ FailOver

Spec == Init /\ [][Next]_vars
=============================================================================
