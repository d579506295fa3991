---------------------------- MODULE RecordedShare ---------------------------
(***************************************************************************)
(* Tells if a recorded run of a coordinator is a behaviour of the open     *)
(* instance of share groups.  `at` counts the lines that fit; a negative   *)
(* `at` has an alternative to a line.                                      *)
(*                                                                         *)
(* Left out: what ShareGroups leaves out, and events that the log does not *)
(* have.                                                                   *)
(***************************************************************************)
EXTENDS OpenShare, Sequences

(*
  A group as it was seen: the topics that it knows with how many partitions
  each has, and its members.
  @typeAlias: seenSharer = {member: Str, epoch: Int, previousEpoch: Int, subscription: Set(Str),
    target: Set(<<Str, Int>>), assigned: Set(<<Str, Int>>)};
  @typeAlias: seenShare = {epoch: Int, assignmentEpoch: Int, metadata: Set(<<Str, Int>>), members: Set($seenSharer)};
  One line: what was done ("Request" for a heartbeat), its response and the
  group after it, where they were seen.
  @typeAlias: shareLine = {does: Str, member: Str, request: $shareRequest, response: Set($shareResponse),
    topic: Str, partitions: Int, seen: Set($seenShare)};
  @typeAlias: shareRun = {topics: Str -> Int, lines: Seq($shareLine)};
*)
RecordedShare_aliases == TRUE

CONSTANTS
  \* @type: Seq($shareRun);
  Runs

VARIABLES
  \* The number of the run.
  \* @type: Int;
  run,
  \* The number of its lines that fit; -n: an alternative to line n.
  \* @type: Int;
  at

\* @type: Seq($shareLine);
Lines == Runs[run].lines
\* @type: $shareLine;
Line == Lines[at + 1]

\* @type: ($share, Str) => $seenSharer;
Seen(g, m) ==
  [member |-> m, epoch |-> g.members[m].epoch, previousEpoch |-> g.members[m].previousEpoch,
   subscription |-> g.members[m].subscription, target |-> g.members[m].target, assigned |-> g.members[m].assigned]

\* @type: ($share, $seenShare) => Bool;
LooksLike(g, seen) ==
  /\ g.epoch = seen.epoch
  /\ g.assignmentEpoch = seen.assignmentEpoch
  /\ {<<t, g.metadata[t]>> : t \in {u \in Topics : g.metadata[u] > 0}} = seen.metadata
  /\ {Seen(g, m) : m \in Members(g)} = seen.members

Fits ==
  /\ \A response \in Line.response : response = step'.response
  /\ \A seen \in Line.seen : LooksLike(share', seen)

\* Q8: a new coordinator; of a group that is not there it has nothing to take over.
RecordedFailOver ==
  IF Exists(share) THEN ShareFailOver
  ELSE step' = EventStep("ShareFailOver", "", "", 0) /\ UNCHANGED <<share, topics>>

RecordedLine ==
  /\ \/ Line.does = "Request" /\ Request(Line.member, Line.request)
     \/ Line.does = "ShareTimeout" /\ ShareTimeout /\ step'.member = Line.member
     \/ Line.does = "ShareTopic" /\ Change(Line.topic, Line.partitions)
     \/ Line.does = "ShareFailOver" /\ RecordedFailOver
     \/ Line.does = "ShareDelete" /\ ShareDelete
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)

RecordedInit ==
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ share = NoShare
  /\ topics = Runs[run].topics
  /\ step = NoStep

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ RecordedLine
  /\ UNCHANGED run

RecordedSpec == RecordedInit /\ [][RecordedNext]_<<vars, run, at>>
=============================================================================
