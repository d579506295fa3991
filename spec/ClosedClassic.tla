---------------------------- MODULE ClosedClassic ---------------------------
(***************************************************************************)
(* The closed instance of classic groups: the coordinator with its         *)
(* members, the network and their faults around it.  Members are eager     *)
(* consumers (C3): a member gives up all of its partitions before it       *)
(* rejoins.                                                                *)
(*                                                                         *)
(* Faults, departures and changes are disturbances and use up a budget;    *)
(* recovery never does, and has the fairness.  C2: the coordinator may     *)
(* fail at any moment, and so before and after each of its records; the    *)
(* leader may fail or fail to assign; subscriptions and topics may change. *)
(*                                                                         *)
(* A request is handled in the step that sends it.  The answer, at once or *)
(* when the barrier opens, is in flight until the client receives it.  A   *)
(* client has one request in flight, and its next connection drops the     *)
(* messages of the last one (R9).                                          *)
(*                                                                         *)
(* A process that does not know its member id joins without one.  Here the *)
(* coordinator always creates the same id for that process, once it has    *)
(* forgotten the last one: no message can tell them apart.                 *)
(*                                                                         *)
(* Left out: static members (ClosedClassicStatic has them), and members    *)
(* that keep their partitions as they rejoin (C3).                         *)
(***************************************************************************)
EXTENDS ClassicCoordinator

CONSTANTS
  \* Number of disturbances.
  \* @type: Int;
  Budget,
  \* The topics, and how many partitions each has at the start.
  \* @type: Set(Str);
  Topics,
  \* @type: Str -> Int;
  InitialTopics,
  \* The protocols of each process, in its order.
  \* @type: Str -> Seq(Str);
  ProtocolsOf,
  \* Subscriptions that processes may have: at the start all of Topics.
  \* @type: Set(Set(Str));
  Subscriptions,
  \* Record steps?  A liveness model does not: they would be part of its state.
  \* @type: Bool;
  TrackSteps,
  \* May the coordinator fail over?
  \* @type: Bool;
  WithFailOver,
  \* Remember what the last disturbance was?
  \* @type: Bool;
  NameDisturbances

VARIABLES
  \* @type: $classicGroup;
  group,
  \* The number of partitions of each topic.
  \* @type: Str -> Int;
  topics,
  \* Have the topics changed since a leader looked at them last?
  \* @type: Bool;
  unseen,
  \* @type: Str -> $classicClient;
  clients,
  \* The response in flight to each process, if there is one.
  \* @type: Str -> Set($classicResponse);
  responses,
  \* Disturbances left.
  \* @type: Int;
  budget,
  \* History: the last disturbance, if C2 names it; else "".
  \* @type: Str;
  disturbed,
  \* The last step; not part of the state.
  \* @type: $classicStep;
  step

state == <<group, topics, unseen, clients, responses, budget, disturbed>>
vars == <<group, topics, unseen, clients, responses, budget, disturbed, step>>
view == state

\* @type: (Set(Str)) => $classicClient;
NewClassicClient(subscription) ==
  [up |-> TRUE, known |-> FALSE, phase |-> "join", generation |-> NoGeneration,
   subscription |-> subscription, owned |-> {}, leads |-> {}]

Init ==
  /\ group = NoClassicGroup
  /\ topics = InitialTopics
  /\ unseen = FALSE
  /\ clients = [m \in MemberIds |-> NewClassicClient(Topics)]
  /\ responses = [m \in MemberIds |-> {}]
  /\ budget = Budget
  /\ disturbed = ""
  /\ step = NoClassicStep

\* @type: ($classicStep) => Bool;
Record(s) == step' = IF TrackSteps THEN s ELSE NoClassicStep

\* @type: (Int) => Bool;
Disturb(n) == budget >= n /\ budget' = budget - n

\* @type: (Str) => Bool;
Name(what) == disturbed' = IF NameDisturbances THEN what ELSE ""

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* A step of the coordinator; a running member whose request waited has its
\* answer, and so has `from`, if its request was answered at once.
\* @type: ($handled, Set(Str)) => Bool;
CoordinatorStep(handled, from) ==
  \E h \in {handled} :
    /\ group' = h.group
    /\ Record(h.step)
    /\ responses' = [m \in MemberIds |->
         LET late == {a.response : a \in {b \in h.step.completed : b.member = m /\ clients[m].up}}
             own == IF m \in from /\ h.step.response.error # "" THEN {h.step.response} ELSE {}
         IN IF own # {} THEN own
            ELSE IF late # {} /\ m \notin from THEN late ELSE responses[m]]

\* Has `m` no message in flight?  A request that waits at the coordinator is in
\* flight.
\* @type: (Str) => Bool;
Idle(m) ==
  /\ clients[m].up /\ responses[m] = {}
  /\ clients[m].known \/ group.members[m].place = ""
  /\ ~group.members[m].joining /\ ~group.members[m].syncing

\* C1: a process joins, with its member id if it knows it.
SendJoin(m) ==
  /\ Idle(m) /\ clients[m].phase = "join"
  /\ LET request == [NoClassicRequest EXCEPT !.member = IF clients[m].known THEN m ELSE None,
                                             !.type = {"consumer"}, !.protocols = ProtocolsOf[m],
                                             !.subscription = clients[m].subscription]
     IN CoordinatorStep(JoinGroup(group, m, request), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed>>

\* The partitions that there are, of topics that some are subscribed to.
\* @type: (Set($joined)) => Set($partition);
Assignable(leads) ==
  {p \in Partitions : p[2] < topics[p[1]] /\ \E j \in leads : p[1] \in j.subscription}

\* C1, A4: a leader gives each partition to one member that subscribes to its
\* topic. Any such assignment is allowed, so that the result holds for every
\* assignor (C5).
\* @type: (Set($joined), $partition -> Str) => Bool;
LegalAssignment(leads, owner) ==
  \A p \in Partitions :
    IF p \in Assignable(leads) THEN \E j \in leads : j.member = owner[p] /\ p[1] \in j.subscription
    ELSE owner[p] = None

\* @type: (Set($joined), $partition -> Str) => (Str -> Set(Set($partition)));
AssignmentOf(leads, owner) ==
  [m \in MemberIds |-> IF \E j \in leads : j.member = m THEN {{p \in Partitions : owner[p] = m}} ELSE {}]

\* @type: (Str, Str -> Set(Set($partition))) => $classicRequest;
SyncRequestOf(m, assignments) ==
  [NoClassicRequest EXCEPT !.member = m, !.generation = clients[m].generation, !.type = {"consumer"},
                           !.assignments = assignments]

\* C1: a member asks for its assignment; the leader has computed the
\* assignment, from the current topics.
SendSync(m) ==
  /\ Idle(m) /\ clients[m].phase = "sync"
  /\ IF clients[m].leads = {}
     THEN /\ CoordinatorStep(SyncGroup(group, SyncRequestOf(m, [n \in MemberIds |-> {}])), {m})
          /\ UNCHANGED unseen
     ELSE /\ \E owner \in [Partitions -> MemberIds \cup {None}] :
               /\ LegalAssignment(clients[m].leads, owner)
               /\ CoordinatorStep(SyncGroup(group, SyncRequestOf(m, AssignmentOf(clients[m].leads, owner))), {m})
          /\ unseen' = FALSE
  /\ UNCHANGED <<topics, clients, budget, disturbed>>

\* C1.
SendHeartbeat(m) ==
  /\ Idle(m) /\ clients[m].phase = "stable"
  /\ CoordinatorStep(ClassicHeartbeat(group, [NoClassicRequest EXCEPT !.member = m,
                                                                      !.generation = clients[m].generation]), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed>>

\* Is there a process that knows this member id, or is about to learn it?
\* @type: (Str) => Bool;
Alive(m) == clients[m].up /\ (clients[m].known \/ responses[m] # {})

\* Timers that may expire without a disturbance: they remove no live process.
FreeJoinTimeout ==
  JoinTimerArmed(group)
  /\ (group.initial \/ \A m \in InGroup(group) : ~Alive(m) \/ group.members[m].joining)
FreeSyncTimeout == OwingSync(group) # {} /\ \A m \in OwingSync(group) : ~Alive(m)
FreeSessionTimeout(m) == ~Alive(m) /\ ClassicSessionArmed(group, m)

\* H8: the session of an id without a process expires sooner or later; the
\* session of a running process expires only as a disturbance.
SessionTimeout(m) ==
  /\ ClassicSessionArmed(group, m)
  /\ IF Alive(m) THEN Disturb(1) ELSE UNCHANGED budget
  /\ CoordinatorStep(ExpireClassic(group, m), {})
  /\ UNCHANGED <<topics, unseen, clients, disturbed>>

\* C1: the barrier's time-out removes a process that is there only as a
\* disturbance; the initial delay ends anyway.
JoinTimeout ==
  /\ JoinTimerArmed(group)
  /\ IF FreeJoinTimeout THEN UNCHANGED budget ELSE Disturb(1)
  /\ CoordinatorStep(ExpireJoin(group), {})
  /\ UNCHANGED <<topics, unseen, clients, disturbed>>

\* C1.
SyncTimeout ==
  /\ OwingSync(group) # {}
  /\ IF FreeSyncTimeout THEN UNCHANGED budget ELSE Disturb(1)
  /\ CoordinatorStep(ExpireSync(group), {})
  /\ UNCHANGED <<topics, unseen, clients, disturbed>>

\* C2: the four points at which the proposal lets a coordinator fail.
FailurePoint ==
  IF group.state = "PreparingRebalance" THEN "coordinator, before all have joined"
  ELSE IF group.state = "CompletingRebalance" /\ \E m \in MemberIds : responses[m] # {}
  THEN "coordinator, before all are told of the generation"
  ELSE IF group.state = "CompletingRebalance" /\ \E m \in MemberIds : group.members[m].syncing
  THEN "coordinator, before the assignment is in the log"
  ELSE IF group.state = "Stable" /\ \E m \in MemberIds : responses[m] # {} /\ clients[m].phase = "sync"
  THEN "coordinator, before all have their assignment" ELSE "coordinator"

\* C2: a new coordinator; requests that waited at the old one are lost.
FailOver ==
  /\ WithFailOver /\ ClassicExists(group)
  /\ Disturb(1) /\ Name(FailurePoint)
  /\ CoordinatorStep(ClassicEvent("FailOver", None, Same(ClassicAfterFailOver(group))), {})
  /\ UNCHANGED <<topics, unseen, clients>>

(***************************************************************************)
(* The members                                                             *)
(***************************************************************************)

\* @type: (Str, Str, $classicClient) => Bool;
ClientStep(action, m, client) ==
  /\ clients' = [clients EXCEPT ![m] = client]
  /\ Record([NoClassicStep EXCEPT !.action = action, !.member = m])

\* C3: everything is given up before the process rejoins.
\* @type: ($classicClient) => $classicClient;
Rejoining(client) ==
  [client EXCEPT !.phase = "join", !.generation = NoGeneration, !.owned = {}, !.leads = {}]

\* @type: ($classicClient, $classicResponse) => $classicClient;
Reaction(client, response) ==
  IF response.error = "MEMBER_ID_REQUIRED" THEN [client EXCEPT !.known = TRUE]
  ELSE IF response.error = "UNKNOWN_MEMBER_ID" THEN NewClassicClient(client.subscription)
  ELSE IF response.error # "NONE" THEN Rejoining(client)
  ELSE IF response.api = "JoinGroup"
  THEN [client EXCEPT !.phase = "sync", !.generation = response.generation, !.leads = response.members]
  ELSE IF response.api = "SyncGroup"
  THEN [client EXCEPT !.phase = "stable", !.owned = UNION response.assignment]
  ELSE client

ReceiveResponse(m) ==
  /\ \E response \in responses[m] : ClientStep("ReceiveResponse", m, Reaction(clients[m], response))
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, unseen, budget, disturbed>>

\* Is `m` a leader that has not seen the current topics?
MayNotice(m) == unseen /\ Idle(m) /\ clients[m].phase = "stable" /\ clients[m].leads # {}

\* C2: the leader sees that topics changed, and rejoins (erratum: it does not
\* resync), which makes all others rejoin.
NoticeTopics(m) ==
  /\ MayNotice(m)
  /\ ClientStep("NoticeTopics", m, Rejoining(clients[m]))
  /\ UNCHANGED <<group, topics, unseen, responses, budget, disturbed>>

\* C2: a topic of the group grows.
\* @type: ($partition) => Bool;
AddPartitions(p) ==
  /\ Disturb(1) /\ Name("topics")
  /\ 0 < topics[p[1]] /\ topics[p[1]] <= p[2]
  /\ topics' = [topics EXCEPT ![p[1]] = p[2] + 1]
  /\ unseen' = TRUE
  /\ Record([NoClassicStep EXCEPT !.action = "AddPartitions", !.topic = p[1], !.partitions = p[2] + 1])
  /\ UNCHANGED <<group, clients, responses>>

\* C2: a member subscribes to something else, and rejoins.
ChangeSubscription(m) ==
  /\ Disturb(1) /\ Name("subscription")
  /\ Idle(m) /\ clients[m].phase = "stable"
  /\ \E subscription \in Subscriptions \ {clients[m].subscription} :
       ClientStep("ChangeSubscription", m, [Rejoining(clients[m]) EXCEPT !.subscription = subscription])
  /\ UNCHANGED <<group, topics, unseen, responses>>

\* C2: the leader cannot compute an assignment; it joins again.
AssignmentFails(m) ==
  /\ Disturb(1) /\ Name("assignment")
  /\ Idle(m) /\ clients[m].phase = "sync" /\ clients[m].leads # {}
  /\ ClientStep("AssignmentFails", m, Rejoining(clients[m]))
  /\ UNCHANGED <<group, topics, unseen, responses>>

\* The process dies, and the answer for which it waits is lost.
Crash(m) ==
  /\ Disturb(1) /\ Name(IF clients[m].leads # {} THEN "leader" ELSE "follower")
  /\ clients[m].up
  /\ ClientStep("Crash", m, [NewClassicClient(clients[m].subscription) EXCEPT !.up = FALSE])
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, unseen>>

\* C1: a member leaves.
Leave(m) ==
  /\ Disturb(1)
  /\ Idle(m) /\ clients[m].known
  /\ CoordinatorStep(LeaveGroup(group, [NoClassicRequest EXCEPT !.member = m]), {})
  /\ clients' = [clients EXCEPT ![m] = [NewClassicClient(clients[m].subscription) EXCEPT !.up = FALSE]]
  /\ UNCHANGED <<topics, unseen, disturbed>>

Start(m) ==
  /\ ~clients[m].up
  /\ ClientStep("Start", m, NewClassicClient(clients[m].subscription))
  /\ UNCHANGED <<group, topics, unseen, responses, budget, disturbed>>

(***************************************************************************)
(* The network                                                             *)
(***************************************************************************)

\* An answer is lost: the process asks again, as a rejoin if it was a JoinGroup.
LoseResponse(m) ==
  /\ Disturb(1)
  /\ responses[m] # {}
  /\ ClientStep("LoseResponse", m, clients[m])
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, unseen, disturbed>>

(***************************************************************************)
(* The whole                                                               *)
(***************************************************************************)

Next ==
  \/ \E m \in MemberIds :
       \/ SendJoin(m) \/ SendSync(m) \/ SendHeartbeat(m) \/ ReceiveResponse(m)
       \/ NoticeTopics(m) \/ ChangeSubscription(m) \/ AssignmentFails(m)
       \/ SessionTimeout(m) \/ Crash(m) \/ Leave(m) \/ Start(m) \/ LoseResponse(m)
  \/ \E p \in Partitions : AddPartitions(p)
  \/ JoinTimeout
  \/ SyncTimeout
  \/ FailOver

Spec == Init /\ [][Next]_vars

\* R8: requests get through, and timers of processes that have gone expire.
\* Fairness of nothing else is assumed. Each is weak fairness of an action that
\* is enabled, and changes something, just where the guard before it holds: TLC
\* needs seconds a state to find that out.
Recovery(m) ==
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "join")) \/ []<><<SendJoin(m)>>_state
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "sync")) \/ []<><<SendSync(m)>>_state
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "stable")) \/ []<><<SendHeartbeat(m)>>_state
  /\ ([]<>(responses[m] = {})) \/ []<><<ReceiveResponse(m)>>_state
  /\ ([]<>~MayNotice(m)) \/ []<><<NoticeTopics(m)>>_state
  /\ ([]<>~FreeSessionTimeout(m)) \/ []<><<SessionTimeout(m)>>_state

FairSpec ==
  /\ Spec
  /\ \A m \in MemberIds : Recovery(m)
  /\ ([]<>~FreeJoinTimeout) \/ []<><<JoinTimeout>>_state
  /\ ([]<>~FreeSyncTimeout) \/ []<><<SyncTimeout>>_state

(***************************************************************************)
(* Properties of the members' view                                         *)
(***************************************************************************)

\* C1, C3: no two members own a partition in one generation.
NoDoubleOwnershipInAGeneration ==
  \A m \in MemberIds, n \in MemberIds :
    m # n /\ clients[m].generation = clients[n].generation => clients[m].owned \cap clients[n].owned = {}

\* R7: if a partition has two owners, one of them is a zombie: a process whose
\* member was removed, and that has not learned so.
\* @type: (Str) => Bool;
Zombie(m) == m \notin InGroup(group)

NoDoubleOwnership ==
  \A m \in MemberIds, n \in MemberIds :
    m # n /\ clients[m].owned \cap clients[n].owned # {} => Zombie(m) \/ Zombie(n)

\* R7 without the exemption: must fail.
NoDoubleOwnershipEver ==
  \A m \in MemberIds, n \in MemberIds : m # n => clients[m].owned \cap clients[n].owned = {}

\* C1: the partitions of an owner are those that its generation assigned to it:
\* two members with different assignments of one generation would not notice.
OwnedIsAssigned ==
  \A m \in MemberIds :
    m \in InGroup(group) /\ clients[m].generation = group.generation /\ group.state = "Stable" =>
      clients[m].owned \subseteq UNION group.members[m].assignment

\* C1: all running processes are in the group's generation, with their
\* subscription and their assignment; and all partitions are assigned.
ClassicConverged ==
  /\ \A m \in MemberIds :
       IF clients[m].up
       THEN /\ m \in InGroup(group)
            /\ clients[m].phase = "stable" /\ clients[m].generation = group.generation
            /\ group.members[m].subscription = clients[m].subscription
            /\ {clients[m].owned} = group.members[m].assignment
       ELSE m \notin InGroup(group)
  /\ UNION {clients[m].owned : m \in MemberIds} =
       {p \in Partitions : p[2] < topics[p[1]]
                           /\ \E m \in MemberIds : clients[m].up /\ p[1] \in clients[m].subscription}
  /\ group.state \in {"Stable", "Empty", "Dead"} /\ (group.state = "Stable" <=> \E m \in MemberIds : clients[m].up)

\* C2: whatever happened, the group becomes Stable once it stops.
EventuallyConverged == <>[]ClassicConverged
=============================================================================
