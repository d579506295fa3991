--------------------------- MODULE RecordedClassic --------------------------
(***************************************************************************)
(* Tells if a recorded run of a coordinator is a behaviour of the open     *)
(* instance of classic groups.  As in Recorded for consumer groups, a log  *)
(* is rendered into a module that extends this one and defines Runs, `at`  *)
(* counts the lines that fit, and the states with a negative `at` are      *)
(* those that the specification allows instead of the line that does not   *)
(* fit.                                                                    *)
(*                                                                         *)
(* The coordinator does not read members' subscriptions, nor the           *)
(* assignment of their leader: here these are bytes.  A subscription is a  *)
(* set of texts, one for each protocol, and ProtocolOf gives the protocol  *)
(* of a text; an assignment is one "partition" whose topic is its bytes.   *)
(*                                                                         *)
(* Where any member may lead, the observed leader leads: a model replaces  *)
(* FirstMember by RecordedFirst.  Left out: committed offsets, except      *)
(* whether a commit was accepted; events that the log does not have.       *)
(***************************************************************************)
EXTENDS OpenClassic

(*
  What was seen of a member; {} is what the target does not show.
  @typeAlias: seenClassicMember = {place: Str, instance: Set(Str), protocols: Set(Seq(Str)),
    subscription: Set(Set(Str)), assignment: Set(Set(Set($partition))), fresh: Set(Bool),
    joining: Set(Bool), syncing: Set(Bool), owesSync: Set(Bool)};
  @typeAlias: seenClassic = {state: Str, generation: Int, type: Set(Str), protocol: Set(Str), leader: Set(Str),
    members: Str -> $seenClassicMember};

  One line: what was done by the name of its action, its response and the
  group after it, as far as they were seen; `completed` are all answers to
  requests that waited since the last line that has them.  `leader` is who
  leads by then or is the next to lead, if anybody was seen to.
  @typeAlias: classicLine = {does: Str, member: Str, request: $classicRequest,
    response: Set($classicResponse), completed: Set(Set($answer)), seen: Set($seenClassic), leader: Set(Str)};
*)
RecordedClassic_aliases == TRUE

CONSTANTS
  \* @type: Seq(Seq($classicLine));
  Runs,
  \* The protocol that a text of a subscription is for.
  \* @type: Str -> Str;
  ProtocolOf

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

recordedVars == <<vars, run, at, due>>

\* @type: Seq($classicLine);
Lines == Runs[run]
\* @type: $classicLine;
Line == Lines[at + 1]

\* The leader of a recorded run, in place of FirstMember.
\* @type: (Set(Str)) => Str;
RecordedFirst(members) ==
  IF Line.leader \cap members # {} THEN CHOOSE m \in Line.leader : m \in members
  ELSE CHOOSE m \in members : \A n \in members : MemberRank[m] <= MemberRank[n]

(***************************************************************************)
(* The visible part of a step                                              *)
(***************************************************************************)

\* Texts that members have sent for some protocols.
\* @type: (Set(Str), Set(Str)) => Set(Str);
TextsFor(protocols, subscription) == {text \in subscription : ProtocolOf[text] \in protocols}

\* A response on the wire: the leader gets the subscriptions for the protocol
\* of the generation.
\* @type: ($classicResponse) => $classicResponse;
ResponseAsShown(response) ==
  IF response.error = "NONE" /\ response.api = "JoinGroup"
  THEN [response EXCEPT !.members =
          {[one EXCEPT !.subscription = TextsFor({response.protocol}, one.subscription)] : one \in response.members}]
  ELSE IF response.error \in {"", "NONE"} /\ response.api \in {"", "SyncGroup"} THEN response
  ELSE ClassicError(response.api, IF response.api = "JoinGroup" THEN response.member ELSE None, response.error)

\* @type: (Set($answer)) => Set($answer);
AnswersAsShown(answers) == {[one EXCEPT !.response = ResponseAsShown(one.response)] : one \in answers}

\* @type: ($classicMember, $seenClassicMember) => Bool;
LooksLikeMember(member, seen) ==
  /\ member.place = seen.place
  /\ member.place = "member" =>
       /\ \A instance \in seen.instance : member.instance = instance
       /\ \A protocols \in seen.protocols : member.protocols = protocols
       /\ \A subscription \in seen.subscription :
            TextsFor({member.protocols[i] : i \in DOMAIN member.protocols}, member.subscription) = subscription
       /\ \A assignment \in seen.assignment : member.assignment = assignment
       /\ \A fresh \in seen.fresh : member.fresh = fresh
       /\ \A joining \in seen.joining : member.joining = joining
       /\ \A syncing \in seen.syncing : member.syncing = syncing
       /\ \A owesSync \in seen.owesSync : member.owesSync = owesSync

\* @type: ($classicGroup, $seenClassic) => Bool;
LooksLike(g, seen) ==
  /\ g.state = seen.state
  /\ ClassicExists(g) =>
       /\ g.generation = seen.generation
       /\ \A type \in seen.type : g.type = type
       /\ \A protocol \in seen.protocol : g.protocol = protocol
       /\ \A leader \in seen.leader : g.leader = leader
       /\ \A m \in MemberIds : LooksLikeMember(g.members[m], seen.members[m])

\* Does the step have the line's response, answers and state?
Fits ==
  /\ \A response \in Line.response : ResponseAsShown(step'.response) = response
  /\ \A answers \in Line.completed : AnswersAsShown(due \cup step'.completed) = answers
  /\ \A seen \in Line.seen : LooksLike(group', seen)

(***************************************************************************)
(* The line as the specification has it                                    *)
(***************************************************************************)

\* O2: a commit is accepted or refused; the committed offset is left out.
RecordedCommit ==
  /\ step' = [NoClassicStep EXCEPT !.action = "OffsetCommit", !.member = Line.member, !.request = Line.request,
                                   !.response = ClassicError("OffsetCommit", None,
                                                             ClassicCommitError(group, Line.request))]
  /\ UNCHANGED <<group, offsets>>

\* C1.
RecordedRequest ==
  \/ Line.does = "JoinGroup" /\ Take(JoinGroup(group, Line.member, Line.request))
  \/ Line.does = "SyncGroup" /\ Take(SyncGroup(group, Line.request))
  \/ Line.does = "ClassicHeartbeat" /\ Take(ClassicHeartbeat(group, Line.request))
  \/ Line.does = "LeaveGroup" /\ Take(LeaveGroup(group, Line.request))
  \/ Line.does = "OffsetCommit" /\ RecordedCommit

\* H8, C1, E5: time ran out.
TimeOut == SessionTimeout \/ JoinTimeout \/ SyncTimeout \/ DeleteGroup

\* C2, P2: a new coordinator; of a group that is not there it has nothing to take over.
RecordedFailOver ==
  Take(ClassicEvent("FailOver", None, Same(IF ClassicExists(group) THEN ClassicAfterFailOver(group) ELSE group)))

RecordedEvent ==
  /\ \/ Line.does \in {"SessionTimeout", "JoinTimeout", "SyncTimeout", "DeleteGroup"} /\ TimeOut
     \/ Line.does = "FailOver" /\ RecordedFailOver
  /\ step'.action = Line.does
  /\ step'.member = Line.member

RecordedLine ==
  /\ RecordedRequest \/ RecordedEvent
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)
  /\ due' = IF Line.completed # {} /\ Fits THEN {} ELSE due \cup step'.completed

\* For a report of what might have happened instead: the timers that are armed.
OtherTimer ==
  /\ TimeOut
  /\ step'.action # Line.does \/ step'.member # Line.member
  /\ at' = -(at + 1)
  /\ UNCHANGED due

RecordedInit ==
  /\ Init
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ due = {}

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ RecordedLine \/ OtherTimer
  /\ UNCHANGED run

RecordedSpec == RecordedInit /\ [][RecordedNext]_recordedVars
=============================================================================
