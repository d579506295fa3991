----------------------------- MODULE OpenConnect ----------------------------
(***************************************************************************)
(* The open instance of Connect groups: the coordinator alone, against     *)
(* every request of a bounded domain and every event, in any order.  No    *)
(* worker is modelled: requests may be absurd.  Conformance is checked     *)
(* here, because every step calls the coordinator.                         *)
(***************************************************************************)
EXTENDS Connect

CONSTANTS
  \* The member epochs that a request may carry.
  \* @type: Set(Int);
  RequestEpochs,
  \* The reasons that a heartbeat may give, besides being silent.
  \* @type: Set(Int);
  Reasons,
  \* Owned work that a heartbeat may report; it may also leave it out.
  \* @type: Set(Set($partition));
  Owned,
  \* The targets that an install may carry, and what each gives to a second
  \* worker, too.
  \* @type: Set(<<$partition -> Str, Set($partition)>>);
  InstallTargets,
  \* The member and group epochs that the calls of an assignor may carry.
  \* @type: Set(Int);
  CallEpochs,
  \* @type: Set(Int);
  InstallEpochs,
  \* Requests that no worker sends (W4).
  \* @type: Set($request);
  OddRequests,
  \* May the coordinator fail over (P2)?
  \* @type: Bool;
  WithFailOver,
  \* How many resources each connector may have at the start.
  \* @type: Set(Str -> Int);
  InitialTopics

VARIABLES
  \* The coordinator's state of the group, as that of a consumer group.
  \* @type: $group;
  group,
  \* State of a Connect group that a consumer group does not have.
  \* @type: $work;
  work,
  \* The connectors: 1 and the number of tasks, 0 not created, -1 deleted.
  \* @type: Str -> Int;
  topics,
  \* The last step with its parameters and response; not part of the state.
  \* @type: $step;
  step,
  \* The call of the last step; not part of the state.
  \* @type: $call;
  call

vars == <<group, work, topics, step, call>>
view == <<group, work, topics>>

Init ==
  /\ group = NoGroup
  /\ work = NoWork
  /\ topics \in InitialTopics
  /\ step = NoStep
  /\ call = NoCall

\* @type: (Set(a)) => Set(Set(a));
Option(values) == {{}} \cup {{v} : v \in values}

\* A step of the coordinator; the singleton makes TLC evaluate it once.
\* @type: ($worked) => Bool;
Take(worked) ==
  \E x \in {worked} : group' = x.group /\ work' = x.work /\ step' = x.step /\ call' = x.call

\* @type: (Str, $request, Set(Int)) => Bool;
Request(m, request, reason) ==
  /\ \E updated \in {UpdateWorker(group, work, topics, m, request, reason)} :
       Take(HandleWorker(group, work, m, request, reason, updated))
  /\ UNCHANGED topics

\* H1, W1: epoch 0, of a worker that is new, waits, or is replaced.
JoinRequest ==
  \E m \in MemberIds, reason \in Option(Reasons) :
    Request(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}], reason)

\* W4: every other field absent, empty or given.
HeartbeatRequest ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in Option(Owned), reason \in Option(Reasons) :
    Request(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = owned], reason)

\* H2.
LeaveRequest ==
  \E m \in MemberIds : Request(m, [NoRequest EXCEPT !.member = m, !.epoch = -1], {})

\* W4.
OddRequest ==
  \E request \in OddRequests : Request(request.member, request, {})

\* W1.
Prepare ==
  /\ \E m \in MemberIds, epoch \in CallEpochs :
       Take(PrepareAssignment(group, work, m, epoch))
  /\ UNCHANGED topics

\* W4: InstallAssignment of any of the targets, by any sender and for any
\* preparation.
Install ==
  /\ \E m \in MemberIds, groupEpoch \in InstallEpochs, install \in InstallTargets :
       /\ \E p \in work.prepared : groupEpoch = p.epoch
       /\ Take(InstallAssignment(group, work, m, group.members[m].epoch, groupEpoch, install[1], install[2]))
  /\ UNCHANGED topics

\* W4: from any sender, at any epoch, for any epoch.
AbsurdInstall ==
  /\ \E m \in MemberIds, epoch \in CallEpochs, groupEpoch \in InstallEpochs :
       Take(InstallAssignment(group, work, m, epoch, groupEpoch, Nobody, {}))
  /\ UNCHANGED topics

\* H8.
SessionTimeout ==
  /\ \E m \in MemberIds :
       /\ SessionTimerArmed(group, m)
       /\ Take(WorkerEvent(group, RemoveMember(group, topics, m), work, EventStep("SessionTimeout", m, "", 0)))
  /\ UNCHANGED topics

\* R4.
RebalanceTimeout ==
  /\ \E m \in MemberIds :
       /\ RebalanceTimerArmed(group, m)
       /\ Take(WorkerEvent(group, RemoveMember(group, topics, m), work, EventStep("RebalanceTimeout", m, "", 0)))
  /\ UNCHANGED topics

\* W1.
AssignmentTimeout ==
  /\ work.chosen # None /\ TargetIsDue(group)
  /\ Take(ChooseAnother(group, work))
  /\ UNCHANGED topics

\* @type: (Str, Str, Int) => Bool;
ChangeTopic(action, t, resources) ==
  LET changed == [topics EXCEPT ![t] = resources] IN
  /\ topics' = changed
  /\ Take(WorkerEvent(group, NoticeTopics(group, changed), work, EventStep(action, None, t, resources)))

\* E1, W4: a connector appears, or has more tasks, with r as the last one; or is
\* removed for good.
CreateTopic ==
  \E r \in Partitions : MayBeCreated(topics, r[1]) /\ ChangeTopic("CreateTopic", r[1], r[2] + 1)
AddPartitions ==
  \E r \in Partitions :
    0 < topics[r[1]] /\ topics[r[1]] <= r[2] /\ ChangeTopic("AddPartitions", r[1], r[2] + 1)
DeleteTopic ==
  \E t \in Topics : topics[t] > 0 /\ ChangeTopic("DeleteTopic", t, -1)

\* P2.
FailOver ==
  /\ WithFailOver /\ Exists(group)
  /\ Take(ConnectFailOver(group, work, topics, EventStep("FailOver", None, "", 0)))
  /\ UNCHANGED topics

\* E5.
DeleteGroup ==
  /\ GroupState(group) = "Empty"
  /\ group' = NoGroup /\ work' = NoWork
  /\ step' = EventStep("DeleteGroup", None, "", 0) /\ call' = NoCall
  /\ UNCHANGED topics

Next ==
  \/ JoinRequest
  \/ HeartbeatRequest
  \/ LeaveRequest
  \/ OddRequest
  \/ Prepare
  \/ Install
  \/ AbsurdInstall
  \/ SessionTimeout
  \/ RebalanceTimeout
  \/ AssignmentTimeout
  \/ CreateTopic
  \/ AddPartitions
  \/ DeleteTopic
  \/ FailOver
  \/ DeleteGroup

Spec == Init /\ [][Next]_vars
=============================================================================
