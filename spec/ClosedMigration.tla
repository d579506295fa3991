-------------------------- MODULE ClosedMigration ---------------------------
(***************************************************************************)
(* The closed instance of online migration: the coordinator with processes *)
(* of either protocol, eager or cooperative, the network and their faults. *)
(* A bounce is a process that leaves and comes back with the other         *)
(* protocol.                                                               *)
(*                                                                         *)
(* Faults, departures and bounces are disturbances and take from a budget; *)
(* recovery never does, and carries the fairness.  A request is handled in *)
(* the step that sends it, its answer is in flight until the process takes *)
(* it (ClosedGroup says why), and one process has one request in flight    *)
(* (R9).  A Heartbeat of the classic protocol, which changes nothing, is   *)
(* one step with its answer.  A process that starts has another member id  *)
(* than the one before: here it waits until the old one has expired.       *)
(***************************************************************************)
EXTENDS Migration

CONSTANTS
  \* Number of disturbances.
  \* @type: Int;
  Budget,
  \* Processes that give up everything before they rejoin; the others are
  \* cooperative.
  \* @type: Set(Str);
  Eager,
  \* The targets that a leader may choose: any legal one, or always the same
  \* one for the same members, as a sticky assignor does in the end.
  \* @type: Bool;
  FixedLeader,
  \* The partitions that each topic has.
  \* @type: Str -> Int;
  ClusterTopics

(*
  A process: `stage` is what one of the classic protocol does ("rejoin",
  "waiting", "sync", "syncing", "stable", "revoke"), `report` says that one of
  the consumer protocol sends all fields (H7).
  @typeAlias: process = {
    up: Bool, protocol: Str, epoch: Int, owned: Set($partition), told: Set($partition),
    stage: Str, report: Bool
  };
*)
ClosedMigration_aliases == TRUE

VARIABLES
  \* @type: $mixed;
  mixed,
  \* @type: Str -> $process;
  processes,
  \* The answer in flight to each process.
  \* @type: Str -> Set($reply);
  replies,
  \* Zombies: processes that have not learned that their member was removed
  \* (R7).
  \* @type: Set(Str);
  zombies,
  \* Disturbances left.
  \* @type: Int;
  budget

state == <<mixed, processes, replies, zombies, budget>>

\* @type: (Str) => $process;
NewProcess(protocol) ==
  [up |-> TRUE, protocol |-> protocol, epoch |-> IF protocol = "classic" THEN NoGeneration ELSE 0,
   owned |-> {}, told |-> {}, stage |-> "rejoin", report |-> TRUE]

\* @type: ($process) => $process;
EndedProcess(process) == [NewProcess(process.protocol) EXCEPT !.up = FALSE]

\* A classic group that is stable, or nothing yet.
Init ==
  /\ \E target \in Targets, members \in SUBSET MemberIds :
       /\ mixed = [kind |-> "classic",
                   phase |-> [m \in MemberIds |-> IF m \in members THEN "stable" ELSE ""],
                   said |-> [m \in MemberIds |-> {}],
                   group |-> [NoGroup EXCEPT
                     !.epoch = 1, !.assignmentEpoch = 1, !.target = target, !.metadata = ClusterTopics,
                     !.members = [m \in MemberIds |->
                       IF m \notin members THEN NoMember
                       ELSE [NoMember EXCEPT !.epoch = 1, !.subscription = {TopicName[t] : t \in Topics},
                                             !.assigned = {p \in Partitions : target[p] = m}]]]]
       /\ members = MemberIds
       /\ LegalTarget(mixed.group, target)
       /\ processes = [m \in MemberIds |->
            [NewProcess("classic") EXCEPT !.up = m \in members, !.epoch = 1, !.stage = "stable",
                                          !.owned = TargetOf(mixed.group, m), !.told = TargetOf(mixed.group, m)]]
  /\ replies = [m \in MemberIds |-> {}]
  /\ zombies = {}
  /\ budget = Budget

\* @type: (Int) => Bool;
Disturb(n) == budget >= n /\ budget' = budget - n

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* A step of the coordinator, with its answers: members that wait at a barrier
\* are answered when it opens, or when the group is converted.  The processes
\* `asked` learn by their answer whether they are members.
\* @type: ($mixed, Set(Str), Str -> Set($reply)) => Bool;
CoordinatorStep(next, asked, answers) ==
  LET gone == {m \in Members(mixed.group) : m \notin Members(next.group) /\ processes[m].up}
      waiting == {m \in MemberIds : processes'[m].up /\ processes'[m].stage = "waiting"}
      refused == [m \in MemberIds |->
        IF mixed.kind = "classic" /\ next.kind = "consumer" /\ m \in waiting
        THEN {Refusal("JoinGroup", "REBALANCE_IN_PROGRESS")} ELSE answers[m]]
      Open(target) ==
        LET opened == NextGeneration(next, ClusterTopics, target) IN
        /\ mixed' = opened
        /\ replies' = [m \in MemberIds |->
             IF m \in Members(opened.group) /\ m \in waiting
             THEN {[api |-> "JoinGroup", error |-> "NONE", epoch |-> opened.group.epoch,
                    assigned |-> {opened.group.members[m].assigned}]} ELSE answers[m]]
      refreshed == [next.group EXCEPT !.metadata = MetadataOf(next.group, ClusterTopics)]
      Chosen == {target \in Targets : LegalTarget(refreshed, target) /\ Balanced(refreshed, target)}
  IN /\ zombies' = (zombies \cup gone) \ asked
     /\ IF BarrierOpens(next)
        THEN IF FixedLeader THEN \E target \in {CHOOSE t \in Chosen : TRUE} : Open(target)
             ELSE \E target \in Targets : LegalTarget(refreshed, target) /\ Open(target)
        ELSE mixed' = next /\ replies' = refused

\* The answer to a request; `from` has the living process that waits for it, or
\* no process if the request came late.
\* @type: (Set(Str), Set($reply)) => Str -> Set($reply);
Answering(from, answer) == [m \in MemberIds |-> IF m \in from THEN answer ELSE replies[m]]

\* M1: a member goes: it left, was fenced or its session ended.
\* @type: (Str, Set(Str), Str -> Set($reply)) => Bool;
Remove(m, asked, answers) ==
  IF mixed.kind = "classic" THEN CoordinatorStep(RemoveFromClassic(mixed, m), asked, answers)
  ELSE IF LeavesOnlyClassic(mixed, m)
  THEN CoordinatorStep(ConvertBack(WithoutMember(mixed, m)), asked, answers)
  ELSE LET Install(installed) ==
             CoordinatorStep(FollowPhases([mixed EXCEPT !.group = installed, !.phase[m] = "", !.said[m] = {}]),
                             asked, answers)
       IN UpdateTarget(RemoveMember(mixed.group, ClusterTopics, m), TRUE, Install)

(***************************************************************************)
(* Processes of the classic protocol                                       *)
(***************************************************************************)

\* @type: (Str) => Bool;
RunsClassic(m) == processes[m].up /\ processes[m].protocol = "classic"

\* @type: (Str, Str) => Bool;
Staged(m, stage) == processes' = [processes EXCEPT ![m].stage = stage]

\* @type: (Str) => $request;
JoinRequestOf(m) ==
  [NoRequest EXCEPT !.member = m, !.epoch = processes[m].epoch, !.owned = {processes[m].owned},
                    !.subscription = {{TopicName[t] : t \in Topics}}]

\* C1, M2.  A member id that a classic group does not know must begin anew.
\* @type: ($request, Set(Str)) => Bool;
HandleJoin(request, from) ==
  LET m == request.member
      asked == IF request.epoch = NoGeneration THEN from ELSE {}
      known == m \in Members(mixed.group)
  IN IF mixed.kind = "consumer" /\ Members(mixed.group) # {}
     THEN \E updated \in {UpdateJoining(mixed, ClusterTopics, m, request)} :
          LET Install(installed) ==
                \E t \in {Joined(mixed, m, request, updated, installed)} :
                  CoordinatorStep(t.mixed, asked, Answering(from, {t.reply}))
          IN UpdateTarget(updated.group, updated.error = "NONE", Install)
     ELSE IF ~known /\ request.epoch # NoGeneration
     THEN CoordinatorStep(mixed, {}, Answering(from, {Refusal("JoinGroup", "UNKNOWN_MEMBER_ID")}))
     ELSE \E classic \in {IF mixed.kind = "classic" THEN mixed ELSE ConvertBack(mixed)} :
            CoordinatorStep(BehindBarrier(classic, m, UNION request.subscription, UNION request.owned),
                            asked, replies)

SendJoin(m) ==
  /\ RunsClassic(m) /\ processes[m].stage = "rejoin" /\ replies[m] = {}
  /\ Staged(m, "waiting")
  /\ UNCHANGED budget
  /\ HandleJoin(JoinRequestOf(m), {m})

\* M2.
\* @type: (Str, Int, Set(Str)) => Bool;
HandleSync(m, generation, from) ==
  LET t == Synced(mixed, m, generation)
  IN CoordinatorStep(t.mixed, {}, Answering(from, {t.reply}))

SendSync(m) ==
  /\ RunsClassic(m) /\ processes[m].stage = "sync" /\ replies[m] = {}
  /\ Staged(m, "syncing")
  /\ UNCHANGED budget
  /\ HandleSync(m, processes[m].epoch, {m})

\* Reaction of a process of the classic protocol to an answer.
\* @type: (Str, $process, $reply) => $process;
ClassicReaction(m, process, reply) ==
  IF reply.error = "REBALANCE_IN_PROGRESS"
  THEN [process EXCEPT !.stage = "rejoin", !.owned = IF m \in Eager THEN {} ELSE process.owned]
  ELSE IF reply.error # "NONE" THEN NewProcess("classic")
  ELSE IF reply.assigned = {} THEN [process EXCEPT !.epoch = reply.epoch, !.stage = "sync"]
  ELSE LET told == UNION reply.assigned
           revokes == ~(process.owned \subseteq told)
       IN [process EXCEPT !.epoch = reply.epoch, !.told = told,
                          !.owned = IF revokes THEN process.owned ELSE told,
                          !.stage = IF revokes THEN "revoke" ELSE "stable"]

\* M2: a Heartbeat that tells something.
LearnRebalance(m) ==
  /\ RunsClassic(m) /\ processes[m].stage = "stable" /\ replies[m] = {}
  /\ LET error == HeartbeatError(mixed, m, processes[m].epoch)
     IN /\ error # "NONE"
        /\ processes' = [processes EXCEPT ![m] = ClassicReaction(m, processes[m], Refusal("Heartbeat", error))]
        /\ zombies' = IF error = "REBALANCE_IN_PROGRESS" THEN zombies ELSE zombies \ {m}
  /\ UNCHANGED <<mixed, replies, budget>>

(***************************************************************************)
(* Processes of the consumer protocol                                      *)
(***************************************************************************)

\* @type: (Str) => $request;
HeartbeatOf(m) ==
  LET process == processes[m] IN
  [NoRequest EXCEPT !.member = m, !.epoch = process.epoch,
                    !.owned = IF process.report THEN {process.owned} ELSE {},
                    !.subscription = IF process.report THEN {{TopicName[t] : t \in Topics}} ELSE {}]

\* The consumer group after a heartbeat; a member that joins by a heartbeat
\* does not use the classic protocol any more.
\* @type: ($mixed, Str, $group, $response) => $mixed;
AfterHeartbeat(x, m, group, response) ==
  FollowPhases([x EXCEPT !.group = group,
                         !.phase[m] = IF response.error = "NONE" \/ m \notin Members(group) THEN "" ELSE @])

\* @type: ($response) => Set($reply);
ReplyOf(response) ==
  {[api |-> "Heartbeat", error |-> response.error, epoch |-> response.epoch,
    assigned |-> {a.assigned : a \in response.assignment}]}

\* A heartbeat to a consumer group, perhaps to a group that the same heartbeat
\* converts from a classic one.
\* @type: ($mixed, $request, Set(Str)) => Bool;
HandleAsConsumer(x, request, from) ==
  LET m == request.member
      asked == IF request.epoch = 0 THEN from ELSE {}
  IN \E updated \in {UpdateMember(x.group, ClusterTopics, m, request)} :
       LET Install(installed) ==
             \E handled \in {Handle(x.group, m, request, updated, installed)} :
               CoordinatorStep(AfterHeartbeat(x, m, handled.group, handled.step.response), asked,
                               Answering(from, ReplyOf(handled.step.response)))
       IN IF m \in Members(x.group) /\ m \notin Members(updated.group) /\ LeavesOnlyClassic(x, m)
          THEN CoordinatorStep(ConvertBack(WithoutMember(x, m)), asked,
                               Answering(from, {Refusal("Heartbeat", updated.error)}))
          ELSE UpdateTarget(updated.group, TRUE, Install)

\* M1: a join converts a classic group.
\* @type: ($request, Set(Str)) => Bool;
HandleHeartbeat(request, from) ==
  IF request.epoch = 0
  THEN \E x \in {IF mixed.kind = "classic" THEN ConvertUp(mixed) ELSE mixed} : HandleAsConsumer(x, request, from)
  ELSE IF mixed.kind = "classic" \/ mixed.phase[request.member] # ""
  THEN CoordinatorStep(mixed, {}, Answering(from, {Refusal("Heartbeat", "UNKNOWN_MEMBER_ID")}))
  ELSE HandleAsConsumer(mixed, request, from)

SendHeartbeat(m) ==
  /\ processes[m].up /\ processes[m].protocol = "consumer" /\ replies[m] = {}
  /\ UNCHANGED <<processes, budget>>
  /\ HandleHeartbeat(HeartbeatOf(m), {m})

\* @type: ($process, $reply) => $process;
ConsumerReaction(process, reply) ==
  IF reply.error # "NONE" THEN NewProcess("consumer")
  ELSE LET told == IF reply.assigned = {} THEN process.told ELSE UNION reply.assigned
           revokes == ~(process.owned \subseteq told)
       IN [process EXCEPT !.epoch = reply.epoch, !.told = told,
                          !.owned = IF revokes THEN process.owned ELSE told,
                          !.report = reply.assigned # {} /\ ~revokes]

(***************************************************************************)
(* Both                                                                    *)
(***************************************************************************)

\* The answer arrives.  An error response tells a removed client that it was removed.
ReceiveReply(m) ==
  /\ \E reply \in replies[m] :
       /\ processes' = [processes EXCEPT ![m] =
            IF @.protocol = "classic" THEN ClassicReaction(m, @, reply) ELSE ConsumerReaction(@, reply)]
       /\ zombies' = IF reply.error \in {"NONE", "REBALANCE_IN_PROGRESS"} THEN zombies ELSE zombies \ {m}
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ UNCHANGED <<mixed, budget>>

\* K2, C3: the member gives up the partitions that it must; a cooperative
\* member rejoins at once.
FinishRevocation(m) ==
  /\ processes[m].up /\ ~(processes[m].owned \subseteq processes[m].told)
  /\ processes[m].protocol = "classic" => processes[m].stage = "revoke"
  /\ processes' = [processes EXCEPT ![m].owned = processes[m].told, ![m].report = TRUE, ![m].stage = "rejoin"]
  /\ UNCHANGED <<mixed, replies, zombies, budget>>

\* The answer is lost: the process asks again.
LoseReply(m) ==
  /\ Disturb(1)
  /\ replies[m] # {}
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ processes' = [processes EXCEPT ![m].report = TRUE, ![m].stage = "rejoin"]
  /\ UNCHANGED <<mixed, zombies>>

\* H8, R4, M2: a session or another time-out ends; of a process that is there
\* only as a disturbance.
Expire(m) ==
  /\ m \in Members(mixed.group)
  /\ IF processes[m].up THEN Disturb(1) ELSE UNCHANGED budget
  /\ processes[m].up => processes[m].stage # "waiting" \/ mixed.kind = "consumer"
  /\ UNCHANGED processes
  /\ Remove(m, {}, replies)

\* The process dies; messages to it are lost.
Crash(m) ==
  /\ Disturb(1)
  /\ processes[m].up
  /\ processes' = [processes EXCEPT ![m] = EndedProcess(@)]
  /\ replies' = [replies EXCEPT ![m] = {}]
  /\ zombies' = zombies \ {m}
  /\ UNCHANGED mixed

\* A process that has ended may come back, with either protocol.
Start(m) ==
  /\ ~processes[m].up /\ m \notin Members(mixed.group)
  /\ \E protocol \in {"classic", "consumer"} : processes' = [processes EXCEPT ![m] = NewProcess(protocol)]
  /\ UNCHANGED <<mixed, replies, zombies, budget>>

\* A member leaves, and comes back with the other protocol.
Bounce(m) ==
  /\ Disturb(1)
  /\ processes[m].up /\ m \in Members(mixed.group) /\ m \notin zombies /\ replies[m] = {}
  /\ processes[m].stage # "waiting" \/ processes[m].protocol = "consumer"
  /\ processes' = [processes EXCEPT ![m] =
       NewProcess(IF @.protocol = "classic" THEN "consumer" ELSE "classic")]
  /\ Remove(m, {m}, replies)

\* P2: a new coordinator loads the log of a consumer group.
FailOver ==
  /\ Disturb(1)
  /\ mixed.kind = "consumer" /\ Exists(mixed.group)
  /\ UNCHANGED processes
  /\ LET loaded == DeriveRevocations(AfterFailOver(mixed.group))
         forgotten == [m \in MemberIds |-> IF mixed.phase[m] = "" THEN "" ELSE "stable"]
     IN CoordinatorStep(FollowPhases([mixed EXCEPT !.group = loaded, !.phase = forgotten]), {}, replies)

Next ==
  \/ \E m \in MemberIds :
       \/ SendJoin(m) \/ SendSync(m) \/ LearnRebalance(m) \/ SendHeartbeat(m)
       \/ ReceiveReply(m) \/ FinishRevocation(m)
       \/ LoseReply(m) \/ Expire(m) \/ Crash(m) \/ Start(m) \/ Bounce(m)
  \/ FailOver

Spec == Init /\ [][Next]_state

\* R8: requests get through, revocations end, and the session of a process that
\* has gone expires.
Recovery(m) ==
  /\ WF_state(SendJoin(m))
  /\ WF_state(SendSync(m))
  /\ WF_state(LearnRebalance(m))
  /\ WF_state(SendHeartbeat(m))
  /\ WF_state(ReceiveReply(m))
  /\ WF_state(FinishRevocation(m))
  /\ WF_state(~processes[m].up /\ Expire(m))

FairSpec == Spec /\ \A m \in MemberIds : Recovery(m)

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* @type: (Str, Str) => Bool;
BothOwn(m, n) == m # n /\ processes[m].owned \cap processes[n].owned # {}

\* R7, members' view: if a partition has two owners, one of them is a zombie.
NoDoubleOwnership ==
  \A m \in MemberIds, n \in MemberIds : BothOwn(m, n) => m \in zombies \/ n \in zombies

\* R7 without the exemption: must fail.
NoDoubleOwnershipEver == \A m \in MemberIds, n \in MemberIds : ~BothOwn(m, n)

\* R7: the coordinator holds at least the partitions of every process that is
\* no zombie.
OwnedIsHeld ==
  \A m \in MemberIds \ zombies :
    processes[m].owned \subseteq IF mixed.kind = "consumer" THEN Held(mixed.group, m) ELSE HeldAtConversion(mixed, m)

\* R7, coordinator's view, of a consumer group.
NoDoubleHolding ==
  mixed.kind = "consumer" =>
    \A m \in MemberIds, n \in MemberIds : m # n => Held(mixed.group, m) \cap Held(mixed.group, n) = {}

\* M1: a group with a member of the consumer protocol is a consumer group, and
\* one with members of the classic protocol alone is a classic group.
KindFollowsMembers ==
  /\ mixed.kind = "classic" => ClassicMembers(mixed) = Members(mixed.group)
  /\ mixed.kind = "consumer" /\ Members(mixed.group) # {} => ClassicMembers(mixed) # Members(mixed.group)

\* E4.
EpochsInOrder ==
  /\ mixed.group.assignmentEpoch <= mixed.group.epoch
  /\ \A m \in MemberIds : mixed.group.members[m].epoch <= mixed.group.assignmentEpoch

\* M1, E4: a conversion takes no epoch back.
EpochsNeverDecrease ==
  [][mixed'.group.epoch >= mixed.group.epoch /\ mixed'.group.assignmentEpoch >= mixed.group.assignmentEpoch]_state

\* M2: only a member is told to rejoin, or owes a SyncGroup.
PhasesOfMembers == \A m \in MemberIds : mixed.phase[m] # "" => m \in Members(mixed.group)

\* R8: every process is a member with exactly its target, and all is owned.
Converged ==
  /\ \A m \in MemberIds :
       IF processes[m].up
       THEN /\ HasConverged(mixed.group, m)
            /\ processes[m].epoch = mixed.group.epoch
            /\ processes[m].owned = TargetOf(mixed.group, m)
            /\ mixed.phase[m] = IF processes[m].protocol = "classic" THEN "stable" ELSE ""
       ELSE m \notin Members(mixed.group)
  /\ (\E m \in MemberIds : processes[m].up) => UNION {processes[m].owned : m \in MemberIds} = Partitions

EventuallyConverged == <>[]Converged
=============================================================================
