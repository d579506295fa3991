------------------------- MODULE RecordedMigration --------------------------
(***************************************************************************)
(* Tells if a recorded run of a coordinator is a behaviour of the open     *)
(* instance of online migration.  The module does the same as Recorded for *)
(* consumer groups and RecordedClassic for classic groups, for a group     *)
(* that is one of them at a time: a log is rendered into a module that     *)
(* extends this one and defines Runs, `at` counts the lines that fit, and  *)
(* the states with a negative `at` are those that the specification allows *)
(* instead of the line that does not fit.                                  *)
(*                                                                         *)
(* Subscriptions of members of the classic protocol are read here, as the  *)
(* coordinator does to convert the group: their topics, their claims and   *)
(* the generation of the claims (Conversions); an assignment is its        *)
(* partitions.  A run begins without a group, or with a stable classic     *)
(* group.                                                                  *)
(*                                                                         *)
(* A model replaces Targets by RecordedTargets: the target that was        *)
(* observed, else any.  Left out: user data (M4) and what else             *)
(* MixedChanges leaves out; committed offsets, except whether a commit was *)
(* accepted; events that the log does not have.                            *)
(***************************************************************************)
EXTENDS MixedChanges, MixedOffsets, Sequences

(*
  What was seen of a member of a consumer group; {} is what the target does
  not show.
  @typeAlias: seenMixedMember = {epoch: Int, previousEpoch: Set(Int), instance: Set(Str),
    subscription: Set(Set(Str)), regex: Set(Str), assignor: Set(Str),
    assigned: Set(Set($partition)), revoking: Set(Set($partition)), acknowledged: Set(Bool)};
  Where a member of the classic protocol in it is, and what it said; the phase
  of others is "".
  @typeAlias: seenWords = {phase: Str, words: $words};
  @typeAlias: seenMixed = {state: Set(Str), metadata: Set(Set($partition)), epoch: Int, assignmentEpoch: Int,
    target: Set($partition -> Str),
    members: Str -> $seenMixedMember, said: Set(Str -> $seenWords)};

  And of a classic group.
  @typeAlias: seenOldMember = {place: Str, instance: Set(Str), protocols: Set(Seq(Str)),
    subscription: Set(Set(Str)), assignment: Set(Set(Set($partition))), fresh: Set(Bool),
    joining: Set(Bool), syncing: Set(Bool), owesSync: Set(Bool)};
  @typeAlias: seenOld = {state: Str, generation: Int, type: Set(Str), protocol: Set(Str), leader: Set(Str),
    members: Str -> $seenOldMember};

  One line: what was done ("Request" for a heartbeat of the consumer protocol,
  which may be `whole` for Kafka, else the name of its action), the response of either protocol, the answers to
  requests that waited since the last line that has them, and the group after
  it, as far as they were seen; and who leads the classic group by then, or next.
  @typeAlias: mixedLine = {does: Str, member: Str, leader: Set(Str), whole: Bool, request: $request, asked: $classicRequest,
    topic: Str, partitions: Int, response: Set($response), answer: Set($classicResponse),
    completed: Set(Set($answer)), seen: Set($seenMixed), seenOld: Set($seenOld)};
  `start` is the stable classic group that a run begins with, if it does.
  @typeAlias: mixedRun = {topics: Str -> Int, start: Set($classicGroup), lines: Seq($mixedLine)};
*)
RecordedMigration_aliases == TRUE

CONSTANTS
  \* @type: Seq($mixedRun);
  Runs

VARIABLES
  \* The number of the run.
  \* @type: Int;
  run,
  \* The number of its lines that fit; -n: an alternative to line n.
  \* @type: Int;
  at,
  \* The answers to requests that waited which no line that fits has had yet.
  \* @type: Set($answer);
  due

recordedVars == <<offsetVars, run, at, due>>

\* @type: Seq($mixedLine);
Lines == Runs[run].lines
\* @type: $mixedLine;
Line == Lines[at + 1]

\* The target of a model, in place of all Targets: the one that was observed
\* after the line, else every possible one.
\* @type: Set($partition -> Str);
RecordedTargets ==
  LET seen == UNION {one.target : one \in Line.seen}
      there == {p \in Partitions : p[1] = Line.topic \/ p[2] < topics[p[1]]}
      owners == Members(consumer) \cup Classic!InGroup(classic) \cup {Line.member, None}
  IN IF seen # {} THEN seen
     ELSE {[p \in Partitions |-> IF p \in there THEN owner[p] ELSE None] : owner \in [there -> owners]}

\* The leader of a recorded run, in place of FirstMember: the member that is
\* seen to lead.
\* @type: (Set(Str)) => Str;
RecordedFirst(members) ==
  IF Line.leader \cap members # {} THEN CHOOSE m \in Line.leader : m \in members
  ELSE CHOOSE m \in members : \A n \in members : MemberRank[m] <= MemberRank[n]

(***************************************************************************)
(* The visible part of a step                                              *)
(***************************************************************************)

\* A response as it travels: in an error little is.
\* @type: ($classicResponse) => $classicResponse;
ShownInMigration(response) ==
  IF response.error \in {"", "NONE"} /\ response.api \in {"", "JoinGroup", "SyncGroup"} THEN response
  ELSE Classic!ClassicError(response.api, IF response.api = "JoinGroup" THEN response.member ELSE None,
                            response.error)

\* @type: (Set($answer)) => Set($answer);
AnswersAsShown(answers) == {[one EXCEPT !.response = ShownInMigration(one.response)] : one \in answers}

\* @type: ($member, $seenMixedMember) => Bool;
LooksLikeMember(member, seen) ==
  /\ member.epoch = seen.epoch
  /\ member.epoch # NotInGroup =>
       /\ \A epoch \in seen.previousEpoch : member.previousEpoch = epoch
       /\ \A instance \in seen.instance : member.instance = instance
       /\ \A subscription \in seen.subscription : member.subscription = subscription
       /\ \A regex \in seen.regex : member.regex = regex
       /\ \A assignor \in seen.assignor : member.assignor = assignor
       /\ \A assigned \in seen.assigned : member.assigned = assigned
       /\ \A revoking \in seen.revoking : member.revoking = revoking
       /\ \A acknowledged \in seen.acknowledged : member.acknowledged = acknowledged

\* The target of a removed member, which it has until the next target, is not
\* shown.
\* @type: ($group, $partition -> Str) => Bool;
HasTarget(g, target) ==
  LET members == Members(g) IN
  \A p \in Partitions :
    IF target[p] = None THEN g.target[p] \notin members ELSE g.target[p] = target[p]

\* Topics that a group knows: <<"foo", 2>> is one with two partitions.
\* @type: (Str -> Int) => Set($partition);
SizesIn(metadata) == {<<t, metadata[t]>> : t \in {u \in Topics : metadata[u] > 0}}

\* The phase of a member's rebalance, as an observer sees it: a member that
\* must rejoin, and owes its SyncGroup, is shown as one that must rejoin
\* (KafkaMigration).
\* @type: (Str) => Str;
AsShown(where) == IF where = "both" THEN "prepare" ELSE where

\* @type: ($group, Str -> Str, Str -> $words, $seenMixed) => Bool;
LooksLike(g, phases, said, seen) ==
  /\ \A state \in seen.state : GroupState(g) = state
  /\ \A sizes \in seen.metadata : SizesIn(g.metadata) = sizes
  /\ g.epoch = seen.epoch
  /\ g.assignmentEpoch = seen.assignmentEpoch
  /\ \A target \in seen.target : HasTarget(g, target)
  /\ \A m \in MemberIds : LooksLikeMember(g.members[m], seen.members[m])
  /\ \A one \in seen.said : \A m \in MemberIds : AsShown(phases[m]) = one[m].phase /\ said[m] = one[m].words

\* @type: ($classicMember, $seenOldMember) => Bool;
LooksLikeOldMember(member, seen) ==
  /\ member.place = seen.place
  /\ member.place = "member" =>
       /\ \A instance \in seen.instance : member.instance = instance
       /\ \A protocols \in seen.protocols : member.protocols = protocols
       /\ \A subscription \in seen.subscription : member.subscription = subscription
       /\ \A assignment \in seen.assignment : member.assignment = assignment
       /\ \A fresh \in seen.fresh : member.fresh = fresh
       /\ \A joining \in seen.joining : member.joining = joining
       /\ \A syncing \in seen.syncing : member.syncing = syncing
       /\ \A owesSync \in seen.owesSync : member.owesSync = owesSync

\* @type: ($classicGroup, $seenOld) => Bool;
LooksLikeOld(g, seen) ==
  /\ g.state = seen.state
  /\ g.generation = seen.generation
  /\ \A type \in seen.type : g.type = type
  /\ \A protocol \in seen.protocol : g.protocol = protocol
  /\ \A leader \in seen.leader : g.leader = leader
  /\ \A m \in MemberIds : LooksLikeOldMember(g.members[m], seen.members[m])

\* Does the step have the line's response, answers and state?  A heartbeat is
\* answered with `told`.
\* @type: ($response) => Bool;
Fits(told) ==
  /\ \A response \in Line.response : told = response
  /\ \A answer \in Line.answer : ShownInMigration(classicStep'.response) = answer
  /\ \A answers \in Line.completed : AnswersAsShown(due \cup classicStep'.completed) = answers
  /\ \A seen \in Line.seen : ~Classic!ClassicExists(classic') /\ LooksLike(consumer', phase', words', seen)
  /\ \A seen \in Line.seenOld : LooksLikeOld(classic', seen)

(***************************************************************************)
(* The line as the specification has it                                    *)
(***************************************************************************)

\* O2, M2: a commit is accepted or refused; the committed offset is left out.
\* @type: (Str) => Bool;
Commits(error) ==
  /\ step' = EventStep("OffsetCommit", Line.member, "", 0)
  /\ classicStep' = [NoRequestOf("OffsetCommit", Line.member) EXCEPT
                       !.request = Line.asked, !.response = Classic!ClassicError("OffsetCommit", None, error)]
  /\ converted' = NoGroup
  /\ UNCHANGED <<consumer, phase, words, classic, topics>>

\* C1, M1, M2: a request of either protocol, to whatever group there is.
RecordedRequest ==
  \/ Line.does = "Request" /\ ConsumerRequest(Line.member, Line.request)
  \/ Line.does = "JoinGroup" /\ TakeJoin(Line.member, Line.asked)
  \/ /\ Line.does = "SyncGroup"
     /\ IF Exists(consumer) THEN SyncMixed(Line.member, Line.asked)
        ELSE TakeClassic(Classic!SyncGroup(classic, Line.asked))
  \/ /\ Line.does = "ClassicHeartbeat"
     /\ IF Exists(consumer) THEN HeartbeatMixed(Line.member, Line.asked)
        ELSE TakeClassic(Classic!ClassicHeartbeat(classic, Line.asked))
  \/ /\ Line.does = "LeaveGroup"
     /\ IF Exists(consumer) THEN LeaveMixed(Line.member, Line.asked)
        ELSE TakeClassic(Classic!LeaveGroup(classic, Line.asked))
  \/ Line.does = "OffsetCommit" /\ Commits(MixedCommitError(Line.member, Line.asked.generation))

\* P2: a new coordinator has nothing to take over of a group that is not there.
FailOverOfNone ==
  /\ ~Exists(consumer) /\ ~IsClassic
  /\ step' = EventStep("FailOver", None, "", 0)
  /\ classicStep' = NoRequestOf("FailOver", None)
  /\ converted' = NoGroup
  /\ UNCHANGED <<consumer, phase, words, classic, topics>>

\* The event happens to the member that the line names.
IsLinesEvent ==
  /\ step'.member = Line.member
  /\ step'.topic = Line.topic
  /\ step'.partitions = Line.partitions

RecordedEvent ==
  /\ \/ Line.does = "SessionTimeout" /\ SessionTimeout
     \/ Line.does = "RebalanceTimeout" /\ RebalanceTimeout
     \/ Line.does = "JoinTimeout" /\ JoinTimeout
     \/ Line.does = "SyncTimeout" /\ SyncTimeout
     \/ Line.does = "DeleteGroup" /\ DeleteGroup
     \/ Line.does = "AddPartitions" /\ AddPartitions
     \/ Line.does = "FailOver" /\ (FailOver \/ FailOverOfNone)
  /\ IsLinesEvent

\* The line is judged by the step.
\* @type: ($response) => Bool;
Judge(told) ==
  /\ at' = IF Fits(told) THEN at + 1 ELSE -(at + 1)
  /\ due' = IF Line.completed # {} /\ at' > at THEN {} ELSE due \cup classicStep'.completed

\* @type: (Str, Set(Str)) => Set({timer: Str, member: Str});
TimersOf(timer, members) == {[timer |-> timer, member |-> m] : m \in members}

\* The timers that are armed.
Armed ==
  LET OfGroup(timer, armed) == IF armed THEN TimersOf(timer, {None}) ELSE {} IN
  TimersOf("SessionTimeout", {m \in MemberIds : \/ SessionTimerArmed(consumer, m)
                                                \/ IsClassic /\ Classic!ClassicSessionArmed(classic, m)})
  \cup TimersOf("RebalanceTimeout", {m \in Members(consumer) : RebalanceTimerArmed(consumer, m)})
  \cup TimersOf("JoinTimeout", {m \in MemberIds : phase[m] \in {"prepare", "both"}})
  \cup TimersOf("SyncTimeout", {m \in MemberIds : phase[m] \in {"complete", "both"}})
  \cup OfGroup("JoinTimeout", IsClassic /\ Classic!JoinTimerArmed(classic))
  \cup OfGroup("SyncTimeout", IsClassic /\ Classic!OwingSync(classic) # {})
  \cup OfGroup("DeleteGroup", GroupState(consumer) = "Empty" \/ classic.state = "Empty")

\* For a report of what might have happened instead.
OtherTimer ==
  /\ \E one \in Armed :
       /\ one.timer # Line.does \/ one.member # Line.member
       /\ step' = EventStep(one.timer, one.member, "", 0)
       /\ classicStep' = NoRequestOf(one.timer, one.member)
  /\ converted' = NoGroup
  /\ at' = -(at + 1)
  /\ UNCHANGED <<consumer, phase, words, classic, topics, due>>

RecordedInit ==
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ due = {}
  /\ classic = IF Runs[run].start = {} THEN Classic!NoClassicGroup
               ELSE Classic!Save(CHOOSE g \in Runs[run].start : TRUE)
  /\ topics = Runs[run].topics
  /\ consumer = NoGroup
  /\ phase = NoPhases
  /\ words = [m \in MemberIds |-> NoWords]
  /\ step = NoStep
  /\ classicStep = Classic!NoClassicStep
  /\ converted = NoGroup
  /\ offsets = NoOffsets

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ ((RecordedRequest \/ RecordedEvent) /\ Judge(step'.response)) \/ OtherTimer
  /\ UNCHANGED <<run, offsets>>

RecordedSpec == RecordedInit /\ [][RecordedNext]_recordedVars
=============================================================================
