--------------------------- MODULE LateMigration ----------------------------
(***************************************************************************)
(* Online migration with late requests (R9): a process of either protocol  *)
(* dies with a request on the way.  The request arrives at any later       *)
(* moment, also after the group was converted, or never.                   *)
(*                                                                         *)
(* A process that starts has a member id that no message has (ClosedGroup  *)
(* does the same for static members): here it waits until no request of    *)
(* the process before it is on the way.                                    *)
(*                                                                         *)
(* Left out: requests that arrive twice; a late Heartbeat of the classic   *)
(* protocol, which changes nothing.                                        *)
(***************************************************************************)
EXTENDS ClosedMigration

(*
  A request on the way whose process has died.  `api` is "JoinGroup",
  "SyncGroup", "LeaveGroup" or "ConsumerGroupHeartbeat".
  @typeAlias: message = {api: Str, request: $request};
*)
LateMigration_aliases == TRUE

VARIABLE
  \* Requests of processes that have died.
  \* @type: Set($message);
  late

lateState == <<state, late>>

\* @type: (Str, $request) => $message;
Message(api, request) == [api |-> api, request |-> request]

\* The requests that a process may just have sent.
\* @type: (Str) => Set($message);
MaySend(m) ==
  LET process == processes[m]
      leave == [NoRequest EXCEPT !.member = m, !.epoch = -1]
      sync == [NoRequest EXCEPT !.member = m, !.epoch = process.epoch]
      isClassic == process.protocol = "classic"
  IN UNION {
       IF isClassic /\ process.stage = "rejoin" THEN {Message("JoinGroup", JoinRequestOf(m))} ELSE {},
       IF isClassic /\ process.stage = "sync" THEN {Message("SyncGroup", sync)} ELSE {},
       IF isClassic /\ process.epoch # NoGeneration THEN {Message("LeaveGroup", leave)} ELSE {},
       IF isClassic THEN {} ELSE {Message("ConsumerGroupHeartbeat", HeartbeatOf(m))},
       IF isClassic \/ process.epoch = 0 THEN {} ELSE {Message("ConsumerGroupHeartbeat", leave)}}

\* R9: the process dies, and its last request is on the way still.
CrashSending(m) ==
  /\ Disturb(1)
  /\ processes[m].up /\ replies[m] = {} /\ processes[m].stage # "waiting"
  /\ \E message \in MaySend(m) : late' = late \cup {message}
  /\ processes' = [processes EXCEPT ![m] = EndedProcess(@)]
  /\ zombies' = zombies \ {m}
  /\ UNCHANGED <<mixed, replies>>

\* H2, C1: a leave, of either protocol.
\* @type: (Str, Str) => Bool;
HandleLeave(m, api) ==
  IF m \in Members(mixed.group) /\ (api = "LeaveGroup" <=> mixed.phase[m] # "")
  THEN Remove(m, {}, replies) ELSE UNCHANGED <<mixed, replies, zombies>>

\* R9: a request arrives late; no process waits for its answer.
ReceiveLate ==
  \E message \in late :
    /\ late' = late \ {message}
    /\ UNCHANGED <<processes, budget>>
    /\ IF message.request.epoch = -1 /\ message.api # "JoinGroup"
       THEN HandleLeave(message.request.member, message.api)
       ELSE IF message.api = "JoinGroup" THEN HandleJoin(message.request, {})
       ELSE IF message.api = "SyncGroup" THEN HandleSync(message.request.member, message.request.epoch, {})
       ELSE HandleHeartbeat(message.request, {})

LateInit == Init /\ late = {}

\* Every step but the start of a process under an id that is on the way.
PromptNext == Next /\ UNCHANGED late

LateNext ==
  \/ /\ PromptNext
     /\ \A message \in late : processes'[message.request.member].up => processes[message.request.member].up
  \/ \E m \in MemberIds : CrashSending(m)
  \/ ReceiveLate

LateSpec == LateInit /\ [][LateNext]_lateState

\* R9 taken away: a living member gives up on a request, which arrives late.
\* Not a join, which begins a new incarnation.
GiveUpSending(m) ==
  /\ Disturb(1)
  /\ processes[m].up /\ processes[m].epoch > 0 /\ replies[m] = {} /\ processes[m].stage # "waiting"
  /\ \E message \in MaySend(m) : message.request.epoch > 0 /\ late' = late \cup {message}
  /\ processes' = [processes EXCEPT ![m].report = TRUE]
  /\ UNCHANGED <<mixed, replies, zombies>>

NoR9Spec == LateInit /\ [][LateNext \/ \E m \in MemberIds : GiveUpSending(m)]_lateState
=============================================================================
