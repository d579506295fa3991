----------------------------- MODULE Shortened ------------------------------
(***************************************************************************)
(* Parts of a trace as behaviours of the open instance: the steps that     *)
(* were kept of the trace, done again in the same order.  Values that      *)
(* depend on the omitted steps follow: a member epoch or owned partitions  *)
(* that were the member's own still are, and a target assignment that is   *)
(* not legal any more (A4) is replaced by the nearest legal one.           *)
(*                                                                         *)
(* The parts are rendered into a module that extends this one and defines  *)
(* Parts; such modules are never written by hand.  A part with a step that *)
(* is not possible ends before that step.  A model replaces Targets by     *)
(* NearestTargets.                                                         *)
(***************************************************************************)
EXTENDS OpenOffsets, Sequences

(*
  One step: what is done ("Request", or an event by the name of its action).
  The epoch of the request is that of the member plus `later`, if it is its
  `current` or its `previous` one, else ("said") as it stands; `ownsAssigned`:
  it reports just what it is assigned.
  @typeAlias: kept = {does: Str, member: Str, request: $request, epochIs: Str, later: Int,
    ownsAssigned: Bool, topic: Str, partitions: Int, partition: Set($partition), offset: Int,
    target: $partition -> Str};
  @typeAlias: part = {topics: Str -> Int, group: $group, steps: Seq($kept)};
*)
Shortened_aliases == TRUE

CONSTANTS
  \* @type: Seq($part);
  Parts

VARIABLES
  \* The number of the part.
  \* @type: Int;
  part,
  \* How many of its steps are done.
  \* @type: Int;
  at

\* @type: Seq($kept);
Steps == Parts[part].steps
\* @type: $kept;
NextStep == Steps[at + 1]

\* H5: the epoch that a request carries now.
\* @type: ($kept) => Int;
SentEpoch(s) ==
  IF s.epochIs = "said" \/ s.member \notin Members(group) THEN s.request.epoch
  ELSE LET member == group.members[s.member]
           epoch == IF s.epochIs = "current" THEN member.epoch + s.later ELSE member.previousEpoch
       IN IF epoch > 0 THEN epoch ELSE s.request.epoch

\* @type: ($kept) => $request;
SentRequest(s) ==
  [s.request EXCEPT !.epoch = SentEpoch(s),
                    !.owned = IF s.ownsAssigned /\ s.member \in Members(group)
                              THEN {group.members[s.member].assigned} ELSE @]

\* The topics once the step has changed one.
\* @type: ($kept) => (Str -> Int);
TopicsAfter(s) == IF s.topic \in Topics THEN [topics EXCEPT ![s.topic] = s.partitions] ELSE topics

\* The group for which a target is computed in the step.
\* @type: ($kept) => $group;
GroupUpdated(s) ==
  IF s.does = "Request" THEN UpdateMember(group, topics, s.member, SentRequest(s)).group
  ELSE IF s.does \in {"SessionTimeout", "RebalanceTimeout"} THEN RemoveMember(group, topics, s.member)
  ELSE IF s.does = "FailOver" THEN NoticeTopics(AfterFailOver(group), TopicsAfter(s))
  ELSE NoticeTopics(group, TopicsAfter(s))

\* A4: the legal target of a group that is nearest to a target that may not be
\* legal: a partition whose owner is not allowed keeps its present owner, or
\* gets any.
\* @type: ($group, $partition -> Str) => ($partition -> Str);
NearestTarget(g, target) ==
  [p \in Partitions |->
     IF p \notin SubscribedPartitions(g) THEN None
     ELSE LET may == {m \in Members(g) : p[1] \in TopicsOf(g.members[m])} IN
          IF target[p] \in may THEN target[p]
          ELSE IF g.target[p] \in may THEN g.target[p]
          ELSE CHOOSE m \in may : TRUE]

\* The target of a model, in place of all Targets.
\* @type: Set($partition -> Str);
NearestTargets == {NearestTarget(GroupUpdated(NextStep), NextStep.target)}

ShortenedInit ==
  /\ part \in DOMAIN Parts
  /\ at = 0
  /\ group = Parts[part].group
  /\ topics = Parts[part].topics
  /\ step = NoStep
  /\ offsets = NoOffsets

\* The rest of a step, whatever it does.
AsKept ==
  LET s == NextStep IN
  /\ step'.member = s.member
  /\ step'.topic = s.topic
  /\ step'.partitions = s.partitions
  /\ step'.partition = s.partition
  /\ s.does \in {"OffsetCommit", "OffsetFetch"} => step'.request.epoch = SentEpoch(s)
  /\ s.does = "OffsetCommit" => step'.offset = s.offset
  /\ at' = at + 1
  /\ UNCHANGED part

OffsetsSurvive == offsets' = Surviving(offsets, group, group', topics')

ShortenedNext ==
  /\ at < Len(Steps)
  /\ \/ NextStep.does = "Request" /\ Request(NextStep.member, SentRequest(NextStep)) /\ OffsetsSurvive
     \/ NextStep.does = "SessionTimeout" /\ SessionTimeout /\ OffsetsSurvive
     \/ NextStep.does = "RebalanceTimeout" /\ RebalanceTimeout /\ OffsetsSurvive
     \/ NextStep.does = "CreateTopic" /\ CreateTopic /\ OffsetsSurvive
     \/ NextStep.does = "AddPartitions" /\ AddPartitions /\ OffsetsSurvive
     \/ NextStep.does = "DeleteTopic" /\ DeleteTopic /\ OffsetsSurvive
     \/ NextStep.does = "FailOver" /\ FailOver /\ OffsetsSurvive
     \/ NextStep.does = "DeleteGroup" /\ DeleteGroup /\ OffsetsSurvive
     \/ NextStep.does = "OffsetCommit" /\ OffsetCommit
     \/ NextStep.does = "OffsetFetch" /\ OffsetFetch
  /\ AsKept

ShortenedSpec == ShortenedInit /\ [][ShortenedNext]_<<offsetVars, part, at>>
=============================================================================
