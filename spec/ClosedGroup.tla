----------------------------- MODULE ClosedGroup ----------------------------
(***************************************************************************)
(* The closed instance: the coordinator with its members, the network and  *)
(* their faults around it.  The partitions that each member really owns are*)
(* modelled, so that no double ownership (R7) and convergence (R8) can be  *)
(* stated where they matter: at the consumers.                             *)
(*                                                                         *)
(* Faults, departures and changes are disturbances and take from a budget; *)
(* recovery never does, and carries the fairness.                          *)
(*                                                                         *)
(* R9, the network that the protocol relies on: a client process has one   *)
(* request in flight, and its next connection drops what the last one still*)
(* carried.  A request of a process that crashed or left may still arrive, *)
(* at any time and more than once.  NetworkDropsOldRequests = FALSE takes  *)
(* the assumption away: then requests that a living process gave up on may *)
(* arrive late, too.                                                       *)
(*                                                                         *)
(* A request is handled in the step that sends it: it says what the client *)
(* knows, and whatever the client does before its answer arrives commutes  *)
(* with the handling.  The answer is in flight until the client takes it.  *)
(*                                                                         *)
(* A static client (S1) is several processes with one instance id, each    *)
(* with a member id of its own: one ends, another starts in its place.     *)
(*                                                                         *)
(* Left out: member ids that the coordinator makes (the open instance has  *)
(* them); a dynamic client returns under its member id.                    *)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
  \* Number of disturbances.
  \* @type: Int;
  Budget,
  \* R9 (see above).
  \* @type: Bool;
  NetworkDropsOldRequests,
  \* The partitions that each topic may have at the start.
  \* @type: Set(Str -> Int);
  InitialTopics,
  \* Subscriptions of clients: at the start all of Topics.
  \* @type: Set(Set(Str));
  Subscriptions,
  \* Record steps?  A liveness model does not: they would be part of its state.
  \* @type: Bool;
  TrackSteps,
  \* The instance id of each process, None for a dynamic member (S1).
  \* @type: Str -> Str;
  InstanceOf,
  \* Does a member report its owned partitions during a revocation (H7)?
  \* @type: Bool;
  ReportsWhileRevoking,
  \* May the coordinator fail over (P2)?
  \* @type: Bool;
  WithFailOver

VARIABLES
  \* @type: $group;
  group,
  \* @type: Str -> Int;
  topics,
  \* Each client process: is it up, what does it know and own.
  \* @type: Str -> $client;
  clients,
  \* The response in flight to each client, if there is one.
  \* @type: Str -> Set($response);
  responses,
  \* Requests that may still arrive although no client waits for the answer.
  \* @type: Set($request);
  late,
  \* R7: clients that do not know that their incarnation was removed or replaced.
  \* @type: Set(Str);
  zombies,
  \* Disturbances left.
  \* @type: Int;
  budget,
  \* The last step; not part of the state.
  \* @type: $step;
  step

state == <<group, topics, clients, responses, late, zombies, budget>>
vars == <<group, topics, clients, responses, late, zombies, budget, step>>
view == state

\* @type: Str -> Str;
AllDynamic == [m \in MemberIds |-> None]

\* Do two processes run as the same static member?
\* @type: (Str, Str) => Bool;
SameInstance(m, n) == m # n /\ InstanceOf[m] = InstanceOf[n] /\ InstanceOf[m] # None

\* @type: (Set(Str)) => $client;
NewClient(subscription) ==
  [up |-> TRUE, epoch |-> 0, owned |-> {}, told |-> {}, subscription |-> subscription, report |-> TRUE]

Init ==
  /\ group = NoGroup
  /\ topics \in InitialTopics
  /\ \E up \in SUBSET MemberIds :
       /\ \A m \in MemberIds : m \in up <=> \A n \in up : ~SameInstance(m, n)
       /\ clients = [m \in MemberIds |-> [NewClient({TopicName[t] : t \in Topics}) EXCEPT !.up = m \in up]]
  /\ responses = [m \in MemberIds |-> {}]
  /\ late = {}
  /\ zombies = {}
  /\ budget = Budget
  /\ step = NoStep

\* @type: ($step) => Bool;
Record(s) == step' = IF TrackSteps THEN s ELSE NoStep

\* @type: (Int) => Bool;
Disturb(n) == budget >= n /\ budget' = budget - n

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* The clients whose incarnation ended in a step of the coordinator.
\* @type: ($group, $group, $step) => Set(Str);
Ended(g, h, s) ==
  {m \in Members(g) :
     \/ m \notin Members(h)
     \/ IsAway(h, m) /\ ~IsAway(g, m)
     \/ s.action = "Return" /\ s.member = m
     \/ s.action = "Rejoin" /\ s.member = m /\ Dialect.RejoinOfLiveMember = "replaces"}

\* A step of the coordinator, and the clients that become zombies by that step;
\* not the sender: it starts a new incarnation by a join, or leaves.
\* @type: ($group, $step, Set(Str)) => Bool;
CoordinatorStep(next, s, asked) ==
  /\ group' = next
  /\ zombies' = (zombies \cup {m \in Ended(group, next, s) : clients[m].up}) \ asked
  /\ Record(s)

\* The coordinator handles a request, of the living process `from` or late;
\* only the former gets the response, unless it leaves.
\* @type: ($request, Set(Str)) => Bool;
HandleRequest(request, from) ==
  \E updated \in {UpdateMember(group, topics, request.member, request)} :
  \E now \in ComputesNow(updated.kind, updated.group) :
    LET Answer(installed) ==
          \E handled \in {Handle(group, request.member, request, updated, installed)} :
            /\ CoordinatorStep(handled.group, handled.step, IF request.epoch <= 0 THEN from ELSE {})
            /\ responses' = [m \in MemberIds |-> IF m \in from /\ request.epoch >= 0
                                                 THEN {handled.step.response} ELSE responses[m]]
    IN UpdateTarget(updated.group, now, Answer)

\* H7: full on join, after an error or a lost answer, and when a field changed;
\* else a keep-alive.  Reporting owned partitions during a revocation is safe,
\* except across fail-overs: the new coordinator does not know the assignment
\* that was sent (no record has it), and may take the report for the
\* acknowledgement of another revocation.
\* @type: (Str, $client) => $request;
RequestOf(m, client) ==
  [member |-> m, epoch |-> client.epoch,
   instance |-> IF client.report /\ InstanceOf[m] # None THEN {InstanceOf[m]} ELSE {},
   owned |-> IF client.report /\ (ReportsWhileRevoking \/ client.owned \subseteq client.told)
             THEN {client.owned} ELSE {},
   subscription |-> IF client.report THEN {client.subscription} ELSE {},
   regex |-> {}, assignor |-> {}]

\* Where an assignment is sent once, the answer to a keep-alive must not count
\* as that to a report that became due meanwhile: the client notes each report.
NotesReports == Dialect.AssignmentSent = "on-change"

\* A heartbeat or a join arrives (R9: the client has nothing else in flight).
SendRequest(m) ==
  /\ clients[m].up /\ responses[m] = {}
  /\ HandleRequest(RequestOf(m, clients[m]), {m})
  /\ clients' = [clients EXCEPT ![m].report = @ /\ ~NotesReports]
  /\ UNCHANGED <<topics, late, budget>>

\* A request arrives late, or (a disturbance) twice; its answer is not awaited.
ReceiveLate(m) ==
  /\ \E request \in late :
       /\ request.member = m
       /\ \/ late' = late \ {request} /\ UNCHANGED budget
          \/ Disturb(1) /\ UNCHANGED late
       /\ HandleRequest(request, {})
  /\ UNCHANGED <<topics, clients>>

\* @type: ($group, Str, $step) => Bool;
Event(changed, kind, s) ==
  \E now \in ComputesNow(kind, changed) :
    LET Install(installed) == CoordinatorStep(installed, s, {})
    IN UpdateTarget(changed, now, Install)

\* H8, R4: the timers of a client that has gone expire sooner or later; others
\* expire only as a disturbance.
SessionTimeout(m) ==
  /\ SessionTimerArmed(group, m)
  /\ IF clients[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ Event(RemoveMember(group, topics, m), "timeout", EventStep("SessionTimeout", m, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late>>

\* R4.
RebalanceTimeout(m) ==
  /\ RebalanceTimerArmed(group, m)
  /\ IF clients[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ Event(RemoveMember(group, topics, m), "timeout", EventStep("RebalanceTimeout", m, "", 0))
  /\ UNCHANGED <<topics, clients, responses, late>>

\* @type: (Str, Str, Int) => Bool;
ChangeTopic(action, t, partitions) ==
  LET changed == [topics EXCEPT ![t] = partitions] IN
  /\ Disturb(1)
  /\ topics' = changed
  /\ Event(NoticeTopics(group, changed), "topics", EventStep(action, None, t, partitions))
  /\ UNCHANGED <<clients, responses, late>>

\* E1: a topic appears or grows, with p as its last partition, or is deleted
\* for good.
\* @type: ($partition) => Bool;
CreateTopic(p) ==
  MayBeCreated(topics, p[1]) /\ ChangeTopic("CreateTopic", p[1], p[2] + 1)

\* @type: ($partition) => Bool;
AddPartitions(p) ==
  0 < topics[p[1]] /\ topics[p[1]] <= p[2] /\ ChangeTopic("AddPartitions", p[1], p[2] + 1)

\* E1.
DeleteTopic(t) ==
  topics[t] > 0 /\ ChangeTopic("DeleteTopic", t, -1)

\* P2: a new coordinator loads the log; the clients do not notice.  Records of
\* answered requests are in the log; a request without records in the log is a
\* request that was lost (LoseRequest).
FailOver ==
  /\ WithFailOver /\ Exists(group)
  /\ Disturb(1)
  /\ LET Install(installed) ==
           CoordinatorStep(DeriveRevocations(installed), EventStep("FailOver", None, "", 0), {})
     IN \E loaded \in {NoticeTopics(AfterFailOver(group), topics)} :
        \E now \in ComputesNow("failover", loaded) : UpdateTarget(loaded, now, Install)
  /\ UNCHANGED <<topics, clients, responses, late>>

\* E5: deleted long after the group became empty: no old request is on the way,
\* and no client takes itself for a member (epochs start again, so both would
\* be mistaken for parts of the next group).
DeleteGroup ==
  /\ Disturb(1)
  /\ GroupState(group) = "Empty"
  /\ late = {} /\ \A m \in MemberIds : clients[m].epoch = 0 /\ responses[m] = {}
  /\ CoordinatorStep(NoGroup, EventStep("DeleteGroup", None, "", 0), {})
  /\ UNCHANGED <<topics, clients, responses, late>>

(***************************************************************************)
(* The members                                                             *)
(***************************************************************************)

\* @type: (Str, Str, $client) => Bool;
ClientStep(action, m, client) ==
  /\ clients' = [clients EXCEPT ![m] = client]
  /\ Record(EventStep(action, m, "", 0))

\* The process has ended: nothing is consumed any more.
\* @type: ($client) => $client;
EndedClient(client) == [NewClient(client.subscription) EXCEPT !.up = FALSE]

\* KIP-848 "Response Handling": take over the epoch; revoke before anything
\* else (K2), or use new partitions at once.  Fenced or unknown: abandon all
\* partitions and rejoin (K1).  An instance id in use, or taken over, is fatal
\* (S2).
\* @type: ($client, $response) => $client;
Reaction(client, response) ==
  IF response.error \in {"UNRELEASED_INSTANCE_ID", "FENCED_INSTANCE_ID"} THEN EndedClient(client)
  ELSE IF response.error # "NONE" THEN NewClient(client.subscription)
  ELSE LET told == IF response.assignment = {} THEN client.told
                   ELSE UNION {a.assigned : a \in response.assignment}
           mustRevoke == ~(client.owned \subseteq told)
       IN [client EXCEPT !.epoch = response.epoch,
                         !.told = told,
                         !.owned = IF mustRevoke THEN client.owned ELSE told,
                         !.report = (response.assignment # {} /\ ~mustRevoke)
                                    \/ (NotesReports /\ client.report)]

\* The answer arrives.  An error response tells a removed client that it was removed.
ReceiveResponse(m) ==
  /\ \E response \in responses[m] :
       /\ ClientStep("ReceiveResponse", m, Reaction(clients[m], response))
       /\ zombies' = IF response.error = "NONE" THEN zombies ELSE zombies \ {m}
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, late, budget>>

\* K2: the revoked partitions are given up; the next heartbeat says so.
FinishRevocation(m) ==
  /\ clients[m].up /\ ~(clients[m].owned \subseteq clients[m].told)
  /\ ClientStep("FinishRevocation", m, [clients[m] EXCEPT !.owned = clients[m].told, !.report = TRUE])
  /\ UNCHANGED <<group, topics, responses, late, zombies, budget>>

\* E1: the member changes its subscription, and reports that next time.  Not
\* while an answer is on the way: the change commutes with receiving the
\* answer, and that answer must not count as an answer to the new subscription.
ChangeSubscription(m) ==
  /\ Disturb(1)
  /\ clients[m].up /\ responses[m] = {}
  /\ \E subscription \in Subscriptions \ {clients[m].subscription} :
       ClientStep("ChangeSubscription", m,
                  [clients[m] EXCEPT !.subscription = subscription, !.report = TRUE])
  /\ UNCHANGED <<group, topics, responses, late, zombies>>

\* The process ends: nothing is consumed any more, the connection is gone.
\* @type: (Str) => Bool;
ProcessEnds(m) ==
  clients' = [clients EXCEPT ![m] = EndedClient(clients[m])]

\* A disturbance: the process dies; a request under way is lost.
Crash(m) ==
  /\ Disturb(1)
  /\ clients[m].up
  /\ ProcessEnds(m)
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ zombies' = zombies \ {m}
  /\ Record(EventStep("Crash", m, "", 0))
  /\ UNCHANGED <<group, topics, late>>

\* @type: (Str) => $request;
LeaveRequest(m) == [NoRequest EXCEPT !.member = m, !.epoch = -1]

\* @type: (Str) => $request;
TemporaryLeaveRequest(m) ==
  [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = {InstanceOf[m]}]

\* Two disturbances: the process dies or leaves, and its last request, of any
\* kind, is on the way still.
CrashSending(m) ==
  /\ Disturb(2)
  /\ clients[m].up /\ responses[m] = {}
  /\ ProcessEnds(m)
  /\ \/ late' = late \cup {RequestOf(m, clients[m])}
     \/ clients[m].epoch > 0 /\ late' = late \cup {LeaveRequest(m)}
     \/ clients[m].epoch > 0 /\ InstanceOf[m] # None /\ late' = late \cup {TemporaryLeaveRequest(m)}
  /\ zombies' = zombies \ {m}
  /\ Record(EventStep("CrashSending", m, "", 0))
  /\ UNCHANGED <<group, topics, responses>>

\* H2: the member gives up its partitions, says so, and ends.
LeaveGroup(m) ==
  /\ Disturb(1)
  /\ clients[m].up /\ clients[m].epoch > 0 /\ responses[m] = {}
  /\ HandleRequest(LeaveRequest(m), {m})
  /\ ProcessEnds(m)
  /\ UNCHANGED <<topics, late>>

\* H2, S1: a static member leaves for a while.
LeaveGroupTemporarily(m) ==
  /\ Disturb(1)
  /\ InstanceOf[m] # None
  /\ clients[m].up /\ clients[m].epoch > 0 /\ responses[m] = {}
  /\ HandleRequest(TemporaryLeaveRequest(m), {m})
  /\ ProcessEnds(m)
  /\ UNCHANGED <<topics, late>>

\* A client that crashed or left may return.  A second process of a static
\* member beside a first is a disturbance (S2).  A process of a static member
\* has a member id that no message has: the id of an ended process is used
\* again only when none of its messages is on the way.
Start(m) ==
  /\ ~clients[m].up
  /\ InstanceOf[m] # None => \A request \in late : request.member # m
  /\ IF \E n \in MemberIds : SameInstance(m, n) /\ clients[n].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ ClientStep("Start", m, NewClient(clients[m].subscription))
  /\ UNCHANGED <<group, topics, responses, late, zombies>>

(***************************************************************************)
(* The network                                                             *)
(***************************************************************************)

\* The client waits in vain, and sends all fields next time (H7).
\* @type: (Str, Str) => Bool;
GiveUp(action, m) ==
  /\ Disturb(1)
  /\ ClientStep(action, m, [clients[m] EXCEPT !.report = TRUE])
  /\ UNCHANGED <<group, topics, zombies>>

\* A request is lost, or (without R9) so late that it is given up.
LoseRequest(m) ==
  /\ clients[m].up /\ responses[m] = {}
  /\ GiveUp("LoseRequest", m)
  /\ \/ UNCHANGED late
     \/ ~NetworkDropsOldRequests /\ late' = late \cup {RequestOf(m, clients[m])}
  /\ UNCHANGED responses

\* H6: the answer is lost; the coordinator has moved on.
LoseResponse(m) ==
  /\ responses[m] # {}
  /\ GiveUp("LoseResponse", m)
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED late

(***************************************************************************)
(* The whole                                                               *)
(***************************************************************************)

Next ==
  \/ \E m \in MemberIds :
       \/ SendRequest(m) \/ ReceiveResponse(m)
       \/ FinishRevocation(m) \/ ChangeSubscription(m)
       \/ SessionTimeout(m) \/ RebalanceTimeout(m)
       \/ Crash(m) \/ CrashSending(m) \/ LeaveGroup(m) \/ LeaveGroupTemporarily(m) \/ Start(m)
       \/ LoseRequest(m) \/ LoseResponse(m) \/ ReceiveLate(m)
  \/ \E p \in Partitions : CreateTopic(p) \/ AddPartitions(p)
  \/ \E t \in Topics : DeleteTopic(t)
  \/ DeleteGroup
  \/ FailOver

Spec == Init /\ [][Next]_vars

\* R8: heartbeats get through, revocations end, and the session of a client
\* that has gone expires.  No other fairness: of disturbances or late messages.
Recovery(m) ==
  /\ WF_state(SendRequest(m))
  /\ WF_state(ReceiveResponse(m))
  /\ WF_state(FinishRevocation(m))
  /\ WF_state(~clients[m].up /\ SessionTimeout(m))

FairSpec == Spec /\ \A m \in MemberIds : Recovery(m)

(***************************************************************************)
(* Properties of the members' view                                         *)
(***************************************************************************)

\* @type: (Str, Str) => Bool;
BothOwn(m, n) == m # n /\ clients[m].owned \cap clients[n].owned # {}

\* R7, members' view: if a partition has two owners, one of them is a zombie.
NoDoubleOwnership ==
  \A m \in MemberIds, n \in MemberIds : BothOwn(m, n) => m \in zombies \/ n \in zombies

\* R7 without the exemption: must fail.
NoDoubleOwnershipEver ==
  \A m \in MemberIds, n \in MemberIds : ~BothOwn(m, n)

\* The coordinator knows at least what a living incarnation owns.
OwnedIsHeld ==
  \A m \in MemberIds : m \notin zombies => clients[m].owned \subseteq Held(group, m)

\* R8: every client that is up is in the group, with its subscription, at its
\* epoch, with its target.
Converged ==
  /\ \A m \in MemberIds :
       IF clients[m].up
       THEN /\ HasConverged(group, m)
            /\ clients[m].epoch = group.epoch
            /\ clients[m].owned = TargetOf(group, m)
            /\ group.members[m].subscription = clients[m].subscription
       ELSE m \notin Members(group)
  /\ GroupState(group) \in {"Stable", "Empty", "Dead"}

EventuallyConverged == <>[]Converged
=============================================================================
