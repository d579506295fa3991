-------------------------- MODULE ClosedClassicStatic -------------------------
(***************************************************************************)
(* The closed instance of classic groups with static members (S1): a       *)
(* process that restarts with its instance id takes its place back, and no *)
(* other member has to rejoin.                                             *)
(*                                                                         *)
(* The coordinator makes a new member id whenever a static process joins   *)
(* without one.  So processes are named by member ids here, and those of   *)
(* one instance id are the incarnations of one consumer. One of them runs  *)
(* at the start; another may start after the first has ended, or, as a     *)
(* disturbance, beside it: the instance id is configured twice.            *)
(*                                                                         *)
(* A process that was replaced is fenced (FENCED_INSTANCE_ID), and ends.   *)
(* Until the error arrives, the process is a zombie that owns the same     *)
(* partitions in the same generation: other members are told apart by the  *)
(* generation (C1), these by the instance id alone.                        *)
(*                                                                         *)
(* Left out: a join whose answer is lost is not sent again before the      *)
(* session of the member id that it created expires.                       *)
(***************************************************************************)
EXTENDS ClosedClassic

CONSTANTS
  \* The instance id of each process, None for dynamic ones.
  \* @type: Str -> Str;
  InstanceOf,
  \* The processes that are up at the start.
  \* @type: Set(Str);
  UpFirst

StaticInit ==
  /\ group = NoClassicGroup
  /\ topics = InitialTopics
  /\ unseen = FALSE
  /\ clients = [m \in MemberIds |-> [NewClassicClient(Topics) EXCEPT !.up = m \in UpFirst]]
  /\ responses = [m \in MemberIds |-> {}]
  /\ budget = Budget
  /\ disturbed = ""
  /\ step = NoClassicStep

\* @type: (Str) => Set(Str);
InstanceField(m) == IF InstanceOf[m] = None THEN {} ELSE {InstanceOf[m]}

\* @type: (Str, Str) => Bool;
OneConsumer(m, n) == InstanceOf[m] # None /\ InstanceOf[m] = InstanceOf[n]

(***************************************************************************)
(* Requests: those of ClosedClassic, with the instance id                  *)
(***************************************************************************)

\* C1, S1.
StaticJoin(m) ==
  /\ Idle(m) /\ clients[m].phase = "join"
  /\ LET request == [NoClassicRequest EXCEPT !.member = IF clients[m].known THEN m ELSE None,
                                             !.instance = InstanceField(m), !.type = {"consumer"},
                                             !.protocols = ProtocolsOf[m],
                                             !.subscription = clients[m].subscription]
     IN CoordinatorStep(JoinGroup(group, m, request), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed>>

\* @type: (Str, Str -> Set(Set($partition))) => Bool;
SyncsWith(m, assignments) ==
  CoordinatorStep(SyncGroup(group, [SyncRequestOf(m, assignments) EXCEPT !.instance = InstanceField(m)]), {m})

\* Does `m` compute an assignment before its SyncGroup?
\* @type: (Str) => Bool;
Assigns(m) == clients[m].phase = "sync" /\ clients[m].leads # {}

\* C1, S1: a leader that took its place back assigns nothing.
StaticSync(m) ==
  /\ Idle(m) /\ clients[m].phase \in {"sync", "returned"}
  /\ IF Assigns(m)
     THEN /\ \E owner \in [Partitions -> MemberIds \cup {None}] :
               /\ LegalAssignment(clients[m].leads, owner)
               /\ SyncsWith(m, AssignmentOf(clients[m].leads, owner))
          /\ unseen' = FALSE
     ELSE /\ SyncsWith(m, [n \in MemberIds |-> {}])
          /\ UNCHANGED unseen
  /\ UNCHANGED <<topics, clients, budget, disturbed>>

\* C1, S2.
StaticHeartbeat(m) ==
  /\ Idle(m) /\ clients[m].phase = "stable"
  /\ CoordinatorStep(ClassicHeartbeat(group, [NoClassicRequest EXCEPT !.member = m, !.instance = InstanceField(m),
                                                                      !.generation = clients[m].generation]), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed>>

(***************************************************************************)
(* The processes                                                           *)
(***************************************************************************)

\* A process that is fenced ends.  A process that joined without a member id
\* learns its id, and perhaps that it leads but is to assign nothing.
\* @type: ($classicClient, $classicResponse) => $classicClient;
StaticReaction(client, response) ==
  LET joined == [Reaction(client, response) EXCEPT !.known = TRUE]
  IN IF response.error = "FENCED_INSTANCE_ID" THEN [NewClassicClient(client.subscription) EXCEPT !.up = FALSE]
     ELSE IF response.api = "JoinGroup" /\ response.error = "NONE"
     THEN IF response.skipAssignment THEN [joined EXCEPT !.phase = "returned"] ELSE joined
     ELSE Reaction(client, response)

StaticReceive(m) ==
  /\ \E response \in responses[m] : ClientStep("ReceiveResponse", m, StaticReaction(clients[m], response))
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, unseen, budget, disturbed>>

\* S1: a process starts; beside another of its instance id only as a disturbance.
StaticStart(m) ==
  /\ ~clients[m].up /\ group.members[m].place = ""
  /\ IF \E n \in MemberIds : clients[n].up /\ OneConsumer(m, n) THEN Disturb(1) ELSE UNCHANGED budget
  /\ ClientStep("Start", m, NewClassicClient(clients[m].subscription))
  /\ UNCHANGED <<group, topics, unseen, responses, disturbed>>

\* A process that joined without a member id is there while its request waits.
\* @type: (Str) => Bool;
Waiting(m) == clients[m].up /\ group.members[m].joining

\* H8: as in ClosedClassic.
FreeStaticTimeout(m) == ~Waiting(m) /\ FreeSessionTimeout(m)
StaticSessionTimeout(m) ==
  /\ ClassicSessionArmed(group, m)
  /\ IF FreeStaticTimeout(m) THEN UNCHANGED budget ELSE Disturb(1)
  /\ CoordinatorStep(ExpireClassic(group, m), {})
  /\ UNCHANGED <<topics, unseen, clients, disturbed>>

(***************************************************************************)
(* The whole                                                               *)
(***************************************************************************)

StaticNext ==
  \/ \E m \in MemberIds :
       \/ StaticJoin(m) \/ StaticSync(m) \/ StaticHeartbeat(m) \/ StaticReceive(m)
       \/ NoticeTopics(m) \/ ChangeSubscription(m) \/ AssignmentFails(m)
       \/ StaticSessionTimeout(m) \/ Crash(m) \/ StaticStart(m) \/ LoseResponse(m)
  \/ \E p \in Partitions : AddPartitions(p)
  \/ JoinTimeout
  \/ SyncTimeout
  \/ FailOver

StaticSpec == StaticInit /\ [][StaticNext]_vars

\* R8: as in ClosedClassic.
StaticRecovery(m) ==
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "join")) \/ []<><<StaticJoin(m)>>_state
  /\ ([]<>~(Idle(m) /\ clients[m].phase \in {"sync", "returned"})) \/ []<><<StaticSync(m)>>_state
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "stable")) \/ []<><<StaticHeartbeat(m)>>_state
  /\ ([]<>(responses[m] = {})) \/ []<><<StaticReceive(m)>>_state
  /\ ([]<>~MayNotice(m)) \/ []<><<NoticeTopics(m)>>_state
  /\ ([]<>~FreeStaticTimeout(m)) \/ []<><<StaticSessionTimeout(m)>>_state

FairStaticSpec ==
  /\ StaticSpec
  /\ \A m \in MemberIds : StaticRecovery(m)
  /\ ([]<>~FreeJoinTimeout) \/ []<><<JoinTimeout>>_state
  /\ ([]<>~FreeSyncTimeout) \/ []<><<SyncTimeout>>_state

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* S1, R7: two processes that own a partition in one generation are incarnations
\* of the same consumer, and one of the two was replaced and has not heard of
\* that.
OnlyReplacedOwnTwice ==
  \A m \in MemberIds, n \in MemberIds :
    m # n /\ clients[m].generation = clients[n].generation /\ clients[m].owned \cap clients[n].owned # {} =>
      OneConsumer(m, n) /\ (m \notin InGroup(group) \/ n \notin InGroup(group))

\* S1: a process that takes its place back in a Stable group has its old
\* assignment, and no member has to rejoin.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
ReturnKeepsItsPlace(g, h, s) ==
  s.action = "JoinGroup" /\ s.branch = "return" =>
    /\ h.state = "Stable" /\ h.generation = g.generation /\ s.completed = {}
    /\ \E n \in InGroup(g) : /\ OneConsumer(n, s.member)
                             /\ h.members[s.member].assignment = g.members[n].assignment
                             /\ InGroup(h) = (InGroup(g) \ {n}) \cup {s.member}
    /\ \A m \in InGroup(g) \cap InGroup(h) : h.members[m] = g.members[m]
    /\ h.leader \in InGroup(h)
=============================================================================
