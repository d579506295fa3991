---------------------------- MODULE ClosedConnect ---------------------------
(***************************************************************************)
(* The closed instance of Connect groups: the coordinator with its         *)
(* workers, the network and their faults around it.  Workers are the       *)
(* members of ClosedGroup: they receive answers, give up work, crash,      *)
(* start and lose messages in the same way.  They have an assignor         *)
(* besides.                                                                *)
(*                                                                         *)
(* The assignor is any that keeps the rules of delayed rebalance (W2):     *)
(* lost work waits for the worker that had it, and goes to any worker once *)
(* the delay is over.  The assignor may give the rest to any worker.       *)
(*                                                                         *)
(* PrepareAssignment and InstallAssignment are answered in the step that   *)
(* sends them: a worker whose call or answer is lost is a worker that      *)
(* abandons the computation.  The delay is untimed: it may end at any      *)
(* moment.                                                                 *)
(***************************************************************************)
EXTENDS ClosedGroup, Connect

(*
  A worker's assignor: told to compute; the answer to PrepareAssignment, an
  option; whether a delay runs ("none", "running", "over"), and the epoch of
  the target with which it does; the reason that the worker gives.
  @typeAlias: plan = {
    epoch: Int, workers: Set($preparedWorker), metadata: Str -> Int, assignmentEpoch: Int
  };
  @typeAlias: assignor = {told: Bool, plan: Set($plan), delay: Str, since: Int, reason: Int};

  History of lost work: who had it, and the group epoch that its loss made.
  @typeAlias: waiting = {worker: Str, epoch: Int};
*)
ClosedConnect_aliases == TRUE

VARIABLES
  \* @type: $work;
  work,
  \* The call of the last step; not part of the state.
  \* @type: $call;
  call,
  \* @type: Str -> $assignor;
  assignors,
  \* History: lost work that no other worker may have before a delay is over.
  \* @type: $partition -> $waiting;
  waits

connectState == <<state, work, assignors, waits>>
connectVars == <<vars, work, call, assignors, waits>>

\* @type: $assignor;
NoAssignor == [told |-> FALSE, plan |-> {}, delay |-> "none", since |-> 0, reason |-> 0]

\* @type: $waiting;
NotWaiting == [worker |-> None, epoch |-> 0]

ConnectInit ==
  /\ Init
  /\ work = NoWork
  /\ call = NoCall
  /\ assignors = [m \in MemberIds |-> NoAssignor]
  /\ waits = [r \in Partitions |-> NotWaiting]

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* The history after a step from g to h: work that the target had for workers
\* that have left waits; work that a worker has does not.
\* @type: ($group, $group) => ($partition -> $waiting);
WaitsAfter(g, h) ==
  LET gone == Members(g) \ Members(h) IN
  [r \in Partitions |->
     IF Members(h) = {} \/ ~IsThere(h.metadata, r) THEN NotWaiting
     ELSE IF g.target[r] \in gone THEN [worker |-> g.target[r], epoch |-> h.epoch]
     ELSE IF h.target[r] \in Members(h) THEN NotWaiting
     ELSE waits[r]]

\* @type: ($worked, Set(Str)) => Bool;
WorkerStep(worked, asked) ==
  \E x \in {worked} :
    /\ CoordinatorStep(x.group, x.step, asked)
    /\ work' = x.work
    /\ call' = IF TrackSteps THEN x.call ELSE NoCall
    /\ waits' = IF TrackSteps THEN WaitsAfter(group, x.group) ELSE waits

\* @type: ($request, Set(Int), Set(Str)) => Bool;
HandleWorkerRequest(request, reason, from) ==
  LET m == request.member IN
  \E updated \in {UpdateWorker(group, work, topics, m, request, reason)} :
  \E handled \in {HandleWorker(group, work, m, request, reason, updated)} :
    /\ WorkerStep(handled, IF request.epoch <= 0 THEN from ELSE {})
    /\ responses' = [n \in MemberIds |-> IF n \in from /\ request.epoch >= 0
                                         THEN {handled.step.response} ELSE responses[n]]
    /\ assignors' = [n \in MemberIds |-> IF n \in from
                                         THEN [assignors[n] EXCEPT !.told = handled.call.compute] ELSE assignors[n]]

\* H7: a worker says its reason with all else that it says anew.
SendWorkerRequest(m) ==
  /\ clients[m].up /\ responses[m] = {}
  /\ HandleWorkerRequest([RequestOf(m, clients[m]) EXCEPT !.subscription = {}],
                         IF clients[m].report THEN {assignors[m].reason} ELSE {}, {m})
  /\ clients' = [clients EXCEPT ![m].report = @ /\ ~NotesReports]
  /\ UNCHANGED <<topics, late, budget>>

\* @type: ($group, $step) => Bool;
GroupEvent(h, s) == WorkerStep(WorkerEvent(group, h, work, s), {})

\* H8.
WorkerSessionTimeout(m) ==
  /\ SessionTimerArmed(group, m)
  /\ IF clients[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ GroupEvent(RemoveMember(group, topics, m), EventStep("SessionTimeout", m, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late, assignors>>

\* R4.
WorkerRebalanceTimeout(m) ==
  /\ RebalanceTimerArmed(group, m)
  /\ IF clients[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ GroupEvent(RemoveMember(group, topics, m), EventStep("RebalanceTimeout", m, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late, assignors>>

\* W1: a worker that is gone times out sooner or later; the time-out of
\* another is a disturbance.
AssignmentTimeout ==
  /\ work.chosen # None /\ TargetIsDue(group)
  /\ IF clients[work.chosen].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ WorkerStep(ChooseAnother(group, work), {})
  /\ UNCHANGED <<topics, clients, responses, late, assignors>>

\* E1: a connector appears, has more tasks, or is removed.
\* @type: (Str, Str, Int) => Bool;
ChangeConnector(action, t, resources) ==
  LET changed == [topics EXCEPT ![t] = resources] IN
  /\ Disturb(1)
  /\ topics' = changed
  /\ GroupEvent(NoticeTopics(group, changed), EventStep(action, None, t, resources))
  /\ UNCHANGED <<clients, responses, late, assignors>>
\* @type: ($partition) => Bool;
AddTask(r) == 0 < topics[r[1]] /\ topics[r[1]] <= r[2] /\ ChangeConnector("AddPartitions", r[1], r[2] + 1)
RemoveConnector(t) == topics[t] > 0 /\ ChangeConnector("DeleteTopic", t, -1)

\* P2.
ConnectFailsOver ==
  /\ WithFailOver /\ Exists(group)
  /\ Disturb(1)
  /\ WorkerStep(ConnectFailOver(group, work, topics, EventStep("FailOver", None, "", 0)), {})
  /\ UNCHANGED <<topics, clients, responses, late, assignors>>

(***************************************************************************)
(* The assignor (W2)                                                       *)
(***************************************************************************)

\* Is the delay over that began with the current target?  A delay that began
\* with another target is void: another worker has computed since.
\* @type: ($assignor, $plan) => Bool;
DelayIsOver(assignor, plan) == assignor.delay = "over" /\ assignor.since = plan.assignmentEpoch

\* The worker that had `r` before the loss; None if `r` is not lost.
\* @type: ($plan, $partition) => Str;
LostBy(plan, r) ==
  LET gone == {p \in plan.workers : p.epoch = NotInGroup /\ r \in p.resources}
  IN IF gone = {} THEN None ELSE (CHOOSE p \in gone : TRUE).worker

\* @type: ($plan) => Set(Str);
There(plan) == {p.worker : p \in {q \in plan.workers : q.epoch # NotInGroup}}

\* W2: lost work is given back, or waits; all else is given to any worker.
\* @type: ($assignor, $plan, $partition -> Str) => Bool;
Assigns(assignor, plan, target) ==
  \A r \in Partitions :
    LET by == LostBy(plan, r) IN
    IF ~IsThere(plan.metadata, r) THEN target[r] = None
    ELSE IF by = None \/ DelayIsOver(assignor, plan) THEN target[r] \in There(plan)
    ELSE target[r] = IF by \in There(plan) THEN by ELSE None

\* W2: a delay runs as long as work waits; it goes on if it ran for the target
\* that there was, else it begins anew.
\* @type: ($plan, $partition -> Str) => Bool;
SomeWaits(plan, target) == \E r \in Partitions : IsThere(plan.metadata, r) /\ target[r] = None

\* W1: a worker that was told to compute asks for the group from which it
\* computes.
Prepare(m) ==
  /\ clients[m].up /\ assignors[m].told /\ assignors[m].plan = {}
  /\ \E prepared \in {PrepareAssignment(group, work, m, clients[m].epoch)} :
       /\ WorkerStep(prepared, {})
       /\ assignors' =
            [assignors EXCEPT
               ![m].told = FALSE,
               ![m].plan = IF prepared.step.response.error # "NONE" THEN {}
                           ELSE {[epoch |-> group.epoch, workers |-> prepared.call.workers,
                                  metadata |-> group.metadata, assignmentEpoch |-> group.assignmentEpoch]}]
  /\ UNCHANGED <<topics, clients, responses, late, budget>>

\* W4: the worker computes, and installs.  If refused, it waits until it is
\* told to compute again.
InstallComputed(m) ==
  /\ clients[m].up
  /\ \E plan \in assignors[m].plan, target \in Targets :
       /\ Assigns(assignors[m], plan, target)
       /\ \E x \in {InstallAssignment(group, work, m, clients[m].epoch, plan.epoch, target, {})} :
            /\ WorkerStep(x, {})
            /\ assignors' =
                 [assignors EXCEPT
                    ![m].plan = {},
                    ![m].delay = IF x.step.response.error # "NONE" THEN @
                                 ELSE IF SomeWaits(plan, target) THEN "running" ELSE "none",
                    ![m].since = IF x.step.response.error # "NONE" THEN @
                                 ELSE IF SomeWaits(plan, target) THEN plan.epoch ELSE 0]
  /\ UNCHANGED <<topics, clients, responses, late, budget>>

\* W1: its call or the answer was lost, or the assignor failed.
Abandon(m) ==
  /\ Disturb(1)
  /\ assignors[m].plan # {}
  /\ assignors' = [assignors EXCEPT ![m].plan = {}]
  /\ Record(EventStep("Abandon", m, "", 0))
  /\ UNCHANGED <<group, work, topics, clients, responses, late, zombies, call, waits>>

\* W2: scheduled.rebalance.max.delay.ms is over.  Unless another worker has
\* computed since, the worker asks for a rebalance with another reason.
DelayRunsOut(m) ==
  /\ clients[m].up /\ assignors[m].delay = "running"
  /\ LET valid == assignors[m].since = group.assignmentEpoch IN
     /\ assignors' = [assignors EXCEPT ![m].delay = "over",
                                       ![m].reason = IF @ = 1 THEN 2 ELSE 1]
     /\ waits' = [r \in Partitions |-> IF valid THEN NotWaiting ELSE waits[r]]
  /\ ClientStep("DelayEnds", m, [clients[m] EXCEPT !.report = TRUE])
  /\ UNCHANGED <<group, work, topics, responses, late, zombies, budget, call>>

\* Not while an answer is on the way, as in ChangeSubscription: that answer must
\* not count as an answer to the new reason.  MCConnectHasty shows what happens
\* where it counts.
DelayEnds(m) == responses[m] = {} /\ DelayRunsOut(m)

(***************************************************************************)
(* The workers and the network                                             *)
(***************************************************************************)

\* A step of ClosedGroup that leaves the assignor as it is.
\* @type: (Bool) => Bool;
AsMemberOfAGroup(does) == does /\ UNCHANGED <<work, call, assignors, waits>>

\* The process dies, and its assignor with it.
CrashWorker(m) == Crash(m) /\ assignors' = [assignors EXCEPT ![m] = NoAssignor] /\ UNCHANGED <<work, call, waits>>

\* H2.
LeaveAsWorker(m) ==
  /\ Disturb(1)
  /\ clients[m].up /\ clients[m].epoch > 0 /\ responses[m] = {}
  /\ \E updated \in {UpdateWorker(group, work, topics, m, LeaveRequest(m), {})} :
       WorkerStep(HandleWorker(group, work, m, LeaveRequest(m), {}, updated), {m})
  /\ ProcessEnds(m)
  /\ assignors' = [assignors EXCEPT ![m] = NoAssignor]
  /\ UNCHANGED <<topics, responses, late>>

ConnectNext ==
  \/ \E m \in MemberIds :
       \/ SendWorkerRequest(m) \/ Prepare(m) \/ InstallComputed(m) \/ Abandon(m) \/ DelayEnds(m)
       \/ WorkerSessionTimeout(m) \/ WorkerRebalanceTimeout(m)
       \/ CrashWorker(m) \/ LeaveAsWorker(m)
       \/ AsMemberOfAGroup(ReceiveResponse(m) \/ FinishRevocation(m) \/ Start(m)
                           \/ LoseRequest(m) \/ LoseResponse(m))
  \/ AssignmentTimeout
  \/ \E r \in Partitions : AddTask(r)
  \/ \E t \in Topics : RemoveConnector(t)
  \/ ConnectFailsOver

ConnectSpec == ConnectInit /\ [][ConnectNext]_connectVars

\* R8: messages get through, revocations and delays end, workers that are told
\* to compute do so, and the session of a worker that has gone expires.
\* Fairness of nothing else is assumed.  Each line is weak fairness: a step is
\* taken again and again, or what enables the step is false again and again.
\* The last line is strong fairness, since no delay ends while an answer is on
\* the way.  The operators before WorkerRecovers say when each step is enabled:
\* with WF_connectState, TLC takes many times as long.  MCConnectFair compares
\* them with ENABLED.
MaySend(m) == clients[m].up /\ responses[m] = {}
MustRevoke(m) == clients[m].up /\ ~(clients[m].owned \subseteq clients[m].told)
MayPrepare(m) == clients[m].up /\ assignors[m].told /\ assignors[m].plan = {}
MayInstall(m) == clients[m].up /\ assignors[m].plan # {}
MayExpire(m) == ~clients[m].up /\ SessionTimerArmed(group, m)
MayEndDelay(m) == MaySend(m) /\ assignors[m].delay = "running"

WorkerRecovers(m) ==
  /\ []<>~MaySend(m) \/ []<><<SendWorkerRequest(m)>>_connectState
  /\ []<>(responses[m] = {}) \/ []<><<AsMemberOfAGroup(ReceiveResponse(m))>>_connectState
  /\ []<>~MustRevoke(m) \/ []<><<AsMemberOfAGroup(FinishRevocation(m))>>_connectState
  /\ []<>~MayPrepare(m) \/ []<><<Prepare(m)>>_connectState
  /\ []<>~MayInstall(m) \/ []<><<InstallComputed(m)>>_connectState
  /\ []<>~MayExpire(m) \/ []<><<~clients[m].up /\ WorkerSessionTimeout(m)>>_connectState
  /\ <>[]~MayEndDelay(m) \/ []<><<DelayEnds(m)>>_connectState

(***************************************************************************)
(* Properties of the workers' view; NoDoubleOwnership and OwnedIsHeld (R7) *)
(* are those of ClosedGroup: no connector or task runs on two workers.     *)
(***************************************************************************)

\* W2: a target that was computed after a loss gives lost work back to its
\* worker if that worker is there, and to no other worker, as long as no delay
\* is over.
\* @type: ($group, $group, $step, $work, $partition -> $waiting) => Bool;
HeldBack(g, h, s, w, history) ==
  s.action = "InstallAssignment" /\ s.response.error = "NONE" =>
    \A r \in Partitions, p \in w.prepared :
      history[r].worker # None /\ history[r].epoch <= p.epoch /\ IsThere(p.metadata, r) =>
        /\ h.target[r] \in {None, history[r].worker}
        /\ history[r].worker \in p.workers \cap Members(g) => h.target[r] = history[r].worker

\* W2: once the delay is over, the next target of its worker assigns all work:
\* lost work moves once, and does not wait again.
\* @type: ($group, $group, $step, $work, Str -> $assignor) => Bool;
LostOnce(g, h, s, w, before) ==
  s.action = "InstallAssignment" /\ s.response.error = "NONE" =>
    \A plan \in before[s.member].plan :
      DelayIsOver(before[s.member], plan) =>
        \A r \in Partitions : IsThere(plan.metadata, r) /\ There(plan) \subseteq Members(g) => h.target[r] # None

\* R8: every running worker is at the group epoch with its part of the target,
\* and all connectors and tasks run as long as a worker is there.
AllWorkRuns ==
  /\ \A m \in MemberIds :
       IF clients[m].up
       THEN HasConverged(group, m) /\ clients[m].epoch = group.epoch /\ clients[m].owned = TargetOf(group, m)
       ELSE m \notin Members(group)
  /\ Members(group) # {} =>
       \A r \in Partitions : IsThere(topics, r) => \E m \in MemberIds : r \in clients[m].owned

EventuallyAllWorkRuns == <>[]AllWorkRuns
=============================================================================
