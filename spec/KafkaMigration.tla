---------------------------- MODULE KafkaMigration ---------------------------
(***************************************************************************)
(* Online migration as Apache Kafka does it, in the place of               *)
(* OpenMigration's steps: this module has the differences, and all else is *)
(* as there, in a dialect of Kafka (Dialect) and with GenerationRecorded = *)
(* FALSE.  It follows Kafka's own code, step by step; no document          *)
(* describes it.                                                           *)
(*                                                                         *)
(* In a consumer group Kafka has no state of a classic member's rebalance  *)
(* beside two timers: the time until which the member must rejoin, once it *)
(* has been told so, and the time until which it must send its SyncGroup.  *)
(* `phase` tells which of them are armed: "prepare", "complete", "both",   *)
(* or "stable" for neither.                                                *)
(*                                                                         *)
(* Left out: static processes that join a classic group, static members    *)
(* that are away, protocols that other members do not have, topics that    *)
(* change.                                                                 *)
(* Excluded (Bearable), as the specification would have to remember more   *)
(* than a group has:                                                       *)
(* - a JoinGroup with a member id to a consumer group without members: the *)
(*   group is forgotten then, but is still in the log;                     *)
(* - a JoinGroup that takes the place of the last member of the consumer   *)
(*   protocol (S1): the group is converted back without a rebalance;       *)
(* - a member that moves to the classic protocol in the middle of a        *)
(*   revocation, whose timer stays armed, or is in a revocation as the     *)
(*   coordinator fails over, which arms the timer;                         *)
(* - a group that is converted in the first delay of its members: the join *)
(*   is answered with UNKNOWN_SERVER_ERROR; a conversion that is refused   *)
(*   while a member waits, whose request is answered nevertheless;         *)
(* - a group that is converted again while a time-out of a member from     *)
(*   before it was converted back still runs: nothing ends the time-out,   *)
(*   and it may remove that member.                                        *)
(***************************************************************************)
EXTENDS MigrationProperties

VARIABLE
  \* Has a time-out of a member of the classic protocol outlived its consumer
  \* group?
  \* @type: Bool;
  outlived

kafkaVars == <<vars, outlived>>
kafkaView == <<view, outlived>>

(***************************************************************************)
(* Classic groups                                                          *)
(***************************************************************************)

\* C1: a rebalance removes no member's assignment before the next one is there,
\* unless it interrupts another rebalance.
\* @type: ($classicGroup, $classicGroup) => $classicGroup;
KeepingAssignments(before, after) ==
  IF after.state \notin {"PreparingRebalance", "CompletingRebalance"} \/ before.state = "CompletingRebalance"
  THEN after
  ELSE [after EXCEPT !.members = [m \in MemberIds |->
          IF after.members[m].place # "member" THEN after.members[m]
          ELSE [after.members[m] EXCEPT !.assignment = before.members[m].assignment]]]

\* C1: FALSE for requests that Kafka never answers: a request that a later one
\* of its member replaces, the SyncGroup of a member that is removed.
\* @type: ($answer) => Bool;
IsAnswered(a) ==
  /\ a.response.error # "NOT_COORDINATOR"
  /\ ~(a.response.api = "SyncGroup" /\ a.response.error = "UNKNOWN_MEMBER_ID")

\* C1: a barrier waits for pending ids, too, where no member is left; a
\* rebalance that begins then has no time-out for them, since its time-out is
\* that of its members.
\* @type: ($classicGroup, Str, $classicGroup) => $classicGroup;
WaitingForPending(before, action, after) ==
  LET gone == {m \in Classic!InGroup(before) : after.members[m].place = ""} IN
  IF /\ after.state = "Empty" /\ before.state = "PreparingRebalance"
     /\ Classic!PendingIds(after) # {} /\ action # "JoinTimeout"
  THEN [Classic!Without(before, gone) EXCEPT !.state = "PreparingRebalance"]
  ELSE after

\* A step of a classic group, or of none.
\* @type: ($classicGroup, $handled) => Bool;
KafkaClassic(before, handled) ==
  \E h \in {handled} :
    \E taken \in {[h.step EXCEPT !.completed = {a \in h.step.completed : IsAnswered(a)}]} :
      \E kept \in {KeepingAssignments(before, WaitingForPending(before, taken.action, h.group))} :
        IsClassicNow(kept, InBrief(taken), taken)

(***************************************************************************)
(* Conversion (M1)                                                         *)
(***************************************************************************)

\* The assignment of a member of a classic group.
\* @type: ($classicGroup, Str) => Set($partition);
AssignedIn(c, m) == UNION c.members[m].assignment

\* M1: nothing is left of an empty group.  Else all members are taken over,
\* with their assignments: their claims do not count (M1, R7).
\* @type: ($classicGroup) => $mixed;
KafkaUpgraded(c) ==
  LET there == Classic!InGroup(c)
      subscribed == UNION {TopicsIn(c.members[m].subscription) : m \in there}
  IN
  [kind |-> "consumer",
   phase |-> [m \in MemberIds |-> IF m \in there THEN "stable" ELSE ""],
   said |-> [m \in MemberIds |-> {}],
   group |->
     IF c.state = "Empty" THEN NoGroup
     ELSE [NoGroup EXCEPT
       !.epoch = c.generation, !.assignmentEpoch = c.generation,
       !.metadata = [t \in Topics |-> IF TopicName[t] \in subscribed THEN topics[t] ELSE 0],
       !.target = [p \in Partitions |->
          IF \E m \in there : p \in AssignedIn(c, m) THEN CHOOSE m \in there : p \in AssignedIn(c, m) ELSE None],
       !.members = [m \in MemberIds |->
          IF m \notin there THEN NoMember
          ELSE [NoMember EXCEPT !.epoch = c.generation, !.previousEpoch = c.generation,
                                !.instance = c.members[m].instance,
                                !.subscription = TopicsIn(c.members[m].subscription),
                                !.assigned = AssignedIn(c, m)]]]]

\* M1: the members that are left, with their target as what they are assigned,
\* which the log has, too; everyone must rejoin.
\* @type: ($mixed, Str, Str -> $words) => $classicGroup;
KafkaDowngraded(x, gone, said) ==
  LET left == ClassicMembers(x) \ {gone}
      members == [m \in MemberIds |->
        IF m \notin left THEN Classic!NoClassicMember
        ELSE [Classic!NoClassicMember EXCEPT
                !.place = "member", !.instance = x.group.members[m].instance,
                !.protocols = said[m].protocols, !.subscription = said[m].subscription,
                !.assignment = {TargetOf(x.group, m)}]]
      stable == [Classic!NoClassicGroup EXCEPT !.state = "Stable", !.members = members]
  IN KeepingAssignments(stable, BackToClassic(x.group.epoch, members).group)

\* M1: does the removal of `gone`, whatever protocol it uses, leave members, all of
\* the classic protocol?
\* @type: (Str) => Bool;
KafkaDowngrades(gone) == gone \in Members(consumer) /\ LeavesOnlyClassic(Mixed, gone)

(***************************************************************************)
(* A consumer group: requests of the classic protocol (M2)                 *)
(***************************************************************************)

\* M3: there is a newer target, or something to give up, or all that it waits for
\* is free.
\* @type: (Str) => Bool;
IsToRejoin(m) ==
  LET member == consumer.members[m] IN
  \/ member.epoch < consumer.epoch \/ member.revoking # {}
  \/ Lacks(consumer, m) # {} /\ Lacks(consumer, m) \cap HeldByOthers(consumer, m) = {}

\* M2: a member is told to rejoin: its time to do so begins, unless it has
\* begun.
\* @type: (Str) => Str -> Str;
WaitsForRejoin(m) == [phase EXCEPT ![m] = IF @ \in {"complete", "both"} THEN "both" ELSE "prepare"]

\* H7, R5: the fields of a JoinGroup; its generation is not looked at.
\* @type: (Str, $classicRequest) => $request;
JoinFrom(m, request) ==
  [NoRequest EXCEPT !.member = m, !.epoch = IF m \in Members(consumer) THEN consumer.members[m].epoch ELSE 0,
                    !.instance = request.instance, !.owned = {ClaimedIn(request.subscription)}, !.subscription = {TopicsIn(request.subscription)}]

\* No time runs for members that are gone, and for those that use the consumer
\* protocol.
\* @type: ($group, Str -> Str) => Str -> Str;
PhasesIn(g, phases) == [m \in MemberIds |-> IF m \in Members(g) THEN phases[m] ELSE ""]

\* M2, M3: the sender of a JoinGroup is a member of the classic protocol from
\* then on; with the instance id of a member it takes that member's place (S1).
\* @type: (Str, $classicRequest) => Bool;
KafkaJoinMixed(m, request) ==
  LET says == JoinFrom(m, request)
      new == m \notin Members(consumer)
      said == [words EXCEPT ![m] = [protocols |-> request.protocols, subscription |-> request.subscription]]
  IN IF request.member = None /\ request.instance = {}
     THEN Translated(Mixed, words, "JoinGroup", "mixed-known", m, request,
                     Classic!ClassicError("JoinGroup", m, "MEMBER_ID_REQUIRED"))
     ELSE \E updated \in {IF Holds(request) # {} THEN Return(consumer, topics, m, says)
                          ELSE IF new THEN Join(consumer, topics, m, says)
                          ELSE Updated(UpdateSubscription(consumer, topics, m, says), "NONE", "current",
                                       Acknowledges(consumer, m, says))} :
            LET Install(installed) ==
                  \E after \in {ReconcileMember(installed, m, says, updated.acknowledges, FALSE)} :
                    Translated([Mixed EXCEPT !.group = after,
                                             !.phase = PhasesIn(after, [phase EXCEPT ![m] = "complete"])],
                               said, "JoinGroup",
                               IF updated.kind = "return" THEN "mixed-return"
                               ELSE IF new THEN "mixed-join" ELSE "mixed-rejoin", m, request,
                               JoinReply(m, request, [api |-> "JoinGroup", error |-> "NONE",
                                                      epoch |-> after.members[m].epoch, assigned |-> {}]))
            IN UpdateTarget(updated.group, TRUE, Install)

\* M2: the partitions that the member may use now; no other target may be due,
\* unless the member must give something up first.
\* @type: (Str, $classicRequest) => Bool;
KafkaSyncMixed(m, request) ==
  LET member == consumer.members[m]
      behind == consumer.epoch > member.epoch /\ member.revoking = {}
      error == IF phase[m] = "" THEN "UNKNOWN_MEMBER_ID"
               ELSE IF request.generation # member.epoch THEN "ILLEGAL_GENERATION"
               ELSE IF behind THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"
      synced == [phase EXCEPT ![m] = IF @ \in {"prepare", "both"} THEN "prepare" ELSE "stable"]
  IN IF error # "NONE"
     THEN Translated([Mixed EXCEPT !.phase = IF error = "REBALANCE_IN_PROGRESS" THEN WaitsForRejoin(m) ELSE phase], words,
                     "SyncGroup", "mixed-refused", m, request, Classic!ClassicError("SyncGroup", None, error))
     ELSE Translated([Mixed EXCEPT !.phase = synced], words, "SyncGroup", "mixed", m, request,
                     [Classic!NoClassicResponse EXCEPT !.api = "SyncGroup", !.error = "NONE", !.type = "consumer",
                                                       !.protocol = words[m].protocols[1],
                                                       !.assignment = {member.assigned}])

\* M2: the member is told to go on, or to rejoin.
\* @type: (Str, $classicRequest) => Bool;
KafkaHeartbeatMixed(m, request) ==
  LET error == IF FencedError(m, request) # "NONE" THEN FencedError(m, request)
               ELSE IF phase[m] = "" THEN "UNKNOWN_MEMBER_ID"
               ELSE IF request.generation # consumer.members[m].epoch THEN "ILLEGAL_GENERATION"
               ELSE IF IsToRejoin(m) THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"
  IN Translated([Mixed EXCEPT !.phase = IF error = "REBALANCE_IN_PROGRESS" THEN WaitsForRejoin(m) ELSE phase], words,
                "ClassicHeartbeat", "mixed", m, request, Classic!ClassicError("Heartbeat", None, error))

\* A member goes; the next target is the next heartbeat's (E2).
\* @type: (Str, $step, $classicStep) => Bool;
KafkaRemove(m, taken, classicTaken) ==
  IF KafkaDowngrades(m)
  THEN \E back \in {KafkaDowngraded(Mixed, m, words)} : IsClassicNow(back, taken, classicTaken)
  ELSE LET Install(installed) ==
             IsConsumer([Mixed EXCEPT !.group = installed, !.phase[m] = ""], words, taken, classicTaken, NoGroup)
       IN \E removed \in {RemoveMember(consumer, topics, m)} :
            \E now \in ComputesNow("timeout", removed) : UpdateTarget(removed, now, Install)

\* M2: whatever protocol the member uses.
\* @type: (Str, $classicRequest) => Bool;
KafkaLeaveMixed(m, request) ==
  LET error == IF m \in Members(consumer) THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"
      response == Classic!ClassicError("LeaveGroup", m, error)
  IN IF error # "NONE" THEN Translated(Mixed, words, "LeaveGroup", "mixed", m, request, response)
     ELSE \E taken \in {[NoRequestOf("LeaveGroup", m) EXCEPT !.branch = "mixed", !.request = request,
                                                              !.response = response]} :
            KafkaRemove(m, InBrief(taken), taken)

(***************************************************************************)
(* Requests of the classic protocol                                        *)
(***************************************************************************)

\* C1, M1: nothing is left of a consumer group without members when a process
\* joins with the classic protocol.
\* @type: (Str, $classicRequest) => Bool;
KafkaTakeJoin(m, request) ==
  IF Members(consumer) # {} THEN KafkaJoinMixed(m, request)
  ELSE LET group == IF Exists(consumer) THEN Classic!NoClassicGroup ELSE classic
       IN KafkaClassic(group, Classic!JoinGroup(group, m, request))

\* A new member id belongs to no member, and is not in the log.  A static
\* process that joins a classic group is left out: its id is in no answer while
\* its request waits.
KafkaJoinRequest ==
  \E m \in MemberIds, protocols \in ProtocolLists, owned \in Claims,
     generation \in RequestGenerations \cup {NoGeneration}, instance \in InstanceIds \cup {None} :
    LET stranger == /\ classic.members[m].place = "" /\ m \notin Members(consumer)
                    /\ \A s \in classic.saved : ~s.members[m].there
        request == [Classic!NoClassicRequest EXCEPT
                      !.member = m, !.instance = {instance} \ {None}, !.type = {"consumer"},
                      !.protocols = protocols,
                      !.subscription = SubscriptionText(Names, owned, generation)]
    IN /\ generation = NoGeneration => owned = {}
       /\ IsClassic /\ generation # NoGeneration =>
            generation <= classic.generation /\ generation + StaleBy >= classic.generation
       /\ ~IsClassic /\ ~Exists(consumer) => generation = NoGeneration
       /\ \/ instance = None /\ ~(Exists(consumer) /\ Members(consumer) = {}) /\ KafkaTakeJoin(m, request)
          \/ /\ stranger /\ generation = NoGeneration
             /\ instance # None => Members(consumer) # {}
             /\ KafkaTakeJoin(m, [request EXCEPT !.member = None])

KafkaSyncRequest ==
  \E m \in MemberIds, generation \in RequestGenerations, assignments \in Assignments :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = generation,
                                                    !.assignments = assignments]
        named == [request EXCEPT !.type = {"consumer"}, !.protocol = {words[m].protocols[1]}]
    IN IF Exists(consumer) THEN KafkaSyncMixed(m, IF phase[m] = "" THEN request ELSE named)
       ELSE KafkaClassic(classic, Classic!SyncGroup(classic, request))

KafkaHeartbeatRequest ==
  \E m \in MemberIds, generation \in RequestGenerations, instance \in InstanceIds \cup {None} :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m, !.instance = {instance} \ {None},
                                                    !.generation = generation]
    IN IF Exists(consumer) THEN KafkaHeartbeatMixed(m, request)
       ELSE KafkaClassic(classic, Classic!ClassicHeartbeat(classic, request))

\* C1: an id that has not joined is waited for: that it leaves begins a rebalance.
\* @type: (Str, $classicRequest) => $handled;
KafkaLeave(m, request) ==
  LET h == Classic!LeaveGroup(classic, request)
      o == Classic!Prepare(Classic!Same(h.group))
  IN IF m \in Classic!PendingIds(classic) /\ classic.state \in {"Stable", "CompletingRebalance"}
     THEN [group |-> o.group, step |-> [h.step EXCEPT !.completed = o.answers]] ELSE h

KafkaLeaveRequest ==
  \E m \in MemberIds :
    LET request == [Classic!NoClassicRequest EXCEPT !.member = m]
    IN IF Exists(consumer) THEN KafkaLeaveMixed(m, request)
       ELSE KafkaClassic(classic, KafkaLeave(m, request))

(***************************************************************************)
(* Requests of the consumer protocol                                       *)
(***************************************************************************)

\* M1: a join that is refused converts nothing.
\* @type: (Str, $request, $updated, $group) => Bool;
KafkaRefused(m, request, updated, through) ==
  \E h \in {Handle(through, m, request, updated, through)} :
    IsClassicNow(classic, [h.step EXCEPT !.action = "Join"], NoRequestOf("Join", m))

\* A heartbeat to a consumer group, perhaps to one that the same heartbeat
\* converts from a classic group. The sender is a member of the consumer
\* protocol from then on.
\* @type: ($mixed, Str -> $words, Str, $request, Set($answer), $group) => Bool;
KafkaHandled(x, said, m, request, answers, through) ==
  \E updated \in {IF Replaces(x, request) THEN Return(x.group, topics, m, request)
                  ELSE UpdateMember(x.group, topics, m, request)} :
    LET \* @type: ($step) => $classicStep;
        Answering(taken) == [NoRequestOf(taken.action, m) EXCEPT !.completed = answers]
        Install(installed) ==
          \E h \in {Handle(x.group, m, request, updated, installed)} :
            LET accepted == h.step.response.error = "NONE"
                taken == IF Replaces(x, request) THEN [h.step EXCEPT !.action = "Return"] ELSE h.step
            IN IsConsumer([x EXCEPT !.group = h.group,
                                    !.phase = PhasesIn(h.group, [x.phase EXCEPT ![m] = IF accepted THEN "" ELSE @])],
                          said, taken, Answering(taken), through)
    IN IF Exists(consumer) /\ m \notin Members(updated.group) /\ KafkaDowngrades(m)
       THEN \E h \in {Handle(x.group, m, request, updated, updated.group)} :
            \E back \in {KafkaDowngraded(Mixed, m, said)} : IsClassicNow(back, h.step, Answering(h.step))
       ELSE IF IsClassic /\ updated.error # "NONE"
       THEN answers = {} /\ KafkaRefused(m, request, updated, through)
       ELSE \E now \in ComputesNow(updated.kind, updated.group) : UpdateTarget(updated.group, now, Install)

\* @type: (Str, $request) => Bool;
KafkaConsumerRequest(m, request) ==
  IF IsClassic
  THEN IF request.epoch # 0 THEN Refused(m, request, UnknownError(consumer))
       ELSE \E x \in {KafkaUpgraded(classic)} :
              KafkaHandled(x, ClassicWords, m, request, RejoinAnswers(classic), x.group)
  ELSE KafkaHandled(Mixed, words, m, request, {}, NoGroup)

KafkaConsumerJoinRequest ==
  \E m \in MemberIds, instance \in InstanceIds \cup {None} :
    /\ instance # None => m \notin Members(consumer) /\ classic.members[m].place = ""
    /\ KafkaConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.instance = {instance} \ {None}, !.owned = {{}},
                                                 !.subscription = {Names}])

KafkaConsumerHeartbeatRequest ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in {{}} \cup {{o} : o \in Owned} :
    KafkaConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = owned])

KafkaConsumerLeaveRequest ==
  \E m \in MemberIds : KafkaConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = -1])

(***************************************************************************)
(* Events                                                                  *)
(***************************************************************************)

\* @type: (Str, Str) => Bool;
KafkaExpired(action, m) == KafkaRemove(m, EventStep(action, m, "", 0), NoRequestOf(action, m))

\* C1, H8: when a session ends, the first delay of a group ends, too, unless a
\* member has not joined.
\* @type: (Str) => $handled;
KafkaExpireClassic(m) ==
  LET h == Classic!ExpireClassic(classic, m)
      o == Classic!CompleteJoin([group |-> h.group, answers |-> h.step.completed])
  IN IF h.group.state = "PreparingRebalance" /\ h.group.initial /\ Classic!AllJoined(h.group)
     THEN [group |-> o.group, step |-> [h.step EXCEPT !.completed = o.answers]] ELSE h

KafkaSessionTimeout ==
  \E m \in MemberIds :
    \/ SessionTimerArmed(consumer, m) /\ KafkaExpired("SessionTimeout", m)
    \/ IsClassic /\ Classic!ClassicSessionArmed(classic, m) /\ KafkaClassic(classic, KafkaExpireClassic(m))

\* R4: the time-out of a member of the consumer protocol; a member of the
\* classic protocol has its time to rejoin instead.
KafkaRebalanceTimeout ==
  \E m \in Members(consumer) :
    RebalanceTimerArmed(consumer, m) /\ phase[m] = "" /\ KafkaExpired("RebalanceTimeout", m)

KafkaJoinTimeout ==
  \/ Classic!JoinTimerArmed(classic) /\ KafkaClassic(classic, Classic!ExpireJoin(classic))
  \/ \E m \in MemberIds : phase[m] \in {"prepare", "both"} /\ KafkaExpired("JoinTimeout", m)

KafkaSyncTimeout ==
  \/ IsClassic /\ Classic!OwingSync(classic) # {} /\ KafkaClassic(classic, Classic!ExpireSync(classic))
  \/ \E m \in MemberIds : phase[m] \in {"complete", "both"} /\ KafkaExpired("SyncTimeout", m)

\* P2: no record has what members were told, or owe.
KafkaFailOver ==
  /\ WithFailOver
  /\ \/ IsClassic /\ TakeClassic(Classic!ClassicEvent("FailOver", None,
                                                      Classic!Same(Classic!ClassicAfterFailOver(classic))))
     \/ /\ Exists(consumer)
        /\ IsConsumer([Mixed EXCEPT !.group = AfterFailOver(consumer),
                                    !.phase = [m \in MemberIds |-> IF phase[m] = "" THEN "" ELSE "stable"]],
                      words, EventStep("FailOver", None, "", 0), NoRequestOf("FailOver", None), NoGroup)

(***************************************************************************)
(* Behaviours                                                              *)
(***************************************************************************)

\* Steps that are not excluded (see above).
Bearable ==
  /\ step'.branch = "mixed-return" /\ Exists(consumer) =>
       {m \in Members(consumer) : phase[m] = ""} # Holds(classicStep'.request)
  /\ \A m \in MemberIds : phase'[m] # "" /\ phase[m] = "" /\ m \in Members(consumer) => consumer.members[m].revoking = {}
  /\ step'.action = "FailOver" => \A m \in MemberIds : phase[m] # "" => consumer.members[m].revoking = {}
  /\ IsClassic /\ Members(consumer') # {} /\ Classic!InGroup(classic) # {} => classic.protocol # "" /\ ~outlived
  /\ outlived' = (/\ step'.action # "FailOver"
                  /\ \/ outlived
                     \/ Exists(consumer) /\ \E m \in Classic!InGroup(classic') : phase[m] \notin {"", "stable"})

KafkaNext ==
  /\ \/ KafkaJoinRequest
     \/ KafkaSyncRequest
     \/ KafkaHeartbeatRequest
     \/ KafkaLeaveRequest
     \/ KafkaConsumerJoinRequest
     \/ KafkaConsumerHeartbeatRequest
     \/ KafkaConsumerLeaveRequest
     \/ KafkaSessionTimeout
     \/ KafkaRebalanceTimeout
     \/ KafkaJoinTimeout
     \/ KafkaSyncTimeout
     \/ KafkaFailOver
     \/ DeleteGroup
  /\ Bearable

KafkaInit == Init /\ outlived = FALSE
=============================================================================
