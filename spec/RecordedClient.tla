--------------------------- MODULE RecordedClient ---------------------------
(***************************************************************************)
(* Tells if the requests of a recorded client are a behaviour of a member  *)
(* of the closed instance.  Each run is one member id: its heartbeats and  *)
(* requests for offsets in the order in which they arrived, with the       *)
(* answers.  `at` counts the lines that some member may send; a negative   *)
(* `at` has the view from which a member may not send the next line, and   *)
(* `broken` has the rules that forbid the line there.                      *)
(*                                                                         *)
(* A client is ClosedGroup's, with two differences.  `owned` has all       *)
(* partitions that the client may own, as callbacks are not seen: its      *)
(* reports are subsets of `owned`.  An answer is in flight until the next  *)
(* heartbeat shows its fate: on the same connection the client received it *)
(* (R9: one request in flight, and a client that gives up goes on on a new *)
(* connection); on another connection, or where the log names no           *)
(* connection, it was received or lost.  A request on an older connection  *)
(* may be a late one.                                                      *)
(*                                                                         *)
(* Left out: what no request shows (callbacks, partitions that the         *)
(* application uses, the intent of a commit), what must happen in time,    *)
(* and client-side assignors.  A member may change its subscription, crash *)
(* and return, or leave, at any time.                                      *)
(***************************************************************************)
EXTENDS ClosedGroup, Sequences

(*
  One line.  `does` is "Heartbeat", "Commit" or "Fetch" (of offsets), or
  "Another": the process joins under another member id.  `rebalance` says that
  the heartbeat has a rebalance time-out, `named` that the request names the
  member; `connection` counts connections as this member first uses them, 0 is
  unknown.  `answer` is {} where the client certainly got none; `doubted` says
  that a request for offsets was refused since the heartbeat before, which a
  member may take for a fence.
  @typeAlias: clientLine = {does: Str, request: $request, rebalance: Bool, named: Bool,
    connection: Int, doubted: Bool, answer: Set($response)};
  @typeAlias: clientRun = {instance: Str, lines: Seq($clientLine)};

  A client with why it is where it is: "new", "joined" or "told" by an answer,
  "refused" (the epoch is kept), "lost" (the answer), "removed", "ended" by a
  fatal error, "leaving" (see RepeatsAllAfterError), "left"; "sent" is one whose
  heartbeat may be answered still.
  @typeAlias: clientView = {client: $client, because: Str};
*)
RecordedClient_aliases == TRUE

CONSTANTS
  \* @type: Seq($clientRun);
  Runs

VARIABLES
  \* The number of the run.
  \* @type: Int;
  run,
  \* How many of its lines some member may send; -n: line n breaks a rule.
  \* @type: Int;
  at,
  \* Why the client is where it is, before the answer in flight.
  \* @type: Str;
  because,
  \* The connection of the last heartbeat.
  \* @type: Int;
  connection,
  \* The epochs that heartbeats had since the last join.
  \* @type: Set(Int);
  epochs,
  \* The line with which the client began to be quiet until it leaves, 0 if it has not.
  \* @type: Int;
  since,
  \* The rules that the line breaks.
  \* @type: Set(Str);
  broken

recordedVars == <<vars, run, at, because, connection, epochs, since, broken>>

\* `since` is for the report alone, and what the closed instance has beside clients never changes.
recordedView == <<clients, responses, run, at, because, connection, epochs, broken>>

\* The one member of a run.
Me == "member"
RecordedMembers == {Me}

\* @type: Seq($clientLine);
Lines == Runs[run].lines
\* @type: $clientLine;
Line == Lines[at + 1]
\* @type: $request;
Sent == Line.request

(***************************************************************************)
(* Effect of an answer on a client                                         *)
(***************************************************************************)

Removed == {"UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"}
Fatal == {"UNRELEASED_INSTANCE_ID", "FENCED_INSTANCE_ID"}
\* H5: an error of the coordinator's own; the client tries again with its epoch.
Retriable == {"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "REQUEST_TIMED_OUT"}

\* H7: the client gets no answer, or an error: it keeps its partitions, and
\* owes all fields.
\* @type: ($client, Str) => $clientView;
Again(client, why) == [client |-> [client EXCEPT !.report = TRUE], because |-> why]

\* Reaction of the closed instance (K1, K2, S2), where `owned` is the most that there may
\* be.  The effect of other errors is left open: the client keeps its epoch or joins.
\* @type: ($client, $response) => Set($clientView);
Taken(client, response) ==
  LET next == Reaction(client, response) IN
  IF response.error = "NONE"
  THEN {[client |-> [next EXCEPT !.owned = client.owned \cup next.told, !.report = FALSE],
         because |-> IF client.epoch = 0 THEN "joined" ELSE "told"]}
  ELSE IF response.error \in Removed THEN {[client |-> next, because |-> "removed"]}
  ELSE IF response.error \in Fatal THEN {[client |-> next, because |-> "ended"]}
  ELSE IF response.error \in Retriable THEN {Again(client, "refused")}
  ELSE {Again(client, "refused"), [client |-> next, because |-> "new"]}

\* @type: Set($clientView);
IfTaken == UNION {Taken(clients[Me], response) : response \in responses[Me]}

\* H6, H7: LoseRequest and LoseResponse of the closed instance.
\* @type: $clientView;
IfLost == Again(clients[Me], "lost")

\* A member that is about to leave keeps its partitions, whatever the answer
\* has.
\* @type: ($clientView) => $clientView;
Leaving(known) ==
  IF known.because \in {"removed", "ended", "new"} THEN known
  ELSE [client |-> [clients[Me] EXCEPT !.epoch = known.client.epoch], because |-> "leaving"]

\* Did the client send the line certainly after the last heartbeat, and after
\* its answer (R9)?
Follows == Line.connection # 0 /\ Line.connection = connection

\* Before the first join, and a process that crashed and returns (Start).
\* @type: $clientView;
IfNew == [client |-> NewClient(clients[Me].subscription), because |-> "new"]

\* H2: it has left, and so knows of no epoch.
\* @type: $clientView;
IfLeft == [client |-> NewClient(clients[Me].subscription), because |-> "left"]

\* The clients that may have sent the line.  A leave does not wait for an answer,
\* and may have been sent after what comes through another connection later.
\* @type: Set($clientView);
Views ==
  LET taken == IF responses[Me] # {} THEN IfTaken ELSE {IfLost}
      Now(views) == IF because = "leaving" THEN {Leaving(known) : known \in views} ELSE views
  IN
  IF because = "new" THEN {IfNew}
  ELSE IF Follows THEN IF because = "left" THEN {IfLeft} ELSE Now(taken)
  ELSE Now(taken \cup {IfLost}) \cup {IfNew} \cup IF because = "left" THEN {IfLeft} ELSE {}

(***************************************************************************)
(* Requests that a member may send, as properties of its view              *)
(***************************************************************************)

\* All that a heartbeat says of the subscription, and the rebalance time-out.
IsFull == (Sent.subscription # {} \/ Sent.regex # {}) /\ Line.rebalance

\* H2, S1: -1 leaves for good, -2 only a static member; a member that left is
\* silent or joins.
\* @type: ($clientView) => Bool;
LeavesWhenClosed(known) ==
  /\ Sent.epoch >= Away
  /\ Sent.epoch = Away => Runs[run].instance # None
  /\ known.because = "left" => Sent.epoch <= 0

\* S1: a member keeps its instance id, and names it when it joins.
\* @type: ($clientView) => Bool;
KeepsItsInstanceId(known) ==
  /\ \A instance \in Sent.instance : instance = Runs[run].instance
  /\ Sent.epoch = 0 /\ Runs[run].instance # None => Sent.instance # {}

\* H7: epoch 0 carries all fields, and no partition.
\* @type: ($clientView) => Bool;
JoinsWithAllFields(known) ==
  Sent.epoch = 0 => IsFull /\ Sent.owned = {{}}

\* A request without any field of the subscription, and without a rebalance
\* time-out.
IsQuiet == Sent.subscription = {} /\ Sent.regex = {} /\ ~Line.rebalance

\* H7: after an error or a lost answer.  A member that has unsubscribed has
\* nothing to repeat: it is quiet, takes nothing new and says nothing new, until it leaves.
\* @type: ($clientView) => Bool;
RepeatsAllAfterError(known) ==
  Sent.epoch > 0 =>
    /\ known.because \in {"refused", "lost"} => IsFull \/ IsQuiet
    /\ known.because = "leaving" => IsQuiet /\ \A owned \in Sent.owned : owned \subseteq known.client.owned

\* H7, K2: a report has only partitions that the member was told to use and has
\* not acknowledged as given up.
\* @type: ($clientView) => Bool;
OwnsOnlyAssigned(known) ==
  Sent.epoch > 0 /\ known.because \in {"joined", "told", "refused", "lost"}
    => \A owned \in Sent.owned : owned \subseteq known.client.owned

\* K1: fenced or unknown, it joins again.
\* @type: ($clientView) => Bool;
RejoinsWhenRemoved(known) ==
  known.because = "removed" => Sent.epoch <= 0

\* K1, S2: an instance id that is in use, or was taken over, ends the member.
\* @type: ($clientView) => Bool;
EndsWhenFatal(known) ==
  known.because = "ended" => Sent.epoch < 0

\* H6: the epoch is that of the last answer; an error and a lost answer keep
\* it.  Only a member that was removed or has left, or a new process, joins.
\* @type: ($clientView) => Bool;
SendsTheEpochItWasTold(known) ==
  CASE Sent.epoch < 0 -> TRUE
    [] known.because \in {"removed", "left", "ended"} -> TRUE
    [] Sent.epoch = 0 -> known.client.epoch = 0 \/ Line.doubted
    [] OTHER -> Sent.epoch = known.client.epoch

\* @type: (Bool, Str) => Set(Str);
Unless(holds, rule) == IF holds THEN {} ELSE {rule}

\* The rules that a client with this view would break by the heartbeat.
\* @type: ($clientView) => Set(Str);
Breaks(known) ==
  UNION {Unless(LeavesWhenClosed(known), "LeavesWhenClosed"),
         Unless(KeepsItsInstanceId(known), "KeepsItsInstanceId"),
         Unless(JoinsWithAllFields(known), "JoinsWithAllFields"),
         Unless(RepeatsAllAfterError(known), "RepeatsAllAfterError"),
         Unless(OwnsOnlyAssigned(known), "OwnsOnlyAssigned"),
         Unless(RejoinsWhenRemoved(known), "RejoinsWhenRemoved"),
         Unless(EndsWhenFatal(known), "EndsWhenFatal"),
         Unless(SendsTheEpochItWasTold(known), "SendsTheEpochItWasTold")}

\* Every epoch of an answer to the member, received or not.
\* @type: Set(Int);
EpochsReceived ==
  UNION {{answer.epoch : answer \in {told \in Lines[i].answer : told.error = "NONE"}}
           : i \in {j \in 1..at : Lines[j].does = "Heartbeat"}}

\* O2, O4: a request for offsets has the member id and an epoch from an answer
\* to the member. Behind a heartbeat on its connection that is an epoch since
\* the last join.
OffsetsWithItsEpoch ==
  /\ Line.named
  /\ Sent.epoch \in EpochsReceived
  /\ Follows /\ epochs # {} /\ because # "left"
     => Sent.epoch \in epochs \cup {answer.epoch : answer \in responses[Me]}

(***************************************************************************)
(* Steps                                                                   *)
(***************************************************************************)

\* The line fits, or breaks rules.
\* @type: (Set(Str)) => Bool;
Judge(rules) ==
  /\ broken' = rules
  /\ at' = IF rules = {} THEN at + 1 ELSE -(at + 1)

\* SendRequest of the closed instance: the client has now reported its
\* partitions.
\* @type: ($clientView) => $client;
AfterSending(known) ==
  IF Sent.epoch = 0
  THEN NewClient(ValueOr(Sent.subscription, known.client.subscription))
  ELSE [known.client EXCEPT
          !.owned = IF Sent.owned = {} THEN @ ELSE UNION Sent.owned \cup known.client.told,
          !.subscription = ValueOr(Sent.subscription, @),
          !.report = FALSE]

\* H1, H6, H7, K1: a heartbeat, or a join.  The view stays for a report where a rule is broken.
SendHeartbeat ==
  /\ Line.does = "Heartbeat" /\ Sent.epoch >= 0
  /\ \E known \in Views :
       LET rules == Breaks(known) IN
       /\ Judge(rules)
       /\ clients' = [clients EXCEPT ![Me] = IF rules = {} THEN AfterSending(known) ELSE known.client]
       /\ LET quiet == Sent.epoch > 0 /\ ~IsFull /\ known.because \in {"refused", "lost", "leaving"} IN
          IF rules # {} THEN because' = known.because /\ UNCHANGED since
          ELSE /\ because' = IF quiet THEN "leaving" ELSE "sent"
               /\ since' = CASE ~quiet -> 0 [] since = 0 -> at + 1 [] OTHER -> since
       /\ epochs' = CASE Sent.epoch = 0 \/ Line.connection = 0 -> {}
                      [] known.because = "joined" -> {Sent.epoch}
                      [] OTHER -> epochs \cup {Sent.epoch}
       /\ responses' = [responses EXCEPT ![Me] = Line.answer]
       /\ connection' = Line.connection

\* H2, S1: LeaveGroup and LeaveGroupTemporarily.  The client does not wait for
\* the answer.
SendLeave ==
  /\ Line.does = "Heartbeat" /\ Sent.epoch < 0
  /\ \E known \in Views :
       /\ Judge(Breaks(known))
       /\ because' = IF Breaks(known) = {} THEN "left" ELSE known.because
  /\ connection' = Line.connection
  /\ UNCHANGED <<clients, responses, epochs, since>>

\* R9: a request of an older connection, or perhaps of one; ReceiveLate.
ArriveLate ==
  /\ Line.does = "Heartbeat"
  /\ because # "new"
  /\ Line.connection = 0 \/ Line.connection < connection
  /\ Judge({})
  /\ UNCHANGED <<clients, responses, because, connection, epochs, since>>

\* O2, O4.
RequestOffsets ==
  /\ Line.does \in {"Commit", "Fetch"}
  /\ Judge(IF OffsetsWithItsEpoch THEN {}
           ELSE {IF Line.does = "Commit" THEN "CommitsWithItsEpoch" ELSE "FetchesOffsetsWithItsEpoch"})
  /\ UNCHANGED <<clients, responses, because, connection, epochs, since>>

\* K1: on the connection through which it learned that it was removed, the
\* process joins under another member id.
JoinAsAnother ==
  /\ Line.does = "Another"
  /\ LET wasRemoved == /\ Follows /\ because = "sent" /\ responses[Me] # {}
                       /\ \A known \in IfTaken : known.because = "removed"
     IN /\ Judge(IF wasRemoved THEN {"RejoinsWhenRemoved"} ELSE {})
        /\ because' = IF wasRemoved THEN "removed" ELSE because
  /\ UNCHANGED <<clients, responses, connection, epochs, since>>

RecordedInit ==
  /\ run \in DOMAIN Runs
  /\ at = 0
  /\ group = NoGroup
  /\ topics = [t \in Topics |-> 0]
  /\ clients = [m \in MemberIds |-> NewClient({})]
  /\ responses = [m \in MemberIds |-> {}]
  /\ late = {} /\ zombies = {} /\ budget = 0 /\ step = NoStep
  /\ because = "new" /\ connection = 0 /\ epochs = {} /\ since = 0 /\ broken = {}

RecordedNext ==
  /\ 0 <= at /\ at < Len(Lines)
  /\ SendHeartbeat \/ SendLeave \/ ArriveLate \/ RequestOffsets \/ JoinAsAnother
  /\ UNCHANGED <<run, group, topics, late, zombies, budget, step>>

RecordedSpec == RecordedInit /\ [][RecordedNext]_recordedVars
=============================================================================
