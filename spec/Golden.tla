------------------------------- MODULE Golden -------------------------------
(***************************************************************************)
(* Golden scenarios as behaviours of the open instance (G7): scripts of    *)
(* requests and events with the targets that a document prints, and the    *)
(* states that the document prints after each.  A scenario file            *)
(* (traces/golden) is rendered into a module that extends this one and     *)
(* defines Scenarios; such modules are never written by hand.              *)
(*                                                                         *)
(* A model replaces Targets by ScriptedTargets: of all legal targets (A4)  *)
(* the script's is taken.  Its next-state relation has ScriptedRequest and *)
(* those events that scripts have, as they are in OpenGroup, OpenOffsets   *)
(* and Administration.  AsPrinted must hold, and a whole script must be a  *)
(* behaviour: ScriptDone is reached.                                       *)
(***************************************************************************)
EXTENDS Administration, Sequences

(*
  A member and a group as the document prints them.
  @typeAlias: shown = {epoch: Int, partitions: Set($partition), pending: Set($partition)};
  @typeAlias: printed = {epoch: Int, assignmentEpoch: Int, state: Str,
    target: $partition -> Str, members: Str -> $shown};

  One step: what is done ("Request", or an event by the name of its action),
  the target where one is said, and what is printed: once the member and the
  group epoch are updated, once the target is installed, and at the end.
  @typeAlias: scripted = {
    does: Str, member: Str, request: $request, topic: Str, partitions: Int,
    partition: Set($partition), offset: Int, target: Set($partition -> Str),
    bumped: Set($printed), installed: Set($printed), expect: Set($printed),
    response: Set($response), fetched: Set(Int), committed: Set($partition -> Int)
  };
  @typeAlias: scenario = {topics: Str -> Int, group: $group, script: Seq($scripted)};
*)
Golden_aliases == TRUE

CONSTANTS
  \* @type: Seq($scenario);
  Scenarios

VARIABLES
  \* The number of the scenario.
  \* @type: Int;
  scenario,
  \* How much of its script is done.
  \* @type: Int;
  at,
  \* The group once the last step had updated the member and the group epoch.
  \* @type: $group;
  bumped

\* @type: Seq($scripted);
Script == Scenarios[scenario].script

\* The targets of a scripted model, in place of all Targets.  A script that
\* says none leaves the target as it is; without members or topics there is
\* none.
\* @type: Set($partition -> Str);
ScriptedTargets ==
  IF Script[at + 1].target # {} THEN Script[at + 1].target
  ELSE {group.target, [p \in Partitions |-> None]}

\* The group with the member updated and the group epoch bumped, as the
\* document prints it; the new target and reconciling follow.
\* @type: ($scripted) => $group;
Bumped(s) ==
  IF s.does = "Request" THEN UpdateMember(group, topics, s.member, s.request).group
  ELSE IF s.does \in {"SessionTimeout", "RebalanceTimeout"} THEN RemoveMember(group, topics, s.member)
  ELSE IF s.does = "FailOver" THEN NoticeTopics(AfterFailOver(group), topics')
  ELSE IF s.does \in {"DeleteGroup", "DeleteGroups", "OffsetCommit", "OffsetFetch"} THEN group
  ELSE NoticeTopics(group, topics')

GoldenInit ==
  /\ scenario \in DOMAIN Scenarios
  /\ at = 0
  /\ group = Scenarios[scenario].group
  /\ bumped = Scenarios[scenario].group
  /\ topics = Scenarios[scenario].topics
  /\ step = NoStep
  /\ offsets = NoOffsets

\* Is the step the next line of the script?
\* @type: (Str) => Bool;
ScriptDoes(action) == at < Len(Script) /\ Script[at + 1].does = action

\* The rest of a step of the script, whatever it does.
AsScripted ==
  LET s == Script[at + 1] IN
  /\ step'.member = s.member
  /\ step'.topic = s.topic
  /\ step'.partitions = s.partitions
  /\ step'.partition = s.partition
  /\ s.does = "OffsetCommit" => step'.offset = s.offset
  /\ step'.request.epoch = s.request.epoch
  /\ bumped' = Bumped(s)
  /\ at' = at + 1
  /\ UNCHANGED scenario

\* A step that is no commit and no fetch.
OffsetsSurvive == offsets' = Surviving(offsets, group, group', topics')

ScriptedRequest ==
  /\ ScriptDoes("Request")
  /\ Request(Script[at + 1].member, Script[at + 1].request)
  /\ OffsetsSurvive
  /\ AsScripted

\* A member at the assignment epoch waits for partitions of its target that
\* others hold; a member that is behind has all partitions that it holds.
\* @type: ($group, Str) => Bool;
Caught(g, m) == g.members[m].epoch = g.assignmentEpoch /\ g.members[m].revoking = {}
\* @type: ($group, Str) => $shown;
Shown(g, m) ==
  [epoch |-> g.members[m].epoch,
   partitions |-> IF Caught(g, m) THEN TargetOf(g, m) \ HeldByOthers(g, m) ELSE Held(g, m),
   pending |-> IF Caught(g, m) THEN TargetOf(g, m) \cap HeldByOthers(g, m) ELSE {}]

\* @type: ($group, $printed) => Bool;
IsPrinted(g, printed) ==
  /\ g.epoch = printed.epoch
  /\ g.assignmentEpoch = printed.assignmentEpoch
  /\ GroupState(g) = printed.state
  /\ g.target = printed.target
  /\ \A m \in MemberIds : Shown(g, m) = printed.members[m]

AsPrinted ==
  at > 0 =>
    LET s == Script[at] IN
    /\ \A printed \in s.bumped : IsPrinted(bumped, printed)
    /\ \A printed \in s.installed :
         IsPrinted([bumped EXCEPT !.target = group.target, !.assignmentEpoch = group.assignmentEpoch],
                   printed)
    /\ \A printed \in s.expect : IsPrinted(group, printed)
    /\ \A response \in s.response : step.response = response
    /\ \A offset \in s.fetched : step.offset = offset
    /\ \A committed \in s.committed : offsets = committed

ScriptDone == at = Len(Script)
ScriptNotDone == ~ScriptDone
=============================================================================
