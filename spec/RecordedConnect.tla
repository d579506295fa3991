-------------------------- MODULE RecordedConnect ---------------------------
(***************************************************************************)
(* Tells if a recorded run of a coordinator is a behaviour of the open     *)
(* instance of Connect groups.  As in Recorded for consumer groups, a log  *)
(* is rendered into a module that extends this one and defines Runs, `at`  *)
(* counts the lines that fit, and the states with a negative `at` are      *)
(* those that the specification allows instead of the line that does not   *)
(* fit.                                                                    *)
(*                                                                         *)
(* No target is searched for here: the installs of the log are the         *)
(* targets. Left out: what Connect leaves out; events that the log does    *)
(* not have, except time-outs where the clock was not the recorder's.      *)
(***************************************************************************)
EXTENDS OpenConnect, Sequences

(*
  What was seen of a worker; {} is what the target does not show.  `target` is
  its part of the target, {} for a worker that the target does not know.
  @typeAlias: seenWorker = {epoch: Int, previousEpoch: Set(Int), acknowledged: Set(Bool), reason: Set(Int),
    assigned: Set(Set($partition)), revoking: Set(Set($partition)), target: Set(Set(Set($partition)))};
  Connectors are what is there: <<"A", 2>> is connector A with one task.
  @typeAlias: seenPrepared = {epoch: Int, workers: Set(Str), connectors: Set($partition)};
  @typeAlias: seenWork = {state: Set(Str), epoch: Int, assignmentEpoch: Int, members: Str -> $seenWorker,
    connectors: Set(Set($partition)), lost: Set(Set(<<$partition, Str>>)), chosen: Set(Str),
    prepared: Set(Set($seenPrepared))};

  A response of any of the three requests; what another one has is empty.
  @typeAlias: told = {error: Str, epoch: Int, assigned: Set(Set($partition)), compute: Bool, groupEpoch: Int,
    workers: Set($preparedWorker), connectors: Set($partition)};

  One line: what was done ("Request" for a heartbeat, else the name of its
  action), its response and the group after it, as far as they were seen.
  @typeAlias: workLine = {does: Str, member: Str, request: $request, reason: Set(Int), groupEpoch: Int,
    target: $partition -> Str, twice: Set($partition), topic: Str, partitions: Int,
    response: Set($told), seen: Set($seenWork)};
  @typeAlias: workRun = {topics: Str -> Int, timed: Bool, lines: Seq($workLine)};
*)
RecordedConnect_aliases == TRUE

CONSTANTS
  \* @type: Seq($workRun);
  Runs

VARIABLES
  \* The number of the run.
  \* @type: Int;
  run,
  \* The number of its lines that fit; -n: an alternative to line n.
  \* @type: Int;
  at

recordedVars == <<vars, run, at>>

\* @type: Seq($workLine);
Lines == Runs[run].lines
\* @type: $workLine;
Line == Lines[at + 1]

(***************************************************************************)
(* The visible part of a step                                              *)
(***************************************************************************)

\* Connectors in an answer: the number of resources of each connector that
\* exists.
\* @type: (Str -> Int) => Set($partition);
ConnectorsIn(metadata) == {<<t, metadata[t]>> : t \in {u \in Topics : metadata[u] > 0}}

\* The response of the step that is taken.
\* @type: $told;
ResponseAsShown ==
  LET prepared == step'.action = "PrepareAssignment" /\ step'.response.error = "NONE" IN
  [error |-> step'.response.error, epoch |-> step'.response.epoch,
   assigned |-> {one.assigned : one \in step'.response.assignment}, compute |-> call'.compute,
   groupEpoch |-> IF prepared THEN call'.groupEpoch ELSE 0, workers |-> call'.workers,
   connectors |-> IF prepared THEN ConnectorsIn(group'.metadata) ELSE {}]

\* @type: ($group, $work, Str, $seenWorker) => Bool;
LooksLikeWorker(g, w, m, seen) ==
  /\ g.members[m].epoch = seen.epoch
  /\ m \in Members(g) =>
       /\ \A epoch \in seen.previousEpoch : g.members[m].previousEpoch = epoch
       /\ \A acknowledged \in seen.acknowledged : g.members[m].acknowledged = acknowledged
       /\ \A reason \in seen.reason : w.reasons[m] = reason
       /\ \A assigned \in seen.assigned : g.members[m].assigned = assigned
       /\ \A revoking \in seen.revoking : g.members[m].revoking = revoking
       /\ \A target \in seen.target : target = IF m \in w.named THEN {TargetOf(g, m)} ELSE {}

\* @type: ($group, $work, $seenWork) => Bool;
LooksLike(g, w, seen) ==
  /\ \A state \in seen.state : GroupState(g) = state
  /\ g.epoch = seen.epoch
  /\ g.assignmentEpoch = seen.assignmentEpoch
  /\ \A m \in MemberIds : LooksLikeWorker(g, w, m, seen.members[m])
  /\ \A connectors \in seen.connectors : ConnectorsIn(g.metadata) = connectors
  /\ \A lost \in seen.lost : {<<r, w.lost[r]>> : r \in {p \in Partitions : w.lost[p] # None}} = lost
  /\ \A chosen \in seen.chosen : w.chosen = chosen
  /\ \A prepared \in seen.prepared :
       {[epoch |-> p.epoch, workers |-> p.workers, connectors |-> ConnectorsIn(p.metadata)] : p \in w.prepared}
       = prepared

\* Does the step have the line's response and state?
Fits ==
  /\ \A response \in Line.response : ResponseAsShown = response
  /\ \A seen \in Line.seen : LooksLike(group', work', seen)

\* Does the event equal the line's?
IsLine ==
  /\ step'.action = Line.does
  /\ step'.member = Line.member
  /\ step'.topic = Line.topic
  /\ step'.partitions = Line.partitions

(***************************************************************************)
(* The line as the specification allows it, or the alternatives to it      *)
(***************************************************************************)

\* W1, W4.
RecordedRequest ==
  \/ Line.does = "Request" /\ Request(Line.member, Line.request, Line.reason)
  \/ /\ Line.does = "PrepareAssignment"
     /\ Take(PrepareAssignment(group, work, Line.member, Line.request.epoch))
     /\ UNCHANGED topics
  \/ /\ Line.does = "InstallAssignment"
     /\ Take(InstallAssignment(group, work, Line.member, Line.request.epoch, Line.groupEpoch, Line.target, Line.twice))
     /\ UNCHANGED topics

TimeOut == SessionTimeout \/ RebalanceTimeout \/ AssignmentTimeout \/ DeleteGroup

\* P2, P3: a new coordinator; of a group that is not there it has nothing to take over.
RecordedFailOver ==
  IF Exists(group) THEN FailOver
  ELSE step' = EventStep("FailOver", None, "", 0) /\ call' = NoCall /\ UNCHANGED <<group, work, topics>>

RecordedEvent ==
  /\ \/ Line.does \in {"SessionTimeout", "RebalanceTimeout", "AssignmentTimeout", "DeleteGroup"} /\ TimeOut
     \/ Line.does = "CreateTopic" /\ CreateTopic
     \/ Line.does = "AddPartitions" /\ AddPartitions
     \/ Line.does = "DeleteTopic" /\ DeleteTopic
     \/ Line.does = "FailOver" /\ RecordedFailOver
  /\ IsLine

RecordedLine ==
  /\ RecordedRequest \/ RecordedEvent
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)

\* For a report of what might have happened instead: the timers that are armed.
OtherTimer ==
  /\ TimeOut
  /\ ~IsLine
  /\ at' = -(at + 1)

\* H8, R4, W1, E5: time passed, and the log does not have the timers that
\* expired.
Unrecorded ==
  /\ ~Runs[run].timed
  /\ TimeOut
  /\ at' = at

RecordedInit ==
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ group = NoGroup
  /\ work = NoWork
  /\ topics = Runs[run].topics
  /\ step = NoStep
  /\ call = NoCall

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ RecordedLine \/ OtherTimer \/ Unrecorded
  /\ UNCHANGED run

RecordedSpec == RecordedInit /\ [][RecordedNext]_recordedVars
=============================================================================
