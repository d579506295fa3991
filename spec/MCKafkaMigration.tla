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

\* M2, M3: a Heartbeat tells a member of the classic protocol to rejoin exactly
\* while it must.
HeartbeatTells ==
  [][Exists(consumer) /\ step'.action = "ClassicHeartbeat" /\ phase[step'.member] # ""
       /\ classicStep'.request.generation = consumer.members[step'.member].epoch =>
       (classicStep'.response.error = "REBALANCE_IN_PROGRESS") = IsToRejoin(step'.member)]_kafkaVars

\* S2: the same with static members: a process that sends the instance id of
\* another is fenced.
HeartbeatTellsOrFences ==
  [][Exists(consumer) /\ step'.action = "ClassicHeartbeat" /\ phase[step'.member] # ""
       /\ classicStep'.request.generation = consumer.members[step'.member].epoch =>
       LET fenced == FencedError(step'.member, classicStep'.request)
           told == IF IsToRejoin(step'.member) THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"
       IN classicStep'.response.error = IF fenced # "NONE" THEN fenced ELSE told]_kafkaVars

\* M2: a LeaveGroup, a time-out or a session ends the membership.
WhoGoesIsNoMember ==
  [][Exists(consumer) /\ (\/ step'.action \in {"SessionTimeout", "RebalanceTimeout", "JoinTimeout", "SyncTimeout"}
                          \/ step'.action = "LeaveGroup" /\ classicStep'.response.error = "NONE") =>
       /\ step'.member \in Members(consumer)
       /\ step'.member \notin Members(consumer') \cup Classic!InGroup(classic')]_kafkaVars
=============================================================================
