--------------------------- MODULE MCKafkaMigration --------------------------
(***************************************************************************)
(* Online migration in the dialects of Kafka: the open instance, 2 members,*)
(* 1 partition and a stable classic group at the start.  Epochs and        *)
(* generations above MaxEpoch are cut off.  In StaticSpec a third process  *)
(* takes the place of another.                                             *)
(***************************************************************************)
EXTENDS KafkaMigration, KafkaDialects

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"a", "b"}
InOrder == [m \in TwoMembers |-> IF m = "a" THEN 1 ELSE 2]
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
MCClaimNames == [p \in OnePartition |-> "owns foo 0"]
MCGenerationNames ==
  [g \in -1..4 |-> IF g = -1 THEN "generation -1" ELSE IF g = 1 THEN "generation 1"
                   ELSE IF g = 2 THEN "generation 2" ELSE IF g = 3 THEN "generation 3"
                   ELSE IF g = 4 THEN "generation 4" ELSE "generation 0"]
\* @type: Set(Seq(Str));
OneList == {<<"range">>}
OneType == {"consumer"}
NothingOrAll == {{}, Partitions}
\* @type: Set(Str);
NoStrings == {}
NoOldOnes == {FALSE}
MCEpochs == 1..MaxEpoch
Both == {TwoMembers}
\* All to one member, and nothing to the other.
MCAssignments == {[m \in TwoMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}

ThreeMembers == {"a", "b", "c"}
ThreeInOrder == [m \in ThreeMembers |-> IF m = "a" THEN 1 ELSE IF m = "b" THEN 2 ELSE 3]
AllToFirst == {[m \in ThreeMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}
FirstOrBoth == {{"a"}, TwoMembers}
OneInstance == {"i"}
\* @type: Set(Set($partition));
OnlyNothing == {{}}

BoundedNext == KafkaNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch
\* No more than two of the three ids are in the group at a time.
AtMostTwo(c, g) ==
  Cardinality(Classic!InGroup(c) \cup Classic!PendingIds(c)) <= 2 /\ Cardinality(Members(g)) <= 2
StaticSpec == KafkaInit /\ [][BoundedNext /\ AtMostTwo(classic', consumer')]_kafkaVars
BoundedSpec == KafkaInit /\ [][BoundedNext]_kafkaVars

(***************************************************************************)
(* Properties, beside those of states in MigrationProperties               *)
(***************************************************************************)

\* M1, R7: as a group is converted, members hold what the log assigned to them
\* last, unless a rebalance was interrupted since; nothing else.
UpgradeKeepsAssigned ==
  [][IsClassic /\ Exists(consumer') /\ Classic!InGroup(classic) # {} =>
       \A m \in MemberIds :
         /\ Held(converted', m) = AssignedIn(classic, m)
         /\ Held(converted', m) \subseteq SavedAssignment(classic, m)]_kafkaVars

\* M1: as it is converted back, everybody is assigned their target, in the log, too.
DowngradeKeepsTargets ==
  [][Exists(consumer) /\ Classic!InGroup(classic') # {} =>
       \A m \in Classic!InGroup(classic') :
         /\ AssignedIn(classic', m) = TargetOf(consumer, m)
         /\ SavedAssignment(classic', m) = TargetOf(consumer, m)]_kafkaVars

\* M1, C1: nothing waits for an answer that never comes as a group is converted.
UpgradeAnswers ==
  [][Upgrades =>
       /\ {a.member : a \in classicStep'.completed} =
            {m \in Classic!InGroup(classic) : classic.members[m].joining \/ classic.members[m].syncing}
       /\ \A a \in classicStep'.completed : a.response.error = "REBALANCE_IN_PROGRESS"]_kafkaVars

\* E4: an epoch decreases only where the group has no members, or with a
\* generation that is not in the log yet as the coordinator fails over.
EpochsGoBackFromEmpty ==
  [][consumer'.epoch + classic'.generation < consumer.epoch + classic.generation =>
       step'.action = "FailOver" \/ (Members(consumer) = {} /\ Classic!InGroup(classic) = {})]_kafkaVars

\* M2: a LeaveGroup, a time-out or a session ends the membership.
WhoGoesIsNoMember ==
  [][Exists(consumer) /\ (\/ step'.action \in {"SessionTimeout", "RebalanceTimeout", "JoinTimeout", "SyncTimeout"}
                          \/ step'.action = "LeaveGroup" /\ classicStep'.response.error = "NONE") =>
       /\ step'.member \in Members(consumer)
       /\ step'.member \notin Members(consumer') \cup Classic!InGroup(classic')]_kafkaVars

(***************************************************************************)
(* Members of the classic protocol in a consumer group (M2, M3)            *)
(***************************************************************************)

\* The time in which a member must rejoin, or send its SyncGroup, runs.
\* @type: (Str) => Bool;
HasToJoin(at) == at \in {"prepare", "both"}
\* @type: (Str) => Bool;
HasToSync(at) == at \in {"complete", "both"}

\* Actions of a request of the consumer protocol that is no leave.
HeartbeatActions == {"Join", "Rejoin", "Return", "Heartbeat"}

\* The error of the last step's request, of either protocol.
ErrorNow == IF step'.response.error # "" THEN step'.response.error ELSE classicStep'.response.error

\* M2: an accepted JoinGroup makes its sender a member of the classic protocol,
\* an accepted heartbeat one of the consumer protocol; no other member changes
\* its protocol.
ProtocolFollowsRequests ==
  [][Exists(consumer) /\ Exists(consumer') =>
       \A m \in Members(consumer') :
         LET accepted == m = step'.member /\ ErrorNow = "NONE"
             joins == accepted /\ step'.action = "JoinGroup"
             beats == accepted /\ step'.action \in HeartbeatActions
         IN (phase'[m] # "") = (joins \/ (phase[m] # "" /\ ~beats))]_kafkaVars

\* M2, M3: the time to rejoin begins when an answer tells the member to rejoin,
\* and ends with its JoinGroup; then the time to send a SyncGroup begins, which
\* ends with an accepted one.  No other request, and no request of another
\* member, begins or ends either; a new coordinator knows of none (P2).
TimesToRejoin ==
  [][Exists(consumer) /\ Exists(consumer') =>
       \A m \in MemberIds : phase'[m] # "" =>
         LET own == m = step'.member /\ step'.action \in {"JoinGroup", "SyncGroup", "ClassicHeartbeat"}
             error == classicStep'.response.error
             joined == own /\ step'.action = "JoinGroup" /\ error = "NONE"
             synced == own /\ step'.action = "SyncGroup" /\ error = "NONE"
             told == own /\ error = "REBALANCE_IN_PROGRESS"
             known == step'.action # "FailOver"
         IN /\ HasToJoin(phase'[m]) = (known /\ (told \/ (HasToJoin(phase[m]) /\ ~joined)))
            /\ HasToSync(phase'[m]) = (known /\ (joined \/ (HasToSync(phase[m]) /\ ~synced)))]_kafkaVars

\* M2: a time-out is one of a member whose time runs: to rejoin, to send its
\* SyncGroup, or (R4, of a member of the consumer protocol alone) to give up
\* partitions.
TimeoutsOfMembers ==
  [][Exists(consumer) =>
       LET m == step'.member IN
       /\ step'.action = "JoinTimeout" => HasToJoin(phase[m])
       /\ step'.action = "SyncTimeout" => HasToSync(phase[m])
       /\ step'.action = "RebalanceTimeout" =>
            phase[m] = "" /\ Held(consumer, m) # consumer.members[m].assigned]_kafkaVars

\* M2, M3, S2: a Heartbeat tells a member of the classic protocol to rejoin exactly
\* while there is a newer target, something to give up, or something to get that
\* is free.  A wrong generation, a member of the other protocol and another
\* process with the instance id get their error first.
HeartbeatIsAnswered ==
  [][Exists(consumer) /\ step'.action = "ClassicHeartbeat" =>
       LET m == step'.member
           member == consumer.members[m]
           request == classicStep'.request
           holders == {n \in Members(consumer) : consumer.members[n].instance \in request.instance}
           awaits == TargetOf(consumer, m) \ member.assigned
           taken == UNION {Held(consumer, n) : n \in Members(consumer) \ {m}}
           mustRejoin == \/ member.epoch # consumer.epoch \/ Held(consumer, m) # member.assigned
                         \/ awaits # {} /\ awaits \cap taken = {}
       IN classicStep'.response.error =
            IF request.instance # {} /\ holders # {m}
            THEN IF holders = {} THEN "UNKNOWN_MEMBER_ID" ELSE "FENCED_INSTANCE_ID"
            ELSE IF phase[m] = "" THEN "UNKNOWN_MEMBER_ID"
            ELSE IF request.generation # member.epoch THEN "ILLEGAL_GENERATION"
            ELSE IF mustRejoin THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"]_kafkaVars

\* M2: a SyncGroup of a member that is behind, and has nothing to give up, is
\* answered that the member must rejoin; one that is accepted has all that the
\* member is assigned.  Neither request changes the group.
SyncGroupIsAnswered ==
  [][Exists(consumer) /\ step'.action = "SyncGroup" =>
       LET m == step'.member
           member == consumer.members[m]
           response == classicStep'.response
           current == phase[m] # "" /\ classicStep'.request.generation = member.epoch
           behind == member.epoch # consumer.epoch /\ Held(consumer, m) = member.assigned
       IN /\ (response.error = "UNKNOWN_MEMBER_ID") = (phase[m] = "")
          /\ (response.error = "ILLEGAL_GENERATION") = (phase[m] # "" /\ ~current)
          /\ (response.error = "REBALANCE_IN_PROGRESS") = (current /\ behind)
          /\ response.assignment = IF response.error = "NONE" THEN {member.assigned} ELSE {}
          /\ UNCHANGED <<consumer, words>>]_kafkaVars

\* M2: a JoinGroup without a member id is answered with one.  Any other is
\* accepted, with any generation, and has the member's fields from then on; the
\* epoch is bumped for a new member and for another subscription (E1), a target
\* that is due is computed (E2), and the answer has the member's epoch: that of
\* the target with all of it that is free; or (R1) the epoch that it had, while
\* it must give up partitions that it claims.  No other member is touched.
JoinGroupIsAnswered ==
  [][Members(consumer) # {} /\ step'.action = "JoinGroup" =>
       LET m == step'.member
           request == classicStep'.request
           response == classicStep'.response
           member == consumer'.members[m]
           claimed == ClaimedIn(request.subscription)
           replaced == {n \in Members(consumer) : consumer.members[n].instance \in request.instance}
           before == {consumer.members[n].subscription : n \in replaced \cup ({m} \cap Members(consumer))}
           taken == UNION {Held(consumer', n) : n \in MemberIds \ {m}}
       IN /\ response.member = m
          /\ (response.error = "MEMBER_ID_REQUIRED") = (request.member = None /\ request.instance = {})
          /\ response.error # "NONE" =>
               response.error = "MEMBER_ID_REQUIRED" /\ UNCHANGED <<consumer, phase, words>>
          /\ response.error = "NONE" =>
               /\ response.generation = member.epoch
               /\ words'[m] = [protocols |-> request.protocols, subscription |-> request.subscription]
               /\ member.subscription = TopicsIn(request.subscription)
               /\ consumer'.epoch = consumer.epoch + (IF member.subscription \in before THEN 0 ELSE 1)
               /\ consumer'.assignmentEpoch = consumer'.epoch
               /\ claimed \cap Held(consumer, m) \subseteq Held(consumer', m)
               /\ IF member.revoking = {}
                  THEN member.epoch = consumer'.epoch /\ member.assigned = TargetOf(consumer', m) \ taken
                  ELSE /\ member.epoch = consumer.members[m].epoch \/ consumer.members[m].revoking # {}
                       /\ claimed \cap member.revoking # {}
                       /\ Held(consumer', m) \subseteq Held(consumer, m)
               /\ \A n \in MemberIds \ ({m} \cup replaced) : consumer'.members[n] = consumer.members[n]]_kafkaVars

\* M2: a LeaveGroup names a member of either protocol.
LeaveGroupIsAnswered ==
  [][Exists(consumer) /\ step'.action = "LeaveGroup" =>
       /\ classicStep'.response.error =
            IF step'.member \in Members(consumer) THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"
       /\ classicStep'.response.error # "NONE" => UNCHANGED kafkaView]_kafkaVars

\* E2: a member that is removed bumps the epoch, and the next target waits for
\* the next heartbeat; a group without members has nothing due where the dialect
\* says so.
RemovalLeavesTheTargetDue ==
  [][Exists(consumer) /\ Exists(consumer')
       /\ step'.action \in {"LeaveGroup", "Leave", "SessionTimeout", "RebalanceTimeout", "JoinTimeout", "SyncTimeout"}
       /\ ErrorNow \in {"", "NONE"} =>
       /\ consumer'.epoch = consumer.epoch + 1
       /\ Members(consumer') # {} => consumer'.assignmentEpoch = consumer.assignmentEpoch
       /\ \A m \in Members(consumer') : TargetOf(consumer', m) = TargetOf(consumer, m)]_kafkaVars

\* E2, M2: no accepted request of a member leaves a target due.
RequestsComputeTheTarget ==
  [][Exists(consumer') /\ step'.action \in HeartbeatActions /\ step'.response.error = "NONE" =>
       consumer'.assignmentEpoch = consumer'.epoch]_kafkaVars

(***************************************************************************)
(* Conversion (M1)                                                         *)
(***************************************************************************)

\* M1: the epochs are the generation; all members are taken over, as they are,
\* with their assignment as their target, in a group that knows its topics.
\* No member has to rejoin, and only the join that converts the group bumps its
\* epoch (unless it takes a place, S1).  A member that was converted is at no
\* epoch before that (H6).
UpgradeTakesAll ==
  [][IsClassic /\ Exists(consumer') /\ Classic!InGroup(classic) # {} =>
       LET there == Classic!InGroup(classic)
           before == {converted'.members[m].subscription : m \in there \cap {step'.member}}
           bumps == step'.action # "Return" /\ consumer'.members[step'.member].subscription \notin before
       IN
       /\ converted'.epoch = classic.generation /\ converted'.assignmentEpoch = classic.generation
       /\ Members(converted') = there
       /\ consumer'.epoch = classic.generation + (IF bumps THEN 1 ELSE 0)
       /\ \A m \in there :
            LET member == converted'.members[m] IN
            /\ member.epoch = classic.generation /\ member.previousEpoch = classic.generation
            /\ member.instance = classic.members[m].instance
            /\ member.subscription = TopicsIn(classic.members[m].subscription)
            /\ member.assigned = TargetOf(converted', m)
       /\ \A m \in MemberIds : phase'[m] # "" =>
            /\ phase'[m] = "stable"
            /\ words'[m] = [protocols |-> classic.members[m].protocols,
                            subscription |-> classic.members[m].subscription]
       /\ \A m \in there \ {step'.member} : phase'[m] # "" \/ step'.action = "Return"]_kafkaVars

\* E4, M1: nothing is left of a group of either kind without members when a
\* process joins with the other protocol, not even its epoch.
EmptyIsForgotten ==
  [][/\ IsClassic /\ classic.state = "Empty" /\ Exists(consumer') =>
          converted' = NoGroup /\ Members(consumer') = {step'.member}
     /\ Exists(consumer) /\ Members(consumer) = {} /\ step'.action = "JoinGroup" =>
          /\ classic'.generation = 0 /\ classic'.state = "Empty"
          /\ Classic!PendingIds(classic') = {step'.member}]_kafkaVars

\* M1: when the last member of the consumer protocol goes, all others are
\* converted back with the fields of their last request; they must rejoin, and
\* the epoch is the generation.  No step that ends a membership leaves a consumer
\* group of members of the classic protocol.
DowngradeTakesAll ==
  [][Members(consumer) # {} =>
       /\ Classic!ClassicExists(classic') =>
            LET there == Classic!InGroup(classic') IN
            /\ there # {} /\ there = {m \in Members(consumer) : phase[m] # ""} \ {step'.member}
            /\ classic'.generation = consumer.epoch /\ classic'.type = "consumer"
            /\ classic'.state = "PreparingRebalance"
            /\ \A m \in there :
                 LET member == classic'.members[m] IN
                 /\ [protocols |-> member.protocols, subscription |-> member.subscription] = words[m]
                 /\ member.instance = consumer.members[m].instance
                 /\ ~member.joining /\ ~member.owesSync
       /\ step'.action # "JoinGroup" /\ Members(consumer') # {} /\ ~(Members(consumer) \subseteq Members(consumer')) =>
            \E m \in Members(consumer') : phase'[m] = ""]_kafkaVars

\* H5, M1: a heartbeat or a leave of the consumer protocol is refused by a classic
\* group, and a join that is refused converts nothing.
ClassicGroupRefuses ==
  [][IsClassic /\ step'.response.error # "" =>
       /\ step'.action \notin {"Join", "Rejoin", "Return"} => step'.response.error = "GROUP_ID_NOT_FOUND"
       /\ step'.response.error # "NONE" => UNCHANGED view]_kafkaVars

(***************************************************************************)
(* Classic groups (C1)                                                     *)
(***************************************************************************)

\* C1: members keep their assignments until the next one is there, unless the
\* rebalance interrupts another.
AssignmentsLast ==
  [][IsClassic /\ classic'.state \in {"PreparingRebalance", "CompletingRebalance"} /\ step'.action # "FailOver" =>
       LET interrupts == /\ classic.state = "CompletingRebalance"
                         /\ classic'.state = "PreparingRebalance" \/ classic'.generation # classic.generation
       IN \A m \in Classic!InGroup(classic) \cap Classic!InGroup(classic') :
            classic'.members[m].assignment = IF interrupts THEN {} ELSE classic.members[m].assignment]_kafkaVars

\* C1: a request that a later one of its member replaces is never answered, and
\* neither is a SyncGroup of a process that is no member any more.
NotAllAreAnswered ==
  [][\A a \in classicStep'.completed :
       /\ a.response.api = step'.action => a.member # step'.member
       /\ a.response.api = "SyncGroup" => a.member \in Classic!InGroup(classic') \cup Members(consumer')]_kafkaVars

\* C1: a barrier whose members are all gone waits for ids that have not joined,
\* until the time-out; an id that leaves so in another state begins a rebalance.
BarrierWaitsForIds ==
  [][IsClassic /\ Classic!ClassicExists(classic') =>
       /\ classic.state = "PreparingRebalance" /\ Classic!PendingIds(classic') # {}
          /\ step'.action \notin {"JoinTimeout", "FailOver"} => classic'.state = "PreparingRebalance"
       /\ step'.action = "JoinTimeout" /\ ~classic.initial /\ classic'.state = "PreparingRebalance" =>
            Classic!InGroup(classic') # {}
       /\ step'.action = "LeaveGroup" /\ step'.member \in Classic!PendingIds(classic) /\ Classic!InGroup(classic) # {} =>
            classic'.state # "Stable"]_kafkaVars

\* C1, H8: the first delay ends with a session where all others have joined.
DelayEndsWithTheSession ==
  [][IsClassic /\ step'.action = "SessionTimeout" /\ classic.initial =>
       classic'.initial = (\E m \in MemberIds \ {step'.member} :
         classic.members[m].place # "" /\ ~classic.members[m].joining)]_kafkaVars
=============================================================================
