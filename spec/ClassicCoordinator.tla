------------------------- MODULE ClassicCoordinator -------------------------
(***************************************************************************)
(* The coordinator of classic groups (Kafka Client-side Assignment         *)
(* Proposal) as functions on the state of one group: JoinGroup collects    *)
(* members behind a barrier, the leader's SyncGroup gives each member its  *)
(* assignment, and Heartbeat tells members when to rejoin.                 *)
(*                                                                         *)
(* Every step is a function: no rule leaves a choice.  Where Kafka's       *)
(* answer depends on the order of a hash table, the first member id        *)
(* decides.                                                                *)
(*                                                                         *)
(* The proposal asks for GenerationRecorded, and Kafka does not do it: a   *)
(* generation is in the log as soon as the barrier opens, so that a new    *)
(* coordinator can go on with its SyncGroup (C2).  For that reason, as the *)
(* leader may synchronise while others still try to join, a JoinGroup of   *)
(* any member aborts a synchronization that has not ended.  A member that  *)
(* joins after the end gets the generation in its answer: no member waits, *)
(* and the members need not rejoin.                                        *)
(*                                                                         *)
(* Decided otherwise than in Kafka, where the answer is an accident of the *)
(* code: a request that a later request of its member replaces is answered *)
(* at once; so is a SyncGroup of a member that is removed; a join that is  *)
(* refused creates no group; a pending id that leaves forces no rebalance; *)
(* only time ends the initial delay.                                       *)
(*                                                                         *)
(* Left out: the maximum size of a group; JoinGroup before version 4,      *)
(* which adds members without the known-member step.  Time-outs are        *)
(* untimed.                                                                *)
(***************************************************************************)
EXTENDS ClassicGroups

(***************************************************************************)
(* Rebalancing                                                             *)
(***************************************************************************)

\* The log gets the group as it is (P1).
\* @type: ($classicGroup) => $classicGroup;
Save(g) ==
  [g EXCEPT !.saved =
     {[generation |-> g.generation, type |-> g.type, protocol |-> g.protocol, leader |-> g.leader,
       members |-> [m \in MemberIds |->
          IF m \notin InGroup(g) THEN NotSaved
          ELSE [there |-> TRUE, instance |-> g.members[m].instance,
                subscription |-> g.members[m].subscription, assignment |-> g.members[m].assignment]]]}]

\* Another leader, if the one there was is gone.
\* @type: ($classicGroup) => $classicGroup;
WithLeader(g) ==
  IF g.leader \in InGroup(g) THEN g
  ELSE [g EXCEPT !.leader = IF InGroup(g) = {} THEN None ELSE FirstMember(InGroup(g))]

\* @type: ($classicGroup, Set(Str)) => $classicGroup;
Without(g, gone) ==
  WithLeader([g EXCEPT !.members = [m \in MemberIds |-> IF m \in gone THEN NoClassicMember ELSE g.members[m]]])

\* C1, E5: no member is left; the generation without members is in the log.
\* @type: ($classicGroup) => $classicGroup;
BecomeEmpty(g) ==
  Save([g EXCEPT !.state = "Empty", !.generation = g.generation + 1, !.protocol = "", !.leader = None,
                 !.initial = FALSE, !.newMember = FALSE, !.extensions = 0])

\* C1: the next generation, of all members that are left.
\* @type: ($classicGroup) => $classicGroup;
NextGeneration(g) ==
  LET leader == IF g.members[g.leader].joining THEN g.leader ELSE FirstMember(Joining(g))
      led == [g EXCEPT !.leader = leader]
      next == [led EXCEPT !.state = "CompletingRebalance", !.generation = g.generation + 1,
                          !.protocol = SelectProtocol(led),
                          !.initial = FALSE, !.newMember = FALSE, !.extensions = 0,
                          !.members = [m \in MemberIds |->
                             IF m \notin InGroup(g) THEN g.members[m]
                             ELSE [g.members[m] EXCEPT !.fresh = FALSE, !.joining = FALSE, !.owesSync = TRUE]]]
  IN IF GenerationRecorded THEN Save(next) ELSE next

\* C1: the barrier opens.  Members that have not rejoined are removed, unless
\* they are static; if none has rejoined, there is no leader and
\* the group goes on waiting.
\* @type: ($outcome) => $outcome;
CompleteJoin(o) ==
  LET g == o.group
      late == {m \in InGroup(g) \ Joining(g) : g.members[m].instance = None}
      kept == Without(g, late)
      next == NextGeneration(kept)
  IN IF InGroup(kept) = {} THEN [o EXCEPT !.group = BecomeEmpty(kept)]
     ELSE IF Joining(kept) = {} THEN [o EXCEPT !.group = kept]
     ELSE [group |-> next,
           answers |-> o.answers \cup {[member |-> m, response |-> JoinResponse(next, m, FALSE)] : m \in Joining(kept)}]

\* @type: ($outcome) => $outcome;
MaybeComplete(o) ==
  IF o.group.state = "PreparingRebalance" /\ ~o.group.initial /\ AllJoined(o.group) THEN CompleteJoin(o) ELSE o

\* C1: all members must rejoin; a member that waits for its assignment is told
\* so at once.  The first rebalance of a group waits for more members.
\* @type: ($outcome) => $outcome;
Prepare(o) ==
  LET g == o.group
      syncing == {m \in InGroup(g) : g.members[m].syncing}
      first == g.state = "Empty"
      next == [g EXCEPT !.state = "PreparingRebalance", !.initial = first, !.newMember = FALSE,
                        !.extensions = IF first THEN Extensions ELSE 0,
                        !.members = [m \in MemberIds |->
                           [g.members[m] EXCEPT !.assignment = {}, !.syncing = FALSE, !.owesSync = FALSE]]]
  IN MaybeComplete([group |-> next,
                    answers |-> o.answers \cup
                      {[member |-> m, response |-> ClassicError("SyncGroup", None, "REBALANCE_IN_PROGRESS")] :
                         m \in syncing}])

\* @type: ($outcome) => $outcome;
Rebalance(o) == IF o.group.state = "PreparingRebalance" THEN MaybeComplete(o) ELSE Prepare(o)

\* A member is no more: it left or its session ran out.
\* @type: ($classicGroup, Str) => $outcome;
RemoveClassic(g, m) ==
  Rebalance([group |-> Without(g, {m}), answers |-> Unanswered(g, m, None, "UNKNOWN_MEMBER_ID")])

\* A pending id is removed: the barrier need not wait for it.
\* @type: ($classicGroup, Str) => $outcome;
RemovePending(g, m) == MaybeComplete([group |-> Without(g, {m}), answers |-> {}])

(***************************************************************************)
(* One request, one event                                                  *)
(***************************************************************************)

\* @type: (Str, Str, Str, $classicRequest, $classicResponse, $outcome) => $handled;
ClassicHandled(action, branch, m, request, response, o) ==
  [group |-> o.group,
   step |-> [NoClassicStep EXCEPT !.action = action, !.branch = branch, !.member = m, !.request = request,
                                  !.response = response, !.completed = o.answers]]

\* A step that changes nothing.
\* @type: ($classicGroup) => $outcome;
Same(g) == [group |-> g, answers |-> {}]

\* The answer to a request of `m` that may have come among the answers at once.
\* @type: (Str, Str, Str, $classicRequest, $outcome) => $handled;
Waited(api, branch, m, request, o) ==
  LET own == {a \in o.answers : a.member = m /\ a.response.api = api}
      response == IF own = {} THEN NoClassicResponse ELSE (CHOOSE a \in own : TRUE).response
  IN ClassicHandled(api, branch, m, request, response, [o EXCEPT !.answers = @ \ own])

\* The member with the fields of its JoinGroup.
\* @type: ($classicMember, $classicRequest) => $classicMember;
JoinsWith(member, request) ==
  [member EXCEPT !.protocols = request.protocols, !.subscription = request.subscription, !.joining = TRUE]

\* A new group is in the log before its first member.
\* @type: ($classicGroup) => $classicGroup;
CreatedClassic(g) == IF ClassicExists(g) THEN g ELSE Save([g EXCEPT !.state = "Empty"])

\* C1: a member that the group did not have.
\* @type: ($classicGroup, Str, $classicRequest) => $outcome;
AddMember(g, m, request) ==
  LET member == JoinsWith([NoClassicMember EXCEPT !.place = "member", !.instance = TextOr(request.instance, None),
                                                  !.fresh = TRUE], request)
      added == [g EXCEPT !.members[m] = member,
                         !.type = IF InGroup(g) = {} THEN TextOr(request.type, "") ELSE g.type,
                         !.leader = IF g.leader = None THEN m ELSE g.leader,
                         !.newMember = g.initial]
  IN Rebalance([group |-> added, answers |-> {}])

\* S1: a process with the instance id of a member takes its place: a request
\* that waits under the old member id is fenced.
\* @type: ($classicGroup, Str, Str, $classicRequest) => $classicGroup;
Replaced(g, n, m, request) ==
  [g EXCEPT !.members = [k \in MemberIds |->
              IF k = m THEN JoinsWith([g.members[n] EXCEPT !.fresh = FALSE, !.syncing = FALSE], request)
              ELSE IF k = n THEN NoClassicMember ELSE g.members[k]],
            !.leader = IF g.leader = n THEN m ELSE g.leader]

\* S1: in a Stable group that goes on with its protocol, no other member has to
\* rejoin; a leader that returns is told to skip the assignment.
\* @type: ($classicGroup, Str, Str, $classicRequest) => $handled;
ReplaceStatic(g, n, m, request) ==
  LET fenced == Unanswered(g, n, n, "FENCED_INSTANCE_ID")
      replaced == Replaced(g, n, m, request)
      undisturbed == Save([replaced EXCEPT !.members[m].joining = FALSE])
  IN IF g.state = "Stable" /\ SelectProtocol(replaced) = g.protocol
     THEN ClassicHandled("JoinGroup", "return", m, request, JoinResponse(undisturbed, m, m = undisturbed.leader),
                         [group |-> undisturbed, answers |-> fenced])
     ELSE Waited("JoinGroup", "replace", m, request, Rebalance([group |-> replaced, answers |-> fenced]))

\* @type: ($classicMember, $classicRequest) => Bool;
OffersTheSame(member, request) ==
  member.protocols = request.protocols /\ member.subscription = request.subscription

\* C1: a member joins again.  During a synchronization that aborts the
\* synchronization (C2, failure 2).  After it, a member that lost the answer
\* gets the current generation; the leader forces a rebalance (the topics may
\* have changed, C2), and so does a member whose protocols changed.
\* @type: ($classicGroup, Str, $classicRequest) => $handled;
RejoinClassic(g, m, request) ==
  LET member == g.members[m]
      superseded == {[member |-> m, response |-> ClassicError("JoinGroup", m, "NOT_COORDINATOR")] :
                       x \in {y \in {m} : member.joining}}
      updated == [g EXCEPT !.members[m] = JoinsWith(member, request)]
      o == Rebalance([group |-> updated, answers |-> {}])
      now == Waited("JoinGroup", "rejoin", m, request, o)
  IN IF \/ ~GenerationRecorded /\ g.state = "CompletingRebalance" /\ OffersTheSame(member, request)
        \/ g.state = "Stable" /\ m # g.leader /\ OffersTheSame(member, request)
     THEN ClassicHandled("JoinGroup", "current", m, request, JoinResponse(g, m, FALSE), Same(g))
     ELSE [now EXCEPT !.step.completed = @ \cup superseded]

\* C1.  `m` is the request's member id, or the one made for a join without.
\* @type: ($classicGroup, Str, $classicRequest) => $handled;
JoinGroup(g, m, request) ==
  LET holder == InstanceHolder(g, request.instance)
      Refuse(error) ==
        ClassicHandled("JoinGroup", "refused", m, request, ClassicError("JoinGroup", request.member, error), Same(g))
      created == CreatedClassic(g)
  IN IF ~ClassicExists(g) /\ request.member # None THEN Refuse("UNKNOWN_MEMBER_ID")
     ELSE IF ~Supports(g, request) THEN Refuse("INCONSISTENT_GROUP_PROTOCOL")
     ELSE IF request.member = None /\ request.instance = {}
     THEN ClassicHandled("JoinGroup", "known", m, request, ClassicError("JoinGroup", m, "MEMBER_ID_REQUIRED"),
                         Same([created EXCEPT !.members[m].place = "pending"]))
     ELSE IF request.member = None /\ holder # {}
     THEN ReplaceStatic(g, CHOOSE n \in holder : TRUE, m, request)
     ELSE IF request.member = None \/ (request.instance = {} /\ m \in PendingIds(g))
     THEN Waited("JoinGroup", "add", m, request, AddMember(created, m, request))
     ELSE IF IdentityError(g, m, request.instance) # "NONE" THEN Refuse(IdentityError(g, m, request.instance))
     ELSE RejoinClassic(g, m, request)

\* C1: the error of a request that names a member and a generation.
\* @type: ($classicGroup, $classicRequest) => Str;
GenerationError(g, request) ==
  IF g.state \in {"Dead", "Empty"} THEN "UNKNOWN_MEMBER_ID"
  ELSE IF IdentityError(g, request.member, request.instance) # "NONE"
  THEN IdentityError(g, request.member, request.instance)
  ELSE IF request.generation # g.generation THEN "ILLEGAL_GENERATION" ELSE "NONE"

\* @type: ($classicGroup, $classicRequest) => Str;
SyncError(g, request) ==
  IF GenerationError(g, request) # "NONE" THEN GenerationError(g, request)
  ELSE IF TextOr(request.type, g.type) # g.type \/ TextOr(request.protocol, g.protocol) # g.protocol
  THEN "INCONSISTENT_GROUP_PROTOCOL"
  ELSE IF g.state = "PreparingRebalance" THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"

\* C1: the leader's assignment is in the log, and each member that waits gets
\* its part.
\* @type: ($classicGroup, $classicRequest) => $outcome;
Synchronise(g, request) ==
  LET syncing == {m \in InGroup(g) : g.members[m].syncing}
      assigned == Save([g EXCEPT !.state = "Stable",
                                 !.members = [m \in MemberIds |->
                                    IF m \notin InGroup(g) THEN g.members[m]
                                    ELSE [g.members[m] EXCEPT !.assignment = request.assignments[m],
                                                              !.syncing = FALSE]]])
  IN [group |-> assigned,
      answers |-> {[member |-> m, response |-> SyncResponse(assigned, m)] : m \in syncing}]

\* C1.
\* @type: ($classicGroup, $classicRequest) => $handled;
SyncGroup(g, request) ==
  LET m == request.member
      error == SyncError(g, request)
      waits == [g EXCEPT !.members[m].syncing = TRUE, !.members[m].owesSync = FALSE]
      superseded == {[member |-> m, response |-> ClassicError("SyncGroup", None, "NOT_COORDINATOR")] :
                       x \in {y \in {m} : g.members[y].syncing}}
      now == Waited("SyncGroup", "leader", m, request, Synchronise(waits, request))
      stable == [g EXCEPT !.members[m].owesSync = FALSE]
  IN IF error # "NONE"
     THEN ClassicHandled("SyncGroup", "refused", m, request, ClassicError("SyncGroup", None, error), Same(g))
     ELSE IF g.state = "Stable"
     THEN ClassicHandled("SyncGroup", "current", m, request, SyncResponse(stable, m), Same(stable))
     ELSE IF m = g.leader THEN [now EXCEPT !.step.completed = @ \cup superseded]
     ELSE ClassicHandled("SyncGroup", "wait", m, request, NoClassicResponse, [group |-> waits, answers |-> superseded])

\* C1: the answer to a heartbeat is to go on, or to rejoin.
\* @type: ($classicGroup, $classicRequest) => $handled;
ClassicHeartbeat(g, request) ==
  LET error == GenerationError(g, request)
      told == IF error = "NONE" /\ g.state = "PreparingRebalance" THEN "REBALANCE_IN_PROGRESS" ELSE error
  IN ClassicHandled("ClassicHeartbeat", "", request.member, request,
                    ClassicError("Heartbeat", None, told), Same(g))

\* C1: a member leaves, or a request names a static member by its instance id alone.
\* @type: ($classicGroup, $classicRequest) => $handled;
LeaveGroup(g, request) ==
  LET holder == InstanceHolder(g, request.instance)
      m == IF request.member = None THEN TextOr(holder, None) ELSE request.member
      error == IF ~ClassicExists(g) THEN "UNKNOWN_MEMBER_ID"
               ELSE IF request.member = None THEN IF holder = {} THEN "UNKNOWN_MEMBER_ID" ELSE "NONE"
               ELSE IF m \in PendingIds(g) THEN "NONE" ELSE IdentityError(g, m, request.instance)
      Left(o) == ClassicHandled("LeaveGroup", "", m, request, ClassicError("LeaveGroup", request.member, error), o)
  IN IF error # "NONE" THEN Left(Same(g))
     ELSE IF m \in PendingIds(g) THEN Left(RemovePending(g, m))
     ELSE Left(RemoveClassic(g, m))

\* @type: (Str, Str, $outcome) => $handled;
ClassicEvent(action, m, o) ==
  ClassicHandled(action, "", m, NoClassicRequest, NoClassicResponse, o)

\* H8.
\* @type: ($classicGroup, Str) => $handled;
ExpireClassic(g, m) ==
  ClassicEvent("SessionTimeout", m, IF m \in PendingIds(g) THEN RemovePending(g, m) ELSE RemoveClassic(g, m))

\* C1: the barrier opens although not all have rejoined; the initial delay is
\* prolonged as long as new members come.
\* @type: ($classicGroup) => $handled;
ExpireJoin(g) ==
  ClassicEvent("JoinTimeout", None,
    IF g.initial /\ g.newMember /\ g.extensions > 0
    THEN Same([g EXCEPT !.newMember = FALSE, !.extensions = @ - 1])
    ELSE CompleteJoin(Same(g)))

\* C1: a member that has not sent its SyncGroup in time is removed; all others
\* rejoin.
\* @type: ($classicGroup) => $handled;
ExpireSync(g) ==
  ClassicEvent("SyncTimeout", None, Prepare(Same(Without(g, OwingSync(g)))))

\* O2: the error of a commit.  A consumer that is no member and assigns itself
\* partitions sends no member id and a generation below 0; it may have an
\* instance id.
\* @type: ($classicGroup, $classicRequest) => Str;
ClassicCommitError(g, request) ==
  IF request.generation < 0 /\ request.member = None
     /\ (request.instance = {} \/ g.state \in {"Dead", "Empty"})
  THEN IF g.state \in {"Dead", "Empty"} THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"
  ELSE IF GenerationError(g, request) # "NONE" THEN GenerationError(g, request)
  ELSE IF g.state = "CompletingRebalance" THEN "REBALANCE_IN_PROGRESS" ELSE "NONE"

(***************************************************************************)
(* Fail-over (C2, P2)                                                      *)
(***************************************************************************)

\* Does the record of a generation have its assignment?  A leader that assigns
\* nothing to all members counts as a leader that has not synchronised yet.
\* @type: ($saved) => Bool;
Synchronised(s) == ~GenerationRecorded \/ \E m \in MemberIds : s.members[m].assignment # {}

\* A member as the log gives it back: it has one protocol, the group's.
\* @type: ($saved, Str) => $classicMember;
LoadedMember(s, m) ==
  IF ~s.members[m].there THEN NoClassicMember
  ELSE [NoClassicMember EXCEPT !.place = "member", !.instance = s.members[m].instance, !.protocols = <<s.protocol>>,
                               !.subscription = s.members[m].subscription, !.assignment = s.members[m].assignment,
                               !.owesSync = ~Synchronised(s)]

\* C2: the group as the log gives it back.  Requests that waited are lost, with
\* their clients' connections.
\* @type: ($classicGroup) => $classicGroup;
ClassicAfterFailOver(g) ==
  IF g.saved = {} THEN NoClassicGroup
  ELSE LET s == CHOOSE x \in g.saved : TRUE
           someone == \E m \in MemberIds : s.members[m].there
       IN [NoClassicGroup EXCEPT
             !.state = IF ~someone THEN "Empty"
                       ELSE IF Synchronised(s) THEN "Stable" ELSE "CompletingRebalance",
             !.generation = s.generation, !.type = s.type, !.protocol = s.protocol, !.leader = s.leader,
             !.members = [m \in MemberIds |-> LoadedMember(s, m)], !.saved = g.saved]
=============================================================================
