------------------------------ MODULE Recorded ------------------------------
(***************************************************************************)
(* Tells if a recorded run of a coordinator is a behaviour of the open     *)
(* instance. A log (requests, responses, observed states of the group,     *)
(* events) is rendered into a module that extends this one and defines     *)
(* Runs; such modules are never written by hand.                           *)
(*                                                                         *)
(* `at` counts the lines that fit.  A run is a behaviour if `at` reaches   *)
(* its end; else the greatest `at` is the length of the longest prefix     *)
(* that is one, and the states with a negative `at` are those that the     *)
(* specification allows instead of the line that does not fit.  A model    *)
(* replaces Targets and LegalTarget by RecordedTargets and                 *)
(* RecordedLegalTarget, and, for speed, TopicsOf, MetadataOf and           *)
(* HeldByOthers by operators that are equal to them.  Left out: offsets;   *)
(* events that the log does not have, except time-outs where the clock was *)
(* not the recorder's.                                                     *)
(***************************************************************************)
EXTENDS OpenGroup, Sequences

(*
  What was seen of a member; {} is what the target does not show.
  @typeAlias: seenMember = {epoch: Int, previousEpoch: Set(Int), instance: Set(Str),
    subscription: Set(Set(Str)), regex: Set(Str), assignor: Set(Str),
    assigned: Set(Set($partition)), revoking: Set(Set($partition)), acknowledged: Set(Bool)};
  @typeAlias: seen = {state: Set(Str), metadata: Set(Set($partition)), epoch: Int, assignmentEpoch: Int,
    target: Set($partition -> Str),
    members: Str -> $seenMember};

  One line: what was done ("Request", or an event by the name of its action),
  its response and the group after it, as far as they were seen; the target
  that was put in the place of the assignor's, if one was.
  @typeAlias: line = {does: Str, member: Str, request: $request, topic: Str, partitions: Int,
    response: Set($response), seen: Set($seen), script: Set($partition -> Str)};
  `forgets` says that partitions of topics that are gone are not shown (T2);
  `explained` has the lines at which the timers that are armed beside are shown.
  @typeAlias: run = {topics: Str -> Int, timed: Bool, forgets: Bool, explained: Set(Int),
    lines: Seq($line)};
*)
Recorded_aliases == TRUE

CONSTANTS
  \* @type: Seq($run);
  Runs

VARIABLES
  \* The number of the run.
  \* @type: Int;
  run,
  \* The number of its lines that fit; -n: an alternative to line n.
  \* @type: Int;
  at

recordedVars == <<vars, run, at>>

\* @type: Seq($line);
Lines == Runs[run].lines
\* @type: $line;
Line == Lines[at + 1]

Removals == {"SessionTimeout", "RebalanceTimeout"}

\* TopicsOf(member); most members that a log names are not in the group.
\* @type: ($member) => Set(Str);
RecordedTopicsOf(member) ==
  IF SubscribesToNothing(member) THEN {}
  ELSE {t \in Topics : \/ TopicName[t] \in member.subscription
                       \/ member.regex # None /\ TopicName[t] \in Regexes[member.regex]}

\* MetadataOf(g, topics); the subscribed topics are computed once, not for each
\* topic.
\* @type: ($group, Str -> Int) => (Str -> Int);
RecordedMetadataOf(g, there) ==
  LET subscribed == Subscribed(g) IN
  [t \in Topics |-> IF t \in subscribed /\ there[t] > 0 THEN there[t] ELSE 0]

\* HeldByOthers(g, m), each member looked at once, not once a partition.
\* @type: ($group, Str) => Set($partition);
RecordedHeldByOthers(g, m) == UNION {Held(g, n) : n \in MemberIds \ {m}}

\* SubscribedPartitions(g), with each topic looked up once: TLC works a function
\* out anew wherever it is applied.
\* @type: ($group) => Set($partition);
PartitionsOf(g) ==
  LET counts == {<<t, g.metadata[t]>> : t \in Topics}
  IN Partitions \cap UNION {{<<count[1], i>> : i \in 0..(count[2] - 1)} : count \in counts}

\* Subscribers of topics: <<topic, member>>.
\* @type: ($group) => Set(<<Str, Str>>);
SubscribersOf(g) == UNION {{<<t, m>> : t \in TopicsOf(g.members[m])} : m \in Members(g)}

\* A4, where a model has this operator instead of LegalTarget: a scripted
\* target need not give each partition an owner, nor know that a member is
\* removed in its step.  No disjunction for a partition: TLC goes on once for
\* each part that is true, 2^n times for n partitions.
\* @type: ($group, $partition -> Str) => Bool;
RecordedLegalTarget(g, target) ==
  LET members == Members(g)
      subscribed == PartitionsOf(g)
      subscribers == SubscribersOf(g)
      scripted == \E script \in Line.script :
        \A p \in Partitions : target[p] = IF script[p] \in members THEN script[p] ELSE None
  IN
  \A p \in Partitions :
    IF target[p] = None THEN p \in subscribed => scripted
    ELSE p \in subscribed /\ <<p[1], target[p]>> \in subscribers

\* Did another member's time run out with this one's, unseen between them?
RemovedTogether ==
  /\ Line.does \in Removals /\ Line.seen = {}
  /\ at + 2 <= Len(Lines) /\ Lines[at + 2].does \in Removals

\* The target that is legal (A4) for a group, and is `target` where that can be.
\* @type: ($group, $partition -> Str) => ($partition -> Str);
NearestTarget(g, target) ==
  LET members == Members(g)
      subscribed == PartitionsOf(g)
      subscribers == SubscribersOf(g)
  IN [p \in Partitions |->
        IF p \notin subscribed THEN None
        ELSE IF <<p[1], target[p]>> \in subscribers THEN target[p]
        ELSE CHOOSE m \in members : <<p[1], m>> \in subscribers]

\* @type: (Str, $partition -> Str) => ($partition -> Str);
TargetWithout(removed, target) == NearestTarget(RemoveMember(group, topics, removed), target)

\* Every possible target of the members and partitions before the step or after
\* it.
\* @type: Set($partition -> Str);
AnyTarget ==
  LET there == {p \in Partitions : \/ p[1] = Line.topic
                                   \/ p[2] < topics[p[1]]
                                   \/ p[2] < group.metadata[p[1]]}
      owners == Members(group) \cup {Line.member, None}
  IN {[p \in Partitions |-> IF p \in there THEN owner[p] ELSE None] : owner \in [there -> owners]}

\* The target that was seen after the next line, where a coordinator that takes over has answered nothing yet.
\* @type: Set($partition -> Str);
SeenNext ==
  IF Line.does = "FailOver" /\ at + 2 <= Len(Lines)
  THEN UNION {one.target : one \in Lines[at + 2].seen} ELSE {}

\* The target of a model, in place of all Targets: the one that was observed
\* after the line. Where the next line computes another target, any legal one
\* is allowed; so it is after a time-out that the log does not have, except
\* where the line computes no target.
\* @type: Set($partition -> Str);
RecordedTargets ==
  LET seen == UNION {one.target : one \in Line.seen} IN
  IF Runs[run].timed /\ RemovedTogether THEN {TargetWithout(Line.member, group.target)}
  ELSE IF seen = {} /\ SeenNext # {}
  THEN {NearestTarget(NoticeTopics(AfterFailOver(group), topics), target) : target \in SeenNext}
       \cup IF Runs[run].timed THEN {}
            ELSE {TargetWithout(m, target) : m \in Members(group), target \in SeenNext}
  ELSE IF seen = {} THEN AnyTarget
  ELSE IF Runs[run].timed THEN seen
  ELSE seen \cup {TargetWithout(m, target) : m \in Members(group), target \in seen}

\* Partitions that are shown once the step is done.
\* @type: Set($partition);
Shown == IF Runs[run].forgets THEN {p \in Partitions : p[2] < topics'[p[1]]} ELSE Partitions

\* @type: ($member, $seenMember) => Bool;
LooksLikeMember(member, seen) ==
  /\ member.epoch = seen.epoch
  /\ member.epoch # NotInGroup =>
       /\ \A epoch \in seen.previousEpoch : member.previousEpoch = epoch
       /\ \A instance \in seen.instance : member.instance = instance
       /\ \A subscription \in seen.subscription : member.subscription = subscription
       /\ \A regex \in seen.regex : member.regex = regex
       /\ \A assignor \in seen.assignor : member.assignor = assignor
       /\ \A assigned \in seen.assigned : member.assigned \cap Shown = assigned
       /\ \A revoking \in seen.revoking : member.revoking \cap Shown = revoking
       /\ \A acknowledged \in seen.acknowledged : member.acknowledged = acknowledged

\* The target of a removed member, which it has until the next target, is not
\* shown.
\* @type: ($group, $partition -> Str) => Bool;
HasTarget(g, target) ==
  LET members == Members(g) IN
  \A p \in Shown :
    IF target[p] = None THEN g.target[p] \notin members ELSE g.target[p] = target[p]

\* Topics that a group knows: <<"foo", 2>> is one with two partitions.
\* @type: (Str -> Int) => Set($partition);
SizesIn(metadata) == {<<t, metadata[t]>> : t \in {u \in Topics : metadata[u] > 0}}

\* @type: ($group, $seen) => Bool;
LooksLike(g, seen) ==
  /\ \A state \in seen.state : GroupState(g) = state
  /\ \A sizes \in seen.metadata : SizesIn(g.metadata) = sizes
  /\ g.epoch = seen.epoch
  /\ g.assignmentEpoch = seen.assignmentEpoch
  /\ \A target \in seen.target : HasTarget(g, target)
  /\ \A m \in MemberIds : LooksLikeMember(g.members[m], seen.members[m])

\* Does the step have the line's response and state?
Fits ==
  /\ \A response \in Line.response : step'.response = response
  /\ \A seen \in Line.seen : LooksLike(group', seen)

\* Does the event equal the line's?
IsLine ==
  /\ step'.action = Line.does
  /\ step'.member = Line.member
  /\ step'.topic = Line.topic
  /\ step'.partitions = Line.partitions

TimeOut == SessionTimeout \/ RebalanceTimeout \/ DeleteGroup

\* The line as the specification allows it, or the alternatives to it.
RecordedRequest ==
  /\ Line.does = "Request"
  /\ Request(Line.member, Line.request)
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)

\* E1, T2: in one change of the cluster a topic is created, and an earlier
\* topic of its name is deleted.
ReplaceTopic ==
  \E p \in Partitions, t \in Topics :
    LET changed == [topics EXCEPT ![t] = -1, ![p[1]] = p[2] + 1] IN
    /\ t # p[1] /\ TopicName[t] = TopicName[p[1]]
    /\ topics[t] > 0 /\ topics[p[1]] = 0
    /\ topics' = changed
    /\ Event(NoticeTopics(group, changed), "topics", EventStep("CreateTopic", None, p[1], p[2] + 1))

\* T1, P3: a new coordinator; of a group that is not there it has nothing to take over.
RecordedFailOver ==
  IF Exists(group) THEN FailOverTo("", 0)
  ELSE step' = EventStep("FailOver", None, "", 0) /\ UNCHANGED <<group, topics>>

\* The time-out of the line's member; those of others would be worked out for nothing.
RecordedTimeOut ==
  LET m == Line.member IN
  IF Line.does = "DeleteGroup" THEN DeleteGroup
  ELSE /\ IF Line.does = "SessionTimeout" THEN SessionTimerArmed(group, m) ELSE RebalanceTimerArmed(group, m)
       /\ Event(RemoveMember(group, topics, m), "timeout", EventStep(Line.does, m, "", 0))
       /\ UNCHANGED topics

RecordedEvent ==
  /\ \/ Line.does \in Removals \cup {"DeleteGroup"} /\ RecordedTimeOut
     \/ Line.does = "CreateTopic" /\ (CreateTopic \/ ReplaceTopic)
     \/ Line.does = "AddPartitions" /\ AddPartitions
     \/ Line.does = "DeleteTopic" /\ DeleteTopic
     \/ Line.does = "FailOver" /\ RecordedFailOver
  /\ IsLine
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)

\* For a report of what might have happened instead: the timers that are armed.
OtherTimer ==
  /\ at + 1 \in Runs[run].explained
  /\ \/ \E m \in MemberIds :
          \/ SessionTimerArmed(group, m) /\ step' = EventStep("SessionTimeout", m, "", 0)
          \/ RebalanceTimerArmed(group, m) /\ step' = EventStep("RebalanceTimeout", m, "", 0)
     \/ GroupState(group) = "Empty" /\ step' = EventStep("DeleteGroup", None, "", 0)
  /\ ~IsLine
  /\ at' = -(at + 1)
  /\ UNCHANGED <<group, topics>>

\* H8, R4, E5: time passed, and the log does not have the timers that expired.
Unrecorded ==
  /\ ~Runs[run].timed
  /\ TimeOut
  /\ at' = at

RecordedInit ==
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ group = NoGroup
  /\ topics = Runs[run].topics
  /\ step = NoStep

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ RecordedRequest \/ RecordedEvent \/ OtherTimer \/ Unrecorded
  /\ UNCHANGED run

RecordedSpec == RecordedInit /\ [][RecordedNext]_recordedVars
=============================================================================
