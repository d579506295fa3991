---------------------------- MODULE OpenMigration ---------------------------
(***************************************************************************)
(* The open instance of online migration: the coordinator alone, against   *)
(* every request of a bounded domain and every event, in any order, of     *)
(* either protocol.  No client is modelled: requests may be absurd.        *)
(* Conformance is checked here, because every step calls the coordinator.  *)
(*                                                                         *)
(* A group is a classic group, as ClassicCoordinator has it in full, or a  *)
(* consumer group with members of both protocols, as Migration has it.     *)
(*                                                                         *)
(* Decided here: the answer of a classic group to a ConsumerGroupHeartbeat *)
(* that does not join is the answer for a group that does not exist: the   *)
(* sender, which was removed as the group was converted back, joins again  *)
(* then (K1), and converts the group.  Commits are in MixedOffsets, user   *)
(* data is in MixedAssignors (M4), topics that grow and static members     *)
(* that leave for a while are in MixedChanges.  Left out: processes that   *)
(* join again with a member id and an instance id, or with an instance id  *)
(* that they have already.                                                 *)
(***************************************************************************)
EXTENDS Conversions

CONSTANTS
  \* The partitions that each topic has.
  \* @type: Str -> Int;
  ClusterTopics,
  \* The members of the stable classic group that there is at the start; of
  \* {}, there is no group.
  \* @type: Set(Set(Str));
  InitialMembers,
  \* Fields that a JoinGroup may have: its protocols, its type, the partitions
  \* that the member owns, and a version that is too old or not.
  \* @type: Set(Seq(Str));
  ProtocolLists,
  \* @type: Set(Str);
  ProtocolTypes,
  \* @type: Set(Set($partition));
  Claims,
  \* @type: Set(Bool);
  TooOld,
  \* The generations that a request may carry, besides none.
  \* @type: Set(Int);
  RequestGenerations,
  \* By how much the generation of a claim may be behind that of a classic group.
  \* @type: Int;
  StaleBy,
  \* The assignments that a SyncGroup may carry.
  \* @type: Set(Str -> Set(Set($partition)));
  Assignments,
  \* The member epochs that a ConsumerGroupHeartbeat may have, and its reports
  \* of owned partitions, besides none.
  \* @type: Set(Int);
  RequestEpochs,
  \* @type: Set(Set($partition));
  Owned,
  \* The instance ids that a request may carry, and that of the first member at
  \* the start (None without one).
  \* @type: Set(Str);
  InstanceIds,
  \* @type: Str;
  FirstInstance,
  \* May the coordinator fail over (P2)?
  \* @type: Bool;
  WithFailOver

VARIABLES
  \* The group while it is a consumer group, otherwise NoGroup.
  \* @type: $group;
  consumer,
  \* The phase of the rebalance of each member of the classic protocol (M2).
  \* @type: Str -> Str;
  phase,
  \* Subscription of each of them.
  \* @type: Str -> $words;
  words,
  \* The group while it is a classic group.
  \* @type: $classicGroup;
  classic,
  \* The number of partitions of each topic.
  \* @type: Str -> Int;
  topics,
  \* The last step: a request of the consumer protocol with its response, of all
  \* others the action and the member; not part of the state.
  \* @type: $step;
  step,
  \* The last step where it is a request of the classic protocol, and the answers
  \* to requests that waited; not part of the state.
  \* @type: $classicStep;
  classicStep,
  \* The consumer group that the last step made from a classic one before the
  \* join; not part of the state.
  \* @type: $group;
  converted

vars == <<consumer, phase, words, classic, topics, step, classicStep, converted>>
view == <<consumer, phase, words, classic, topics>>

\* @type: $mixed;
Mixed == [kind |-> "consumer", group |-> consumer, phase |-> phase, said |-> [m \in MemberIds |-> {}]]

IsClassic == Classic!ClassicExists(classic)

(***************************************************************************)
(* Steps                                                                   *)
(***************************************************************************)

\* The group is a consumer group now.  `said` has the fields that members of
\* the classic protocol have sent by now.
\* @type: ($mixed, Str -> $words, $step, $classicStep, $group) => Bool;
IsConsumer(next, said, taken, classicTaken, through) ==
  /\ consumer' = next.group /\ phase' = next.phase
  /\ words' = [m \in MemberIds |-> IF next.phase[m] = "" THEN NoWords ELSE said[m]]
  /\ classic' = Classic!NoClassicGroup
  /\ step' = taken /\ classicStep' = classicTaken /\ converted' = through
  /\ UNCHANGED topics

\* The group is a classic group, or there is none.
\* @type: ($classicGroup, $step, $classicStep) => Bool;
IsClassicNow(next, taken, classicTaken) ==
  /\ consumer' = NoGroup /\ phase' = NoPhases /\ words' = [m \in MemberIds |-> NoWords]
  /\ classic' = next
  /\ step' = taken /\ classicStep' = classicTaken /\ converted' = NoGroup
  /\ UNCHANGED topics

\* @type: (Str, Str) => $classicStep;
NoRequestOf(action, m) == [Classic!NoClassicStep EXCEPT !.action = action, !.member = m]

\* The entry of `step` for a request of the classic protocol.
\* @type: ($classicStep) => $step;
InBrief(taken) == [EventStep(taken.action, taken.member, "", 0) EXCEPT !.branch = taken.branch]

\* A step of a classic group; the singleton makes TLC evaluate it once.
\* @type: ($handled) => Bool;
TakeClassic(handled) == \E h \in {handled} : IsClassicNow(h.group, InBrief(h.step), h.step)

(***************************************************************************)
(* A consumer group: requests of the classic protocol (M2)                 *)
(***************************************************************************)

\* The answer to a request of `m`, and the group after it.
\* @type: ($mixed, Str -> $words, Str, Str, Str, $classicRequest, $classicResponse) => Bool;
Translated(next, said, action, branch, m, request, response) ==
  \E taken \in {[NoRequestOf(action, m) EXCEPT !.branch = branch, !.request = request, !.response = response]} :
    IsConsumer(next, said, InBrief(taken), taken, NoGroup)

\* The member that has the instance id of a request.
\* @type: ($classicRequest) => Set(Str);
Holds(request) == UNION {Holder(consumer, i) : i \in request.instance}

\* M2: protocols must be those of consumers, new enough, and one of them common
\* to all.
\* @type: (Str, $classicRequest) => Bool;
IsInconsistent(m, request) ==
  \/ request.type # {"consumer"}
  \/ IsTooOld(request.subscription)
  \/ \A p \in NamesIn(request.protocols) :
       \E n \in ClassicMembers(Mixed) \ ({m} \cup Holds(request)) : p \notin NamesIn(words[n].protocols)

\* S2: an instance id is one member's.
\* @type: (Str, $classicRequest) => Str;
FencedError(m, request) ==
  IF request.instance = {} \/ Holds(request) = {m} THEN "NONE"
  ELSE IF Holds(request) = {} THEN "UNKNOWN_MEMBER_ID" ELSE "FENCED_INSTANCE_ID"

\* @type: (Str, $classicRequest) => $request;
HeartbeatFrom(m, request) ==
  [NoRequest EXCEPT !.member = m, !.epoch = GenerationIn(request.subscription), !.instance = request.instance,
                    !.owned = {ClaimedIn(request.subscription)}, !.subscription = {TopicsIn(request.subscription)}]

\* R5: a JoinGroup reports what the member owns.
\* @type: ($mixed, $group, Str, $request, $updated) => $mixed;
Reported(next, installed, m, request, updated) ==
  [next EXCEPT !.group.members[m].acknowledged =
     NowAcknowledged(installed, next.group, m, request, updated.kind)]

\* @type: (Str, $classicRequest, $reply) => $classicResponse;
JoinReply(m, request, reply) ==
  IF reply.error # "NONE" THEN Classic!ClassicError("JoinGroup", m, reply.error)
  ELSE [Classic!NoClassicResponse EXCEPT !.api = "JoinGroup", !.error = "NONE", !.member = m,
                                         !.generation = reply.epoch, !.type = "consumer",
                                         !.protocol = request.protocols[1]]

\* How an accepted JoinGroup was understood, for coverage.
\* @type: (Str) => Str;
MixedBranch(kind) ==
  IF kind = "join" THEN "mixed-join" ELSE IF kind = "return" THEN "mixed-return"
  ELSE IF kind = "current" THEN "mixed-rejoin"
  ELSE IF kind = "retry" THEN "mixed-retry" ELSE "mixed-refused"

\* M2, M3: a JoinGroup is answered at once.  Without a member id one is made, of
\* which nothing is kept.
\* @type: (Str, $classicRequest) => Bool;
JoinMixed(m, request) ==
  LET Refuse(error) == Translated(Mixed, words, "JoinGroup", "mixed-refused", m, request,
                                  Classic!ClassicError("JoinGroup", request.member, error))
      said == [words EXCEPT ![m] = [protocols |-> request.protocols, subscription |-> request.subscription]]
  IN IF request.member = None /\ Members(consumer) = {}
     THEN TakeClassic(Classic!JoinGroup(Downgraded(Mixed, words), m, request))
     ELSE IF IsInconsistent(m, request) THEN Refuse("INCONSISTENT_GROUP_PROTOCOL")
     ELSE IF request.member = None /\ request.instance = {}
     THEN Translated(Mixed, words, "JoinGroup", "mixed-known", m, request,
                     Classic!ClassicError("JoinGroup", m, "MEMBER_ID_REQUIRED"))
     ELSE IF Holds(request) # {} /\ Members(consumer) \ ClassicMembers(Mixed) = Holds(request)
     THEN \E n \in Holds(request) : TakeClassic(DowngradedBy(WithoutMember(Mixed, n), words, m, request))
     ELSE \E says \in {HeartbeatFrom(m, request)} :
          \E updated \in {IF Holds(request) = {} THEN UpdateJoining(Mixed, topics, m, says)
                          ELSE Return(consumer, topics, m, [says EXCEPT !.epoch = 0])} :
            LET Install(installed) ==
                  \E t \in {Joined(Mixed, m, says, updated, installed)} :
                    IF updated.error # "NONE" THEN Refuse(updated.error)
                    ELSE Translated(Reported(t.mixed, installed, m, says, updated), said, "JoinGroup",
                                    MixedBranch(updated.kind), m, request, JoinReply(m, request, t.reply))
            IN UpdateTarget(updated.group, updated.error = "NONE", Install)

\* M2: the partitions that the member may use now.
\* @type: (Str, $classicRequest) => Bool;
SyncMixed(m, request) ==
  LET t == Synced(Mixed, m, request.generation) IN
  IF FencedError(m, request) # "NONE"
  THEN Translated(Mixed, words, "SyncGroup", "mixed-refused", m, request,
                  Classic!ClassicError("SyncGroup", None, FencedError(m, request)))
  ELSE IF t.reply.error # "NONE"
  THEN Translated(Mixed, words, "SyncGroup", "mixed-refused", m, request,
                  Classic!ClassicError("SyncGroup", None, t.reply.error))
  ELSE Translated(t.mixed, words, "SyncGroup", "mixed", m, request,
                  [Classic!NoClassicResponse EXCEPT !.api = "SyncGroup", !.error = "NONE", !.type = "consumer",
                                                    !.protocol = words[m].protocols[1],
                                                    !.assignment = t.reply.assigned])

\* M2: the member is told to go on, or to rejoin.
\* @type: (Str, $classicRequest) => Bool;
HeartbeatMixed(m, request) ==
  LET fenced == FencedError(m, request)
      error == IF fenced # "NONE" THEN fenced ELSE HeartbeatError(Mixed, m, request.generation)
  IN Translated(Mixed, words, "ClassicHeartbeat", "mixed", m, request, Classic!ClassicError("Heartbeat", None, error))

\* A member goes; with the last one of the consumer protocol the group is
\* converted back (M1).
\* @type: (Str, $step, $classicStep) => Bool;
Remove(m, taken, classicTaken) ==
  IF LeavesOnlyClassic(Mixed, m)
  THEN IsClassicNow(Downgraded(WithoutMember(Mixed, m), words), taken, classicTaken)
  ELSE LET Install(installed) ==
             IsConsumer(FollowPhases([Mixed EXCEPT !.group = installed, !.phase[m] = ""]), words, taken,
                        classicTaken, NoGroup)
       IN UpdateTarget(RemoveMember(consumer, topics, m), TRUE, Install)

\* M2.
\* @type: (Str, $classicRequest) => Bool;
LeaveMixed(m, request) ==
  LET error == IF m \in ClassicMembers(Mixed) THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"
      response == Classic!ClassicError("LeaveGroup", m, error)
  IN IF error # "NONE" THEN Translated(Mixed, words, "LeaveGroup", "mixed", m, request, response)
     ELSE \E taken \in {[NoRequestOf("LeaveGroup", m) EXCEPT !.branch = "mixed", !.request = request,
                                                              !.response = response]} :
            Remove(m, InBrief(taken), taken)

(***************************************************************************)
(* Requests of the classic protocol                                        *)
(***************************************************************************)

\* C1, M2: with a member id, or without one: then the coordinator makes an id
\* that no other process has.
\* @type: (Str, $classicRequest) => Bool;
TakeJoin(m, request) ==
  IF Exists(consumer) THEN JoinMixed(m, request) ELSE TakeClassic(Classic!JoinGroup(classic, m, request))

JoinRequest ==
  \E m \in MemberIds, type \in ProtocolTypes, protocols \in ProtocolLists, owned \in Claims, old \in TooOld,
     generation \in RequestGenerations \cup {NoGeneration}, instance \in InstanceIds \cup {None} :
    LET stranger == classic.members[m].place = "" /\ m \notin Members(consumer)
        request == [Classic!NoClassicRequest EXCEPT
                      !.member = m, !.instance = {instance} \ {None}, !.type = {type}, !.protocols = protocols,
                      !.subscription = IF old THEN Names ELSE SubscriptionText(Names, owned, generation)]
    IN /\ generation = NoGeneration => owned = {}
       /\ old => generation = NoGeneration
       /\ IsClassic /\ generation # NoGeneration =>
            generation <= classic.generation /\ generation + StaleBy >= classic.generation
       /\ ~IsClassic /\ ~Exists(consumer) => generation = NoGeneration
       /\ \/ instance = None /\ TakeJoin(m, request)
          \/ stranger /\ generation = NoGeneration /\ TakeJoin(m, [request EXCEPT !.member = None])

\* C1, M2: an assignment means something only if it comes from the leader of a
\* classic group.
SyncRequest ==
  \E m \in MemberIds, generation \in RequestGenerations, assignments \in Assignments :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = generation,
                                                    !.assignments = assignments]
    IN IF Exists(consumer) THEN SyncMixed(m, request) ELSE TakeClassic(Classic!SyncGroup(classic, request))

HeartbeatRequest ==
  \E m \in MemberIds, generation \in RequestGenerations, instance \in InstanceIds \cup {None} :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m, !.instance = {instance} \ {None},
                                                    !.generation = generation]
    IN IF Exists(consumer) THEN HeartbeatMixed(m, request)
       ELSE TakeClassic(Classic!ClassicHeartbeat(classic, request))

LeaveRequest ==
  \E m \in MemberIds :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m]
    IN IF Exists(consumer) THEN LeaveMixed(m, request) ELSE TakeClassic(Classic!LeaveGroup(classic, request))

(***************************************************************************)
(* Requests of the consumer protocol                                       *)
(***************************************************************************)

\* @type: ($mixed, Str, $group, $response) => $mixed;
AfterHeartbeat(x, m, after, response) ==
  FollowPhases([x EXCEPT !.group = after,
                         !.phase[m] = IF response.error = "NONE" \/ m \notin Members(after) THEN "" ELSE @])

\* M1, S1: a join with the instance id of a member of the classic protocol, which
\* cannot say that it leaves for a while: its place is taken.
\* @type: ($mixed, $request) => Bool;
Replaces(x, request) == request.epoch = 0 /\ \E n \in HolderOf(x.group, request) : x.phase[n] # ""

\* A heartbeat to a consumer group, perhaps to one that the same heartbeat
\* converts from a classic group.
\* @type: ($mixed, Str -> $words, Str, $request, Set($answer), $group) => Bool;
Handled(x, said, m, request, answers, through) ==
  \E updated \in {IF Replaces(x, request) THEN Return(x.group, topics, m, request)
                  ELSE UpdateMember(x.group, topics, m, request)} :
    LET \* @type: ($step) => $classicStep;
        Answering(taken) == [NoRequestOf(taken.action, m) EXCEPT !.completed = answers]
        Install(installed) ==
          \E h \in {Handle(x.group, m, request, updated, installed)} :
            LET taken == IF Replaces(x, request) THEN [h.step EXCEPT !.action = "Return"] ELSE h.step
            IN IsConsumer(AfterHeartbeat(x, m, h.group, taken.response), said, taken, Answering(taken), through)
    IN IF m \in Members(x.group) /\ m \notin Members(updated.group) /\ LeavesOnlyClassic(x, m)
       THEN \E h \in {Handle(x.group, m, request, updated, updated.group)} :
              IsClassicNow(Downgraded(WithoutMember(x, m), said), h.step, Answering(h.step))
       ELSE UpdateTarget(updated.group, TRUE, Install)

\* @type: (Str, $request, Str) => Bool;
Refused(m, request, error) ==
  /\ step' = [NoStep EXCEPT !.action = ActionOf(consumer, m, request), !.branch = "unknown", !.member = m,
                            !.request = request, !.response = ErrorResponse(error)]
  /\ classicStep' = NoRequestOf(ActionOf(consumer, m, request), m)
  /\ converted' = NoGroup
  /\ UNCHANGED <<consumer, phase, words, classic, topics>>

\* Subscriptions of the members of a classic group.
\* @type: Str -> $words;
ClassicWords ==
  [m \in MemberIds |-> [protocols |-> classic.members[m].protocols, subscription |-> classic.members[m].subscription]]

\* H1, H5, M1: a join converts a classic group; the group refuses any other
\* heartbeat, and a member that uses the classic protocol is refused, too.
\* @type: (Str, $request) => Bool;
ConsumerRequest(m, request) ==
  IF IsClassic
  THEN IF request.epoch # 0 THEN Refused(m, request, UnknownError(consumer))
       ELSE IF UpgradeError(classic) # "NONE" THEN Refused(m, request, UpgradeError(classic))
       ELSE \E x \in {Upgraded(classic, topics)} : Handled(x, ClassicWords, m, request, RejoinAnswers(classic), x.group)
  ELSE IF request.epoch # 0 /\ phase[m] # "" THEN Refused(m, request, "UNKNOWN_MEMBER_ID")
  ELSE Handled(Mixed, words, m, request, {}, NoGroup)

\* H1: epoch 0.
ConsumerJoinRequest ==
  \E m \in MemberIds, instance \in InstanceIds \cup {None} :
    /\ instance # None => m \notin Members(consumer) /\ classic.members[m].place = ""
    /\ ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.instance = {instance} \ {None}, !.owned = {{}},
                                            !.subscription = {Names}])

\* A heartbeat reports what the member owns, or nothing.
ConsumerHeartbeatRequest ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in {{}} \cup {{o} : o \in Owned} :
    ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = owned])

\* H2.
ConsumerLeaveRequest ==
  \E m \in MemberIds : ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = -1])

(***************************************************************************)
(* Events                                                                  *)
(***************************************************************************)

\* H8: whatever protocol the member uses.
SessionTimeout ==
  \E m \in MemberIds :
    \/ SessionTimerArmed(consumer, m)
       /\ Remove(m, EventStep("SessionTimeout", m, "", 0), NoRequestOf("SessionTimeout", m))
    \/ IsClassic /\ Classic!ClassicSessionArmed(classic, m) /\ TakeClassic(Classic!ExpireClassic(classic, m))

\* R4.
RebalanceTimeout ==
  \E m \in Members(consumer) :
    /\ RebalanceTimerArmed(consumer, m)
    /\ Remove(m, EventStep("RebalanceTimeout", m, "", 0), NoRequestOf("RebalanceTimeout", m))

\* C1, M2: the time-out of the barrier, or of a member that must rejoin.
JoinTimeout ==
  \/ Classic!JoinTimerArmed(classic) /\ TakeClassic(Classic!ExpireJoin(classic))
  \/ \E m \in MemberIds :
       phase[m] = "prepare" /\ Remove(m, EventStep("JoinTimeout", m, "", 0), NoRequestOf("JoinTimeout", m))

\* C1, M2: a member has not sent its SyncGroup in time.
SyncTimeout ==
  \/ IsClassic /\ Classic!OwingSync(classic) # {} /\ TakeClassic(Classic!ExpireSync(classic))
  \/ \E m \in MemberIds :
       phase[m] = "complete" /\ Remove(m, EventStep("SyncTimeout", m, "", 0), NoRequestOf("SyncTimeout", m))

\* C2, P2: in no record is where members are in their rebalance.
FailOver ==
  /\ WithFailOver
  /\ \/ IsClassic /\ TakeClassic(Classic!ClassicEvent("FailOver", None, LoadedClassic(classic)))
     \/ /\ Exists(consumer)
        /\ LET loaded == DeriveRevocations(AfterFailOver(consumer))
               forgotten == [m \in MemberIds |-> IF phase[m] = "" THEN "" ELSE "stable"]
           IN IsConsumer(FollowPhases([Mixed EXCEPT !.group = loaded, !.phase = forgotten]), words,
                         EventStep("FailOver", None, "", 0), NoRequestOf("FailOver", None), NoGroup)

\* E5.
DeleteGroup ==
  /\ GroupState(consumer) = "Empty" \/ classic.state = "Empty"
  /\ IsClassicNow(Classic!NoClassicGroup, EventStep("DeleteGroup", None, "", 0), NoRequestOf("DeleteGroup", None))

(***************************************************************************)
(* Behaviours                                                              *)
(***************************************************************************)

Init ==
  /\ \E members \in InitialMembers :
       classic = IF members = {} THEN Classic!NoClassicGroup
                 ELSE StableGroup(members, CHOOSE list \in ProtocolLists : TRUE, FirstInstance)
  /\ consumer = NoGroup
  /\ phase = NoPhases
  /\ words = [m \in MemberIds |-> NoWords]
  /\ topics = ClusterTopics
  /\ step = NoStep
  /\ classicStep = Classic!NoClassicStep
  /\ converted = NoGroup

Next ==
  \/ JoinRequest
  \/ SyncRequest
  \/ HeartbeatRequest
  \/ LeaveRequest
  \/ ConsumerJoinRequest
  \/ ConsumerHeartbeatRequest
  \/ ConsumerLeaveRequest
  \/ SessionTimeout
  \/ RebalanceTimeout
  \/ JoinTimeout
  \/ SyncTimeout
  \/ FailOver
  \/ DeleteGroup

Spec == Init /\ [][Next]_vars
=============================================================================
