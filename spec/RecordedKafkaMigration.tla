----------------------- MODULE RecordedKafkaMigration -----------------------
(***************************************************************************)
(* Tells if a recorded run of a group that migrates is a behaviour of      *)
(* KafkaMigration in a dialect of Kafka.  The module is RecordedMigration  *)
(* with Kafka's steps in the place of the text's.                          *)
(*                                                                         *)
(* A run is not judged from the line on that KafkaMigration leaves out     *)
(* (IsLeftOut) or excludes (Bearable): the state after that line has       *)
(* `beyond`, and a negative `at` like a line that does not fit.  A run is  *)
(* no behaviour if its lines fit in no order of choices, and none of those *)
(* orders goes beyond.                                                     *)
(*                                                                         *)
(* A static process that joins a classic group, which KafkaMigration       *)
(* leaves out as its id is in no answer while it waits, is judged: a log   *)
(* has its id.                                                             *)
(***************************************************************************)
EXTENDS RecordedMigration, KafkaMigration

VARIABLES
  \* Is the last line one that is not judged?
  \* @type: Bool;
  beyond,
  \* The answer to its heartbeat, in the place of `step.response`.
  \* @type: $response;
  kafkaTold

recordedKafkaVars == <<recordedVars, outlived, beyond, kafkaTold>>

(***************************************************************************)
(* Steps that are not judged                                               *)
(***************************************************************************)

\* @type: (Str) => Bool;
IsThereAlready(m) == m \in Members(consumer) \cup Classic!InGroup(classic)

\* C1, M2: more would have to be remembered of an empty consumer group; protocols that
\* others do not have, and a subscription that cannot be read; one member too many.
\* @type: (Str, $classicRequest) => Bool;
JoinGroupLeftOut(m, request) ==
  IF Members(consumer) = {}
  THEN Exists(consumer) /\ request.member # None
  ELSE \/ IsInconsistent(m, request)
       \/ ~IsThereAlready(m) /\ Cardinality(Members(consumer)) >= MaxGroupSize

\* M2, S2: with an instance id that is not the member's, or for another protocol.
\* @type: (Str, $classicRequest) => Bool;
SyncGroupLeftOut(m, request) ==
  /\ phase[m] # ""
  /\ \/ FencedError(m, request) # "NONE"
     \/ \E type \in request.type : type # "consumer"
     \/ \E protocol \in request.protocol : protocol # words[m].protocols[1]

\* M1: the group is of another type, in the first delay of its members, has
\* more members than the maximum, or has a member whose subscription cannot be
\* read.
\* @type: ($classicGroup) => Bool;
CannotBeConverted(c) ==
  LET there == Classic!InGroup(c) IN
  there # {} /\ (\/ c.type # "consumer"
                 \/ c.protocol = ""
                 \/ Cardinality(there) > MaxGroupSize
                 \/ \E m \in there : IsTooOld(c.members[m].subscription))

\* M1: is a conversion refused while a request waits?
\* @type: (Str, $request) => Bool;
RefusedWhileWaiting(m, request) ==
  LET x == KafkaUpgraded(classic) IN
  /\ RejoinAnswers(classic) # {}
  /\ ~Replaces(x, request)
  /\ UpdateMember(x.group, topics, m, request).error # "NONE"

\* S1, M1: static members that are away, or name an instance id as they change
\* their protocol, or another one.
\* @type: (Str, $request) => Bool;
HeartbeatLeftOut(m, request) ==
  \/ request.epoch = Away
  \/ request.instance # {} /\ (phase[m] # "" \/ m \in Classic!InGroup(classic))
  \/ request.epoch = 0 /\ m \in Members(consumer) /\ \E i \in request.instance : i # consumer.members[m].instance
  \/ IsClassic /\ request.epoch = 0 /\ (CannotBeConverted(classic) \/ RefusedWhileWaiting(m, request))

IsLeftOut ==
  \/ Line.does = "Request" /\ HeartbeatLeftOut(Line.member, Line.request)
  \/ Line.does = "JoinGroup" /\ JoinGroupLeftOut(Line.member, Line.asked)
  \/ Line.does = "SyncGroup" /\ SyncGroupLeftOut(Line.member, Line.asked)
  \* O2: a commit without a group creates a classic group for its offsets.
  \/ Line.does = "OffsetCommit" /\ Line.asked.generation < 0 /\ ~Exists(consumer) /\ ~IsClassic
  \/ Line.does = "AddPartitions"

GoBeyond ==
  /\ beyond' = TRUE
  /\ at' = -(at + 1)
  /\ due' = due
  /\ kafkaTold' = NoResponse

LeaveOut ==
  /\ GoBeyond
  /\ step' = EventStep(Line.does, Line.member, "", 0)
  /\ classicStep' = NoRequestOf(Line.does, Line.member)
  /\ converted' = NoGroup
  /\ UNCHANGED <<consumer, phase, words, classic, topics, outlived>>

(***************************************************************************)
(* The line as KafkaMigration has it                                       *)
(***************************************************************************)

\* O2: in a group without members a commit with a generation below 0 is
\* accepted from any sender.  Since 4.3 a commit of a consumer with an older
\* epoch may be accepted: that depends on the epoch of the partition, which is
\* left out.
\* @type: (Str, Int) => Set(Str);
KafkaCommitErrors(m, generation) ==
  LET error == MixedCommitError(m, generation) IN
  IF generation < 0 /\ Members(consumer) = {} /\ Classic!InGroup(classic) = {} THEN {"NONE"}
  ELSE IF Dialect.PartitionEpochs /\ error = "STALE_MEMBER_EPOCH" /\ generation < consumer.members[m].epoch
  THEN {"NONE", error} ELSE {error}

RecordedKafkaRequest ==
  \/ Line.does = "Request" /\ KafkaConsumerRequest(Line.member, Line.request)
  \/ Line.does = "JoinGroup" /\ KafkaTakeJoin(Line.member, Line.asked)
  \/ /\ Line.does = "SyncGroup"
     /\ IF Exists(consumer) THEN KafkaSyncMixed(Line.member, Line.asked)
        ELSE KafkaClassic(classic, Classic!SyncGroup(classic, Line.asked))
  \/ /\ Line.does = "ClassicHeartbeat"
     /\ IF Exists(consumer) THEN KafkaHeartbeatMixed(Line.member, Line.asked)
        ELSE KafkaClassic(classic, Classic!ClassicHeartbeat(classic, Line.asked))
  \/ /\ Line.does = "LeaveGroup"
     /\ IF Exists(consumer) THEN KafkaLeaveMixed(Line.member, Line.asked)
        ELSE KafkaClassic(classic, KafkaLeave(Line.member, Line.asked))
  \/ /\ Line.does = "OffsetCommit"
     /\ \E error \in KafkaCommitErrors(Line.member, Line.asked.generation) : Commits(error)

RecordedKafkaEvent ==
  /\ \/ Line.does = "SessionTimeout" /\ KafkaSessionTimeout
     \/ Line.does = "RebalanceTimeout" /\ KafkaRebalanceTimeout
     \/ Line.does = "JoinTimeout" /\ KafkaJoinTimeout
     \/ Line.does = "SyncTimeout" /\ KafkaSyncTimeout
     \/ Line.does = "DeleteGroup" /\ DeleteGroup
     \/ Line.does = "FailOver" /\ (KafkaFailOver \/ FailOverOfNone)
  /\ IsLinesEvent

\* R5: an assignment that has not changed is sent where the request is whole: it has a
\* rebalance time-out, too, of which a request of the model knows nothing.
\* @type: $response;
SentByKafka ==
  LET member == consumer'.members[Line.member] IN
  IF /\ Line.does = "Request" /\ Line.request.epoch > 0 /\ ~Line.whole
     /\ member.assigned = consumer.members[Line.member].assigned
  THEN [step'.response EXCEPT !.assignment = {}] ELSE step'.response

\* As Bearable has it, which looks at it.
OutlivedNow ==
  /\ step'.action # "FailOver"
  /\ \/ outlived
     \/ Exists(consumer) /\ \E m \in Classic!InGroup(classic') : phase[m] \notin {"", "stable"}

RecordedKafkaLine ==
  /\ RecordedKafkaRequest \/ RecordedKafkaEvent
  /\ outlived' = OutlivedNow
  /\ IF Bearable THEN kafkaTold' = SentByKafka /\ Judge(kafkaTold') /\ beyond' = FALSE ELSE GoBeyond

RecordedKafkaInit == RecordedInit /\ outlived = FALSE /\ beyond = FALSE /\ kafkaTold = NoResponse

RecordedKafkaNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ IF IsLeftOut THEN LeaveOut
     ELSE RecordedKafkaLine \/ (OtherTimer /\ UNCHANGED <<outlived, beyond, kafkaTold>>)
  /\ UNCHANGED <<run, offsets>>

RecordedKafkaSpec == RecordedKafkaInit /\ [][RecordedKafkaNext]_recordedKafkaVars
=============================================================================
