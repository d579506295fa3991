------------------------ MODULE ClosedKafkaMigration ------------------------
(***************************************************************************)
(* The closed instance of Kafka's online migration: KafkaMigration's       *)
(* coordinator, with its classic groups in full, and processes of either   *)
(* protocol, eager or cooperative, the network and their faults.           *)
(*                                                                         *)
(* The processes are those of ClosedMigration. Here a process of the       *)
(* classic protocol also asks for its member id, and the leader of a       *)
(* generation assigns: a partition that a cooperative member has not given *)
(* up is assigned to no other member (C3).  A request that Kafka never     *)
(* answers is given up by its process, which joins again.                  *)
(*                                                                         *)
(* Left out: what KafkaMigration leaves out and excludes, static members,  *)
(* late requests, and the deletion of the group.                           *)
(***************************************************************************)
EXTENDS KafkaMigration

CONSTANTS
  \* Number of disturbances.
  \* @type: Int;
  Budget,
  \* Processes that give up everything before they rejoin; the others are
  \* cooperative.
  \* @type: Set(Str);
  Eager

(*
  A process.  `known` says that a process of the classic protocol has its member
  id; its `stage` is "rejoin", "waiting", "sync", "syncing", "stable" or
  "revoke", and `leads` are the members to which a leader assigns partitions.
  `report` says that a process of the consumer protocol sends all fields with
  its next heartbeat (H7).
  @typeAlias: kafkaProcess = {
    up: Bool, protocol: Str, known: Bool, epoch: Int, owned: Set($partition), told: Set($partition),
    stage: Str, leads: Set($joined), report: Bool
  };
  An answer on the way, of either protocol.
  @typeAlias: kafkaReply = {classic: Set($classicResponse), consumer: Set($response)};
*)
ClosedKafkaMigration_aliases == TRUE

VARIABLES
  \* @type: Str -> $kafkaProcess;
  processes,
  \* The answer in flight to each process.
  \* @type: Str -> Set($kafkaReply);
  replies,
  \* Zombies: processes that have not learned that their member was removed
  \* (R7).
  \* @type: Set(Str);
  zombies,
  \* Disturbances left.
  \* @type: Int;
  budget

closedVars == <<kafkaVars, processes, replies, zombies, budget>>
closedView == <<kafkaView, processes, replies, zombies, budget>>

\* @type: (Str) => $kafkaProcess;
NewProcess(protocol) ==
  [up |-> TRUE, protocol |-> protocol, known |-> FALSE,
   epoch |-> IF protocol = "classic" THEN NoGeneration ELSE 0,
   owned |-> {}, told |-> {}, stage |-> "rejoin", leads |-> {}, report |-> TRUE]

\* A stable classic group.
ClosedInit ==
  /\ KafkaInit
  /\ processes = [m \in MemberIds |->
       LET there == m \in Classic!InGroup(classic)
           owned == AssignedIn(classic, m)
       IN [NewProcess("classic") EXCEPT !.up = there, !.known = there, !.epoch = classic.generation,
                                        !.stage = "stable", !.owned = owned, !.told = owned]]
  /\ replies = [m \in MemberIds |-> {}]
  /\ zombies = {}
  /\ budget = Budget

\* @type: (Int) => Bool;
Disturb(n) == budget >= n /\ budget' = budget - n

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* Member ids of a group of either kind.
\* @type: ($group, $classicGroup) => Set(Str);
MembersOf(g, c) == Members(g) \cup Classic!InGroup(c)

\* The answers of the last step: to its own request, of the process `from`, and
\* to requests that waited.
\* @type: (Set(Str), Str) => Set($kafkaReply);
AnswerTo(from, m) ==
  LET ToConsumer == IF m \in from /\ step'.response.error # ""
                    THEN {[classic |-> {}, consumer |-> {step'.response}]} ELSE {}
      ToClassic == IF m \in from /\ classicStep'.response.error # ""
                   THEN {[classic |-> {classicStep'.response}, consumer |-> {}]} ELSE {}
      Waited == {[classic |-> {a.response}, consumer |-> {}] :
                   a \in {b \in classicStep'.completed : b.member = m /\ processes'[m].up
                                                         /\ processes'[m].stage \in {"waiting", "syncing"}}}
  IN IF m \in from /\ processes'[m].protocol = "consumer" THEN ToConsumer
     ELSE IF ToClassic # {} THEN ToClassic ELSE Waited

\* A step of the member's process alone.
\* @type: (Str, Str) => Bool;
ClientStep(action, m) ==
  /\ step' = EventStep(action, m, "", 0) /\ classicStep' = NoRequestOf(action, m) /\ converted' = NoGroup
  /\ UNCHANGED kafkaView

\* The answers and zombies after a step of the coordinator; the processes `asked`
\* learn by their answer whether they are members.
\* @type: (Set(Str), Set(Str)) => Bool;
CoordinatorStep(from, asked) ==
  /\ Bearable
  /\ replies' = [m \in MemberIds |-> IF AnswerTo(from, m) # {} THEN AnswerTo(from, m) ELSE replies[m]]
  /\ zombies' = (zombies \cup {m \in MembersOf(consumer, classic) \ MembersOf(consumer', classic') : processes[m].up})
                  \ asked

(***************************************************************************)
(* Processes of the classic protocol                                       *)
(***************************************************************************)

\* @type: (Str, Str) => Bool;
IsAt(m, stage) == processes[m].up /\ processes[m].protocol = "classic" /\ processes[m].stage = stage /\ replies[m] = {}

\* @type: (Str, Str) => Bool;
Staged(m, stage) == processes' = [processes EXCEPT ![m].stage = stage]

\* A new member id belongs to no member, and is not in the log.
\* @type: (Str) => Bool;
IsNewId(m) ==
  /\ classic.members[m].place = "" /\ m \notin Members(consumer)
  /\ \A s \in classic.saved : ~s.members[m].there

\* C1, M2.
SendJoin(m) ==
  LET process == processes[m]
      request == [Classic!NoClassicRequest EXCEPT
                    !.member = IF process.known THEN m ELSE None, !.type = {"consumer"},
                    !.protocols = CHOOSE list \in ProtocolLists : TRUE,
                    !.subscription = SubscriptionText(Names, process.owned, process.epoch)]
  IN /\ IsAt(m, "rejoin")
     /\ IF process.known THEN ~(Exists(consumer) /\ Members(consumer) = {}) ELSE IsNewId(m)
     /\ Staged(m, "waiting")
     /\ KafkaTakeJoin(m, request)
     /\ CoordinatorStep({m}, IF process.epoch = NoGeneration THEN {m} ELSE {})
     /\ UNCHANGED budget

\* C3: assignments of a leader: each partition to a member, but no partition that
\* another member still claims.
\* @type: (Set($joined)) => Set(Str -> Set(Set($partition)));
MayAssign(leads) ==
  LET there == {j.member : j \in leads}
      Claimants(p) == {j.member : j \in {k \in leads : p \in ClaimedIn(k.subscription)}}
      Given(owner, m) == {p \in Partitions : owner[p] = m /\ Claimants(p) \ {m} = {}}
  IN {[m \in MemberIds |-> IF m \in there THEN {Given(owner, m)} ELSE {}] : owner \in [Partitions -> there]}

\* M2, C1.
SendSync(m) ==
  LET process == processes[m]
      request == [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = process.epoch]
      named == [request EXCEPT !.type = {"consumer"}, !.protocol = {words[m].protocols[1]}]
  IN /\ IsAt(m, "sync")
     /\ Staged(m, "syncing")
     /\ IF Exists(consumer) THEN KafkaSyncMixed(m, IF phase[m] = "" THEN request ELSE named)
        ELSE \E assignments \in IF process.leads = {} THEN {request.assignments} ELSE MayAssign(process.leads) :
               KafkaClassic(classic, Classic!SyncGroup(classic, [request EXCEPT !.assignments = assignments]))
     /\ CoordinatorStep({m}, {})
     /\ UNCHANGED budget

\* Reaction of a process of the classic protocol to an answer.
\* @type: (Str, $kafkaProcess, $classicResponse) => $kafkaProcess;
ClassicReaction(m, process, response) ==
  IF response.error = "MEMBER_ID_REQUIRED" THEN [process EXCEPT !.known = TRUE, !.stage = "rejoin"]
  ELSE IF response.error = "REBALANCE_IN_PROGRESS"
  THEN [process EXCEPT !.stage = "rejoin", !.owned = IF m \in Eager THEN {} ELSE process.owned]
  ELSE IF response.error # "NONE"
  THEN [NewProcess("classic") EXCEPT !.known = response.error = "ILLEGAL_GENERATION"]
  ELSE IF response.api = "JoinGroup"
  THEN [process EXCEPT !.epoch = response.generation, !.stage = "sync", !.leads = response.members]
  ELSE LET told == UNION response.assignment
           revokes == ~(process.owned \subseteq told)
       IN [process EXCEPT !.told = told, !.owned = IF revokes THEN process.owned ELSE told, !.leads = {},
                          !.stage = IF revokes THEN "revoke" ELSE "stable"]

\* M2, H8: a Heartbeat that tells something, with its answer.
LearnRebalance(m) ==
  LET request == [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = processes[m].epoch] IN
  /\ IsAt(m, "stable")
  /\ IF Exists(consumer) THEN KafkaHeartbeatMixed(m, request)
     ELSE KafkaClassic(classic, Classic!ClassicHeartbeat(classic, request))
  /\ classicStep'.response.error # "NONE"
  /\ processes' = [processes EXCEPT ![m] = ClassicReaction(m, @, classicStep'.response)]
  /\ CoordinatorStep({}, IF classicStep'.response.error = "REBALANCE_IN_PROGRESS" THEN {} ELSE {m})
  /\ UNCHANGED budget

\* Kafka answers some requests never: the process joins again.
GiveUp(m) ==
  /\ IsAt(m, "waiting") \/ IsAt(m, "syncing")
  /\ ~(classic.members[m].joining \/ classic.members[m].syncing)
  /\ Staged(m, "rejoin")
  /\ ClientStep("GiveUp", m)
  /\ UNCHANGED <<replies, zombies, budget>>

(***************************************************************************)
(* Processes of the consumer protocol                                      *)
(***************************************************************************)

\* M1: a join converts a classic group.
SendHeartbeat(m) ==
  LET process == processes[m] IN
  /\ process.up /\ process.protocol = "consumer" /\ replies[m] = {}
  /\ KafkaConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = process.epoch,
                                               !.owned = IF process.report THEN {process.owned} ELSE {},
                                               !.subscription = IF process.report THEN {Names} ELSE {}])
  /\ processes' = [processes EXCEPT ![m].report = FALSE]
  /\ UNCHANGED budget
  /\ CoordinatorStep({m}, IF process.epoch = 0 THEN {m} ELSE {})

\* A revocation that ends while an answer is on the way is reported by the next
\* heartbeat.
\* @type: ($kafkaProcess, $response) => $kafkaProcess;
ConsumerReaction(process, response) ==
  IF response.error # "NONE" THEN NewProcess("consumer")
  ELSE LET told == IF response.assignment = {} THEN process.told ELSE UNION {a.assigned : a \in response.assignment}
           revokes == ~(process.owned \subseteq told)
       IN [process EXCEPT !.epoch = response.epoch, !.told = told,
                          !.owned = IF revokes THEN process.owned ELSE told,
                          !.report = process.report \/ (response.assignment # {} /\ ~revokes)]

(***************************************************************************)
(* Both                                                                    *)
(***************************************************************************)

\* The answer arrives.  An error response tells a removed client that it was removed.
ReceiveResponse(m) ==
  /\ \E reply \in replies[m] :
       LET errors == {r.error : r \in reply.classic} \cup {r.error : r \in reply.consumer} IN
       /\ processes' = [processes EXCEPT ![m] =
            IF reply.classic # {} THEN ClassicReaction(m, @, CHOOSE r \in reply.classic : TRUE)
            ELSE ConsumerReaction(@, CHOOSE r \in reply.consumer : TRUE)]
       /\ zombies' = IF errors \subseteq {"NONE", "REBALANCE_IN_PROGRESS"} THEN zombies ELSE zombies \ {m}
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ ClientStep("ReceiveResponse", m)
  /\ UNCHANGED budget

\* K2, C3: the member gives up the partitions that it must; a cooperative
\* member rejoins at once.
FinishRevocation(m) ==
  /\ processes[m].up /\ ~(processes[m].owned \subseteq processes[m].told)
  /\ processes[m].protocol = "classic" => processes[m].stage = "revoke"
  /\ processes' = [processes EXCEPT ![m].owned = processes[m].told, ![m].report = TRUE, ![m].stage = "rejoin"]
  /\ ClientStep("FinishRevocation", m)
  /\ UNCHANGED <<replies, zombies, budget>>

\* The answer is lost: the process asks again.
LoseResponse(m) ==
  /\ Disturb(1)
  /\ replies[m] # {}
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ processes' = [processes EXCEPT ![m].report = TRUE, ![m].stage = "rejoin"]
  /\ ClientStep("LoseResponse", m)
  /\ UNCHANGED zombies

\* H8, R4, M2: a time-out of one member; of a process that is there only as a
\* disturbance.
Expire(m) ==
  /\ IF processes[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ UNCHANGED processes
  /\ \/ SessionTimerArmed(consumer, m) /\ KafkaExpired("SessionTimeout", m)
     \/ /\ IsClassic /\ Classic!ClassicSessionArmed(classic, m)
        /\ KafkaClassic(classic, KafkaExpireClassic(m))
     \/ m \in Members(consumer) /\ RebalanceTimerArmed(consumer, m) /\ phase[m] = "" /\ KafkaExpired("RebalanceTimeout", m)
     \/ phase[m] \in {"prepare", "both"} /\ KafkaExpired("JoinTimeout", m)
     \/ phase[m] \in {"complete", "both"} /\ KafkaExpired("SyncTimeout", m)
  /\ CoordinatorStep({}, {})

\* C1: a barrier opens although not all have rejoined, or the first delay ends; a
\* SyncGroup has not come in time. A disturbance where the processes are there.
ExpireBarrier ==
  LET late == IF Classic!JoinTimerArmed(classic) THEN Classic!InGroup(classic) \ Classic!Joining(classic)
              ELSE Classic!OwingSync(classic)
  IN /\ IsClassic
     /\ IF \E m \in late : processes[m].up THEN Disturb(1) ELSE UNCHANGED budget
     /\ UNCHANGED processes
     /\ \/ Classic!JoinTimerArmed(classic) /\ KafkaClassic(classic, Classic!ExpireJoin(classic))
        \/ Classic!OwingSync(classic) # {} /\ KafkaClassic(classic, Classic!ExpireSync(classic))
     /\ CoordinatorStep({}, {})

\* The process dies; messages to it are lost.
Crash(m) ==
  /\ Disturb(1)
  /\ processes[m].up
  /\ processes' = [processes EXCEPT ![m] = [NewProcess(processes[m].protocol) EXCEPT !.up = FALSE]]
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ zombies' = zombies \ {m}
  /\ ClientStep("Crash", m)

\* A process that has ended may come back, with either protocol, and another
\* member id: here it waits until the old one has expired.
Start(m) ==
  /\ ~processes[m].up /\ m \notin MembersOf(consumer, classic) /\ classic.members[m].place = ""
  /\ \E protocol \in {"classic", "consumer"} : processes' = [processes EXCEPT ![m] = NewProcess(protocol)]
  /\ ClientStep("Start", m)
  /\ UNCHANGED <<replies, zombies, budget>>

\* A member leaves, and comes back with the other protocol.
Bounce(m) ==
  LET isClassic == processes[m].protocol = "classic"
      request == [Classic!NoClassicRequest EXCEPT !.member = m]
  IN /\ Disturb(1)
     /\ processes[m].up /\ m \in MembersOf(consumer, classic) /\ m \notin zombies /\ replies[m] = {}
     /\ processes[m].stage \notin {"waiting", "syncing"}
     /\ processes' = [processes EXCEPT ![m] = NewProcess(IF isClassic THEN "consumer" ELSE "classic")]
     /\ IF ~isClassic THEN KafkaConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = -1])
        ELSE IF Exists(consumer) THEN KafkaLeaveMixed(m, request)
        ELSE KafkaClassic(classic, KafkaLeave(m, request))
     /\ CoordinatorStep({}, {m})

\* P2: a new coordinator loads the log.
CoordinatorFails == Disturb(1) /\ KafkaFailOver /\ UNCHANGED processes /\ CoordinatorStep({}, {})

ClosedNext ==
  \/ \E m \in MemberIds :
       \/ SendJoin(m) \/ SendSync(m) \/ LearnRebalance(m) \/ GiveUp(m) \/ SendHeartbeat(m)
       \/ ReceiveResponse(m) \/ FinishRevocation(m)
       \/ LoseResponse(m) \/ Expire(m) \/ Crash(m) \/ Start(m) \/ Bounce(m)
  \/ ExpireBarrier
  \/ CoordinatorFails

ClosedSpec == ClosedInit /\ [][ClosedNext]_closedVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* @type: (Str, Str) => Bool;
BothOwn(m, n) == m # n /\ processes[m].owned \cap processes[n].owned # {}

\* R7, members' view: if a partition has two owners, one of them is a zombie.
NoDoubleOwnership ==
  \A m \in MemberIds, n \in MemberIds : BothOwn(m, n) => m \in zombies \/ n \in zombies

\* R7: a consumer group holds at least the partitions of every process that is
\* no zombie.
OwnedIsHeld ==
  Exists(consumer) => \A m \in MemberIds \ zombies : processes[m].owned \subseteq Held(consumer, m)
=============================================================================
