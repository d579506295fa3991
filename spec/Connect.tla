------------------------------- MODULE Connect ------------------------------
(***************************************************************************)
(* Groups of Kafka Connect on the new protocol (the draft "Integrating     *)
(* Kafka Connect With New Consumer Rebalance Protocol"; W1-W4), as an      *)
(* addition to Coordinator: epochs, reconciliation, fencing and time-outs  *)
(* are those of a consumer group, and the same operators.                  *)
(*                                                                         *)
(* Members are workers.  A resource is a connector, <<"A", 0>>, or a task  *)
(* of it, <<"A", 1>>: where a consumer group has a topic with partitions,  *)
(* a Connect group has a connector with its tasks, and each worker takes   *)
(* part in all of them.                                                    *)
(*                                                                         *)
(* Step 2 of the heartbeat differs.  The coordinator computes no target    *)
(* here: it chooses a worker, and that worker does, with PrepareAssignment *)
(* and InstallAssignment.  The group also remembers the work of a lost     *)
(* worker, so that the assignor can wait for the worker (delayed           *)
(* rebalance, W2).                                                         *)
(*                                                                         *)
(* Decisions where the draft leaves a question open; the alternatives in   *)
(* brackets.  They are written down only here.                             *)
(*  1 Not all work must be assigned; each resource at most once (draft 161 *)
(*    and 943 contradict each other).  [All of it: no work could wait.]    *)
(*  2 A worker joins at member epoch 0 and stays there until a target is   *)
(*    installed that was computed with it (draft 872, 884).  A request of  *)
(*    epoch 0 from such a worker is a heartbeat.  [To the epoch of a       *)
(*    target without it, as KIP-848's server side assignors allow: draft   *)
(*    884.]                                                                *)
(*  3 A worker keeps its own id when it restarts (draft "workerIds").      *)
(*    [Ids by the coordinator: a worker that is back would be another      *)
(*    one.]  An instance id adds nothing to that: the worker's record has  *)
(*    it, the assignor gets it, and no state here has it.  An instance id  *)
(*    keeps no place, as there is no epoch -2; two workers may have the    *)
(*    same, as the draft has no UNRELEASED_INSTANCE_ID; and a changed      *)
(*    instance id bumps no epoch.  An empty one is refused.  [Any: the     *)
(*    draft forbids only an empty one.  A static member as in KIP-848:     *)
(*    without that epoch and that error.]                                  *)
(*  4 COMPUTE_ASSIGNMENT is a flag in each response to the chosen worker   *)
(*    as long as a target is due.  [An error, once: lost with the          *)
(*    response.]                                                           *)
(*  5 The chosen worker stays chosen while it is in the group (draft "the  *)
(*    Leader assignment is sticky"); then the first by id; after a         *)
(*    time-out the next by id.  A new coordinator chooses anew.  [Any one  *)
(*    each time: the delay runs in the worker that computed last.]  A      *)
(*    worker that reads the versions of all others is chosen (draft 152);  *)
(*    if none does, any: the draft asks only that ranges overlap.  [No     *)
(*    worker: the group would never have a target again.]  A worker that   *)
(*    has prepared goes on, though, as with A6.                            *)
(*  6 Work that the target had for a worker when the worker was removed is *)
(*    the group's lost work, in the log. PrepareAssignment returns it with *)
(*    member epoch -1, until another worker gets the work, the work is     *)
(*    removed, or no worker is left.  [In the assignor's memory, as in     *)
(*    KIP-415: a new leader gives all lost work away at once.  In the      *)
(*    target, under the id of the removed worker: draft 943 prints a       *)
(*    target without it.]                                                  *)
(*  7 The delay runs in the worker that has computed; another worker       *)
(*    starts the delay anew, so work may wait longer, never shorter.  [In  *)
(*    the coordinator, which has no such setting.]                         *)
(*  8 Any change of a worker's reason bumps the group epoch (E1), so a     *)
(*    worker never goes back to 0, but alternates.  A repeated request has *)
(*    the same reason, and bumps nothing.  [A reason other than 0 bumps:   *)
(*    twice, if an answer is lost.]                                        *)
(*  9 FENCED_MEMBER_EPOCH of both calls is STALE_MEMBER_EPOCH, as no       *)
(*    worker is removed; an assignment that was prepared by another        *)
(*    coordinator or for another epoch is an INVALID_ASSIGNMENT.           *)
(* 10 The assignment is sent until it is acknowledged (R5), not only to a  *)
(*    worker that is behind (draft 336); it has no pending work.           *)
(* 11 Connectors and tasks come to the coordinator as topics do: from      *)
(*    outside the group.  [From a worker's metadata.]                      *)
(* 12 A server side assignor is refused (UNSUPPORTED_ASSIGNOR), and so is  *)
(*    a worker that joins with versions that do not overlap with those of  *)
(*    any other worker, as in a consumer group (A8; draft 321).  Versions  *)
(*    are judged in each request that gives them: a worker that waits, or  *)
(*    gives no other reason, stays, though the others have left that had   *)
(*    versions in common with the worker's.                                *)
(*                                                                         *)
(* The draft's case studies are scenarios over these operators (W3), in    *)
(* traces/golden/connect, with its misprints.                              *)
(*                                                                         *)
(* Left out: names of assignors (in ConnectNames; here all workers offer   *)
(* the same one), a worker that comes back with an assignor of other       *)
(* versions, results of an assignor besides work (version and metadata),   *)
(* an assignor that fails, the migration of classic groups of workers,     *)
(* offsets.                                                                *)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
  \* The order of the workers' ids: where any worker would do, the first one is
  \* taken.
  \* @type: Str -> Int;
  MemberRank,
  \* The first and the last version of metadata that each worker's assignor reads.
  \* @type: Str -> <<Int, Int>>;
  Versions

(*
  What PrepareAssignment was answered from: an install is judged by it (W4).
  @typeAlias: prepared = {epoch: Int, workers: Set(Str), metadata: Str -> Int};

  What a Connect group has beside a consumer group's state: who computes, and
  from what (an option); the workers that the target was computed for; lost
  work, by the worker that had it; the last reason of each worker.
  @typeAlias: work = {
    chosen: Str, prepared: Set($prepared), named: Set(Str),
    lost: $partition -> Str, reasons: Str -> Int
  };

  One worker in the answer to PrepareAssignment; epoch -1 if it has gone.
  @typeAlias: preparedWorker = {worker: Str, epoch: Int, reason: Int, resources: Set($partition)};

  What the last step has beside the step of a consumer group: the reason of a
  heartbeat and whether its answer says that the worker is to compute; the
  group epoch of a PrepareAssignment's answer or of an InstallAssignment, and
  the workers or the target; what a target gives to a second worker, too.
  @typeAlias: call = {
    reason: Set(Int), compute: Bool, groupEpoch: Int, workers: Set($preparedWorker),
    target: $partition -> Str, twice: Set($partition)
  };
  @typeAlias: worked = {group: $group, work: $work, step: $step, call: $call};
*)
Connect_aliases == TRUE

\* Departures of a Connect group from a consumer group in the operators that
\* they share (see 10 above); models have it as their Dialect.
\* @type: $dialect;
ConnectText == [KIP848 EXCEPT !.PendingInResponse = FALSE]

\* @type: $partition -> Str;
Nobody == [r \in Partitions |-> None]

\* @type: $work;
NoWork == [chosen |-> None, prepared |-> {}, named |-> {}, lost |-> Nobody,
           reasons |-> [m \in MemberIds |-> 0]]

\* @type: $call;
NoCall == [reason |-> {}, compute |-> FALSE, groupEpoch |-> 0, workers |-> {},
           target |-> Nobody, twice |-> {}]

\* Every worker "subscribes" to every connector.
EveryConnector == ".*"
\* @type: Str -> Set(Str);
OnlyEveryConnector == [r \in {EveryConnector} |-> {TopicName[t] : t \in Topics}]

(***************************************************************************)
(* The worker that computes the target (W1), and lost work (W2)            *)
(***************************************************************************)

\* E2: is a new target due?
\* @type: ($group) => Bool;
TargetIsDue(g) == g.epoch > g.assignmentEpoch

\* @type: (Set(Str)) => Str;
FirstWorker(workers) == CHOOSE m \in workers : \A n \in workers : MemberRank[m] <= MemberRank[n]

\* The next by id, the first after the last.
\* @type: (Set(Str), Str) => Str;
NextWorker(workers, m) ==
  LET later == {n \in workers : MemberRank[n] > MemberRank[m]}
  IN FirstWorker(IF later = {} THEN workers ELSE later)

\* W1: does the assignor of `m` read every version that the one of `n` may write?
\* @type: (Str, Str) => Bool;
Reads(m, n) == Versions[m][1] <= Versions[n][1] /\ Versions[n][2] <= Versions[m][2]

\* W1: workers that may be chosen: those that read the metadata of all, if
\* there are such workers.
\* @type: (Set(Str)) => Set(Str);
Covering(workers) ==
  LET all == {m \in workers : \A n \in workers : Reads(m, n)}
  IN IF all = {} THEN workers ELSE all

\* W1: a worker is chosen as long as the group has workers; a worker that stays
\* in the group stays chosen while it reads the metadata of all, or has
\* prepared.
\* @type: ($group, $work) => $work;
Choose(g, w) ==
  IF w.chosen \in (IF w.prepared = {} THEN Covering(Members(g)) ELSE Members(g)) THEN w
  ELSE [w EXCEPT !.prepared = {},
                 !.chosen = IF Members(g) = {} THEN None ELSE FirstWorker(Covering(Members(g)))]

\* Connectors and tasks that are there.
\* @type: (Str -> Int, $partition) => Bool;
IsThere(metadata, r) == r[2] < metadata[r[1]]

\* W2: after a step from g to h, the work that the target had for removed
\* workers is lost; nothing is lost where no worker is left to wait.
\* @type: ($group, $group, $work) => $work;
FollowWork(g, h, w) ==
  LET gone == Members(g) \ Members(h)
      lost == [r \in Partitions |->
                 IF Members(h) = {} \/ ~IsThere(h.metadata, r) THEN None
                 ELSE IF g.target[r] \in gone THEN g.target[r] ELSE w.lost[r]]
      reasons == [m \in MemberIds |-> IF m \in Members(h) THEN w.reasons[m] ELSE 0]
  IN Choose(h, [w EXCEPT !.named = @ \ gone, !.lost = lost, !.reasons = reasons])

(***************************************************************************)
(* The heartbeat                                                           *)
(***************************************************************************)

\* W4: a request that the draft does not allow, beside those of KIP-848 (see 3
\* above).
\* @type: ($request) => Bool;
ConnectInvalid(request) ==
  \/ request.member = None \/ request.epoch < -1 \/ InstanceIdEmpty(request)
  \/ request.assignor = {""}

\* A request as one of a consumer group; an instance id means nothing there.
\* @type: ($request) => $request;
AsMember(request) ==
  [request EXCEPT !.regex = IF request.epoch = 0 THEN {EveryConnector} ELSE {}, !.instance = {}]

\* Has the worker joined, without a target that was computed with it?
\* @type: ($group, Str) => Bool;
Waits(g, m) == m \in Members(g) /\ g.members[m].epoch = 0

\* A worker that joins has no part in the target yet.
\* @type: ($group, $updated, Str) => $updated;
WithoutTarget(g, updated, m) ==
  IF updated.kind # "join" \/ m \in Members(g) THEN updated
  ELSE [updated EXCEPT !.group.target = [r \in Partitions |-> IF g.target[r] = m THEN None ELSE g.target[r]]]

\* W4, A8: are there others, and do the versions of `m` overlap with those of none?
\* @type: ($group, Str) => Bool;
OverlapsNone(g, m) ==
  LET others == Members(g) \ {m} IN
  others # {} /\ \A n \in others : Versions[n][2] < Versions[m][1] \/ Versions[m][2] < Versions[n][1]

\* A8, W2: a worker gives its versions when it joins, and with a reason.
\* @type: ($group, Str, $request, Set(Int)) => Bool;
GivesVersions(g, m, request, reason) == reason # {} \/ (request.epoch = 0 /\ ~Waits(g, m))

\* Step 1 (E1): as in a consumer group.
\* @type: ($group, Str -> Int, Str, $request, Set(Int)) => $updated;
UpdateMembership(g, topics, m, request, reason) ==
  IF ConnectInvalid(request) THEN Updated(g, "INVALID_REQUEST", "invalid", FALSE)
  ELSE IF GivesVersions(g, m, request, reason) /\ OverlapsNone(g, m)
  THEN Updated(g, "UNSUPPORTED_ASSIGNOR", "unsupported", FALSE)
  ELSE IF request.epoch = 0 /\ Waits(g, m) /\ ~Unsupported(request)
  THEN Heartbeat(g, topics, m, [request EXCEPT !.instance = {}])
  ELSE WithoutTarget(g, UpdateMember(g, topics, m, AsMember(request)), m)

\* @type: (Set(Int), Int) => Int;
ReasonOr(reason, default) == IF reason = {} THEN default ELSE CHOOSE r \in reason : TRUE

\* W2, E1: does the worker give another reason than before?
\* @type: ($updated, $work, Str, Set(Int)) => Bool;
WithReason(updated, w, m, reason) ==
  /\ updated.error = "NONE" /\ updated.kind # "leave"
  /\ reason # {} /\ reason # {w.reasons[m]}

\* Step 1 as a whole: another reason asks for a rebalance; several changes in
\* one request bump the group epoch once.
\* @type: ($group, $work, Str -> Int, Str, $request, Set(Int)) => $updated;
UpdateWorker(g, w, topics, m, request, reason) ==
  LET updated == UpdateMembership(g, topics, m, request, reason) IN
  IF WithReason(updated, w, m, reason) /\ updated.group.epoch = g.epoch
  THEN [updated EXCEPT !.group = BumpGroupEpoch(updated.group)]
  ELSE updated

\* Step 3: a worker that the target does not know stays where it is.
\* @type: ($group, $work, Str, $request, $updated) => $group;
ReconcileWorker(g, w, m, request, updated) ==
  IF m \in w.named THEN Reconcile(updated.group, g, m, request, updated)
  ELSE [g EXCEPT !.members[m].acknowledged = NowAcknowledged(g, g, m, request, updated.kind)]

\* @type: ($group, Str, $request) => Str;
WorkerAction(g, m, request) ==
  IF request.epoch = 0 /\ Waits(g, m) THEN "Heartbeat" ELSE ActionOf(g, m, request)

\* ConnectGroupHeartbeat: steps 1 and 3, and the answer (W1: the chosen worker
\* hears that it is to compute).
\* @type: ($group, $work, Str, $request, Set(Int), $updated) => $worked;
HandleWorker(g, w, m, request, reason, updated) ==
  LET answers == updated.error = "NONE" /\ updated.kind # "leave"
      h == IF answers THEN ReconcileWorker(updated.group, w, m, request, updated) ELSE updated.group
      said == IF updated.kind = "join" THEN [w EXCEPT !.reasons[m] = ReasonOr(reason, 0)]
              ELSE IF answers THEN [w EXCEPT !.reasons[m] = ReasonOr(reason, @)] ELSE w
      next == FollowWork(g, h, said)
      response == IF answers THEN Response(updated.group, h, m, request, updated.kind)
                  ELSE IF updated.error = "NONE" THEN LeaveResponse(m, request.epoch)
                  ELSE ErrorResponse(updated.error)
  IN [group |-> h, work |-> next,
      step |-> [NoStep EXCEPT !.action = WorkerAction(g, m, request),
                              !.branch = BranchOf(updated.group, h, m, updated),
                              !.member = m, !.request = request, !.response = response],
      call |-> [NoCall EXCEPT !.reason = reason,
                              !.compute = answers /\ TargetIsDue(h) /\ next.chosen = m]]

(***************************************************************************)
(* PrepareAssignment and InstallAssignment (W1, W4)                        *)
(***************************************************************************)

\* W4: may `m` at that epoch compute?
\* @type: ($group, $work, Str, Int) => Str;
ComputeError(g, w, m, epoch) ==
  IF m = None \/ epoch < 0 THEN "INVALID_REQUEST"
  ELSE IF ~Exists(g) THEN "GROUP_ID_NOT_FOUND"
  ELSE IF m \notin Members(g) THEN "UNKNOWN_MEMBER_ID"
  ELSE IF g.members[m].epoch # epoch THEN "STALE_MEMBER_EPOCH"
  ELSE IF w.chosen # m \/ ~TargetIsDue(g) THEN "UNKNOWN_MEMBER_ID"
  ELSE "NONE"

\* @type: (Str, Str, Int, Str) => $step;
CallStep(action, m, epoch, error) ==
  [NoStep EXCEPT !.action = action, !.member = m,
                 !.request = [NoRequest EXCEPT !.member = m, !.epoch = epoch],
                 !.response = [NoResponse EXCEPT !.error = error]]

\* Input of the assignor: the workers with their part of the target, and those
\* that have gone with what they lost.
\* @type: ($group, $work) => Set($preparedWorker);
PreparedWorkers(g, w) ==
  {[worker |-> m, epoch |-> g.members[m].epoch, reason |-> w.reasons[m],
    resources |-> IF m \in w.named THEN TargetOf(g, m) ELSE {}] : m \in Members(g)}
  \cup
  {[worker |-> m, epoch |-> NotInGroup, reason |-> 0,
    resources |-> {r \in Partitions : w.lost[r] = m}] :
      m \in {n \in MemberIds : \E r \in Partitions : w.lost[r] = n}}

\* @type: ($group, $work, Str, Int) => $worked;
PrepareAssignment(g, w, m, epoch) ==
  LET error == ComputeError(g, w, m, epoch) IN
  [group |-> g,
   work |-> IF error # "NONE" THEN w
            ELSE [w EXCEPT !.prepared = {[epoch |-> g.epoch, workers |-> Members(g), metadata |-> g.metadata]}],
   step |-> CallStep("PrepareAssignment", m, epoch, error),
   call |-> IF error # "NONE" THEN NoCall
            ELSE [NoCall EXCEPT !.groupEpoch = g.epoch, !.workers = PreparedWorkers(g, w)]]

\* W4, as far as the draft can mean it: known resources, each at most once, to
\* workers that were in the group, judged by the group as it was prepared.
\* @type: ($prepared, $partition -> Str, Set($partition)) => Bool;
ValidTarget(prepared, target, twice) ==
  /\ twice = {}
  /\ \A r \in Partitions :
       target[r] # None => target[r] \in prepared.workers /\ IsThere(prepared.metadata, r)

\* E2, W4: the epoch of the target is that from which it was computed.  A
\* worker that has left meanwhile gets nothing.  Work that a worker gets is not
\* lost any more.
\* @type: ($group, $work, $prepared, $partition -> Str) => {group: $group, work: $work};
Installed(g, w, prepared, target) ==
  LET given == [r \in Partitions |-> IF target[r] \in Members(g) THEN target[r] ELSE None] IN
  [group |-> [g EXCEPT !.target = given, !.assignmentEpoch = prepared.epoch],
   work |-> Choose(g, [w EXCEPT !.prepared = {}, !.named = prepared.workers \cap Members(g),
                                !.lost = [r \in Partitions |-> IF given[r] # None THEN None ELSE w.lost[r]]])]

\* @type: ($group, $work, Str, Int, Int, $partition -> Str, Set($partition)) => $worked;
InstallAssignment(g, w, m, epoch, groupEpoch, target, twice) ==
  LET refused == ComputeError(g, w, m, epoch)
      valid == \E p \in w.prepared : p.epoch = groupEpoch /\ ValidTarget(p, target, twice)
      error == IF refused = "NONE" /\ ~valid THEN "INVALID_ASSIGNMENT" ELSE refused
      next == IF error # "NONE" THEN [group |-> g, work |-> w]
              ELSE Installed(g, w, CHOOSE p \in w.prepared : TRUE, target)
  IN [group |-> next.group, work |-> next.work,
      step |-> CallStep("InstallAssignment", m, epoch, error),
      call |-> [NoCall EXCEPT !.groupEpoch = groupEpoch, !.target = target, !.twice = twice]]

(***************************************************************************)
(* Events                                                                  *)
(***************************************************************************)

\* @type: ($group, $group, $work, $step) => $worked;
WorkerEvent(g, h, w, s) ==
  [group |-> h, work |-> FollowWork(g, h, w), step |-> s, call |-> NoCall]

\* W1: the chosen worker did not install in time; it is not fenced, another one
\* computes.
\* @type: ($group, $work) => $worked;
ChooseAnother(g, w) ==
  [group |-> g,
   work |-> [w EXCEPT !.prepared = {}, !.chosen = NextWorker(Covering(Members(g)), w.chosen)],
   step |-> EventStep("AssignmentTimeout", w.chosen, "", 0), call |-> NoCall]

\* P2: lost work, the workers of the target and reasons are in the log; the
\* chosen worker and the group that it prepared are not.
\* @type: ($group, $work, Str -> Int, $step) => $worked;
ConnectFailOver(g, w, topics, s) ==
  LET h == DeriveRevocations(NoticeTopics(AfterFailOver(g), topics))
  IN WorkerEvent(g, h, [w EXCEPT !.chosen = None, !.prepared = {}], s)
=============================================================================
