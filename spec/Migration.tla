----------------------------- MODULE Migration ------------------------------
(***************************************************************************)
(* Online migration (M1-M3): a group whose members use the classic         *)
(* protocol or the consumer protocol.  As long as one member uses the      *)
(* latter the group is a consumer group, and its steps are those of        *)
(* Coordinator. This module translates JoinGroup, SyncGroup and Heartbeat  *)
(* of the other members, one member at a time, and converts the group when *)
(* the first member of the consumer protocol joins and when the last one   *)
(* leaves.                                                                 *)
(*                                                                         *)
(* While the group is a classic group its state is that of a consumer      *)
(* group whose epoch is the generation: a barrier that all members must    *)
(* reach, and a leader's assignment, which is one step here.               *)
(* ClassicCoordinator has the classic protocol in full.                    *)
(*                                                                         *)
(* Decisions where Coordinator leaves a question open: an eager member has *)
(* given up all partitions before it rejoins, so partitions that a         *)
(* JoinGroup does not claim are released without a revocation; a member    *)
(* that rejoins without a generation owns nothing; a JoinGroup of the      *)
(* previous generation asks again for a lost answer (H6), and one of       *)
(* another generation is refused.                                          *)
(*                                                                         *)
(* Left out: static members, embedded protocols that are too old, user     *)
(* data (M4), a fail-over of the classic group.                            *)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
  \* M1, R7: do a member's claims count as its group is converted, beside its
  \* assignment?  Without them a cooperative member may still own partitions
  \* that another gets.
  \* @type: Bool;
  ClaimsCount,
  \* M3: must a member rejoin once more when all that it waits for is free?
  \* @type: Bool;
  RejoinsWhenFree

(*
  The group: "classic" or "consumer"; of each member that uses the classic
  protocol where it is in its rebalance, "" for all others; and what it said
  that it owns as it joined last.  In a consumer group a member must "prepare"
  (rejoin), "complete" (send its SyncGroup) or is "stable" (M2).  In a classic
  one it must "prepare", has "joined" and waits for the others, perhaps for the
  first time ("fresh"), or is "stable".
  @typeAlias: mixed = {kind: Str, group: $group, phase: Str -> Str, said: Str -> Set($partition)};

  A JoinGroup, SyncGroup or heartbeat is answered with an error or an epoch,
  and perhaps (an option) what the member is assigned.
  @typeAlias: reply = {api: Str, error: Str, epoch: Int, assigned: Set(Set($partition))};
  @typeAlias: translated = {mixed: $mixed, reply: $reply};
*)
Migration_aliases == TRUE

\* The generation in a JoinGroup of a member that is in none.
NoGeneration == -1

\* @type: (Str, Str) => $reply;
Refusal(api, error) == [api |-> api, error |-> error, epoch |-> 0, assigned |-> {}]

\* @type: ($mixed) => Set(Str);
ClassicMembers(x) == {m \in Members(x.group) : x.phase[m] # ""}

\* @type: ($mixed) => Set(Str);
Waiting(x) == {m \in MemberIds : x.phase[m] \in {"joined", "fresh"}}

(***************************************************************************)
(* A consumer group: the members that must rejoin                          *)
(***************************************************************************)

\* M3: a member must rejoin if a target was installed that the member does not
\* know, if it holds partitions that its target does not have, or if all
\* partitions for which it waits are free.  A member that has rejoined first
\* collects the partitions that it was promised, unless there is a newer
\* target.
\* @type: ($mixed, Str) => Bool;
MustRejoin(x, m) ==
  LET g == x.group
      member == g.members[m]
      behind == member.epoch < g.assignmentEpoch
      waitsFor == TargetOf(g, m) \ member.assigned
  IN IF x.phase[m] = "complete" THEN behind /\ member.revoking = {}
     ELSE \/ behind \/ member.assigned \ TargetOf(g, m) # {}
          \/ RejoinsWhenFree /\ waitsFor # {} /\ waitsFor \cap HeldByOthers(g, m) = {}

\* M2: after every step.
\* @type: ($mixed) => $mixed;
FollowPhases(x) ==
  IF x.kind = "classic" THEN x
  ELSE [x EXCEPT !.phase = [m \in MemberIds |->
          IF m \notin Members(x.group) THEN ""
          ELSE IF x.phase[m] \in {"stable", "complete"} /\ MustRejoin(x, m) THEN "prepare" ELSE x.phase[m]]]

(***************************************************************************)
(* Conversion (M1)                                                         *)
(***************************************************************************)

\* M1, R7: partitions that a member of a classic group may own: its assignment,
\* unless it has rejoined since; and those that it claimed in its last join, as
\* far as they are assigned to no other member: the member may not have given
\* them up yet.
\* @type: ($mixed, Str) => Set($partition);
HeldAtConversion(x, m) ==
  LET Assigned(n) == IF n \in Waiting(x) THEN {} ELSE x.group.members[n].assigned
      others == UNION {Assigned(n) : n \in Members(x.group) \ {m}}
  IN IF x.phase[m] \in {"", "fresh"} THEN {}
     ELSE Assigned(m) \cup (IF ClaimsCount \/ m \in Waiting(x) THEN x.said[m] \ others ELSE {})

\* M1: the generation is the group epoch, and the partitions that members may
\* own are their target and are held.  A member that was in no generation yet
\* is left behind, and joins again.
\* @type: ($mixed) => $mixed;
ConvertUp(x) ==
  LET g == x.group
      kept == {m \in Members(g) : x.phase[m] # "fresh"}
      Owners(p) == {m \in kept : p \in HeldAtConversion(x, m)}
  IN [kind |-> "consumer",
      phase |-> [m \in MemberIds |-> IF m \in kept THEN "stable" ELSE ""],
      said |-> x.said,
      group |-> [g EXCEPT
        !.assignmentEpoch = g.epoch,
        !.target = [p \in Partitions |-> IF Owners(p) = {} THEN None ELSE CHOOSE m \in Owners(p) : TRUE],
        !.members = [m \in MemberIds |->
          IF m \notin kept THEN NoMember
          ELSE [g.members[m] EXCEPT !.epoch = g.epoch, !.assigned = HeldAtConversion(x, m)]]]]

\* M1: without a bump; everyone must rejoin.  Members hold what they would
\* say: the group may be converted again before they do.
\* @type: ($mixed) => $mixed;
ConvertBack(x) ==
  LET g == x.group IN
  [kind |-> "classic",
   phase |-> [m \in MemberIds |-> IF m \in Members(g) THEN "prepare" ELSE ""],
   said |-> [m \in MemberIds |-> Held(g, m)],
   group |-> [g EXCEPT
     !.assignmentEpoch = g.epoch,
     !.target = [p \in Partitions |-> None],
     !.members = [m \in MemberIds |->
       IF m \notin Members(g) THEN NoMember
       ELSE [g.members[m] EXCEPT !.previousEpoch = 0, !.assigned = {}, !.revoking = {}, !.acknowledged = FALSE]]]]

\* M1: does the removal of `gone` leave members, none of the consumer protocol?
\* @type: ($mixed, Str) => Bool;
LeavesOnlyClassic(x, gone) ==
  /\ x.kind = "consumer"
  /\ ClassicMembers(x) \ {gone} # {}
  /\ Members(x.group) \ {gone} = ClassicMembers(x) \ {gone}

\* The group without a member, before the next target is computed.
\* @type: ($mixed, Str) => $mixed;
WithoutMember(x, m) ==
  [x EXCEPT !.group.members[m] = NoMember, !.phase[m] = "", !.said[m] = {},
            !.group.target = [p \in Partitions |-> IF x.group.target[p] = m THEN None ELSE x.group.target[p]]]

(***************************************************************************)
(* A consumer group: requests of the classic protocol (M2)                 *)
(***************************************************************************)

\* JoinGroup, as step 1 of a heartbeat.
\* @type: ($mixed, Str -> Int, Str, $request) => $updated;
UpdateJoining(x, topics, m, request) ==
  LET g == x.group
      joins == [request EXCEPT !.epoch = 0]
  IN IF m \notin Members(g)
     THEN IF request.epoch # NoGeneration \/ Members(g) = {}
          THEN Updated(g, "UNKNOWN_MEMBER_ID", "unknown", FALSE) ELSE Join(g, topics, m, joins)
     ELSE IF x.phase[m] = "" THEN Updated(g, "UNKNOWN_MEMBER_ID", "unknown", FALSE)
     ELSE IF request.epoch = NoGeneration THEN Join([g EXCEPT !.members[m] = NoMember], topics, m, joins)
     ELSE IF request.epoch = g.members[m].epoch
     THEN Updated(UpdateSubscription(g, topics, m, request), "NONE", "current", Acknowledges(g, m, request))
     ELSE IF IsRetry(g, m, request)
     THEN Updated(UpdateSubscription(g, topics, m, request), "NONE", "retry", FALSE)
     ELSE Updated(g, "ILLEGAL_GENERATION", "fenced", FALSE)

\* R1: partitions beyond the target that the member names as owned must be
\* given up; all others beyond the target are released.
\* @type: ($group, Str, $request, $updated) => $group;
ReconcileJoining(g, m, request, updated) ==
  LET member == g.members[m]
      extra == member.assigned \ TargetOf(g, m)
  IN IF member.revoking # {} /\ ~updated.acknowledges THEN NarrowRevocation(g, m, FALSE)
     ELSE IF extra \cap ValueOr(request.owned, {}) # {} THEN Revoke(g, m, member.assigned \ extra, extra)
     ELSE Assign(g, m)

\* M2: steps 2 and 3, on what step 1 left: the member owes its SyncGroup.
\* @type: ($mixed, Str, $request, $updated, $group) => $translated;
Joined(x, m, request, updated, installed) ==
  IF updated.error # "NONE" THEN [mixed |-> x, reply |-> Refusal("JoinGroup", updated.error)]
  ELSE LET after == ReconcileJoining(installed, m, request, updated)
           next == [x EXCEPT !.group = after, !.phase[m] = "complete", !.said[m] = ValueOr(request.owned, {})]
       IN [mixed |-> FollowPhases(next),
           reply |-> [api |-> "JoinGroup", error |-> "NONE", epoch |-> after.members[m].epoch, assigned |-> {}]]

\* M2: may the member send what its generation asks for?
\* @type: ($mixed, Str, Int) => Str;
GenerationError(x, m, generation) ==
  LET current == IF x.kind = "classic" THEN x.group.epoch ELSE x.group.members[m].epoch IN
  IF m \notin ClassicMembers(x) \/ x.phase[m] = "fresh" THEN "UNKNOWN_MEMBER_ID"
  ELSE IF generation # current THEN "ILLEGAL_GENERATION" ELSE "NONE"

\* M2: partitions in the answer to a SyncGroup: the member's assignment, and
\* for a member that is behind its target only those that the target has, too.
\* @type: ($group, Str) => Set($partition);
MayUse(g, m) ==
  LET member == g.members[m] IN
  IF member.epoch < g.assignmentEpoch THEN member.assigned \cap TargetOf(g, m) ELSE member.assigned

\* M2: the member gets the partitions that it may use now, and has
\* synchronised.  The text has it Stable then; a member that must rejoin still
\* must: otherwise no answer would tell an eager member, which revokes only as
\* it rejoins.
\* @type: ($mixed, Str, Int) => $translated;
Synced(x, m, generation) ==
  LET error == GenerationError(x, m, generation)
      synced == [x EXCEPT !.phase[m] = IF @ = "prepare" THEN "prepare" ELSE "stable"]
  IN IF error # "NONE" THEN [mixed |-> x, reply |-> Refusal("SyncGroup", error)]
     ELSE IF x.kind = "classic" THEN [mixed |-> x, reply |-> Refusal("SyncGroup", "REBALANCE_IN_PROGRESS")]
     ELSE [mixed |-> FollowPhases(synced),
           reply |-> [api |-> "SyncGroup", error |-> "NONE", epoch |-> generation, assigned |-> {MayUse(x.group, m)}]]

\* M2: the answer to a Heartbeat.
\* @type: ($mixed, Str, Int) => Str;
HeartbeatError(x, m, generation) ==
  IF GenerationError(x, m, generation) = "NONE" /\ x.phase[m] = "prepare" THEN "REBALANCE_IN_PROGRESS"
  ELSE GenerationError(x, m, generation)

(***************************************************************************)
(* A classic group, in short                                               *)
(***************************************************************************)

\* All stable members must rejoin.
\* @type: ($mixed) => $mixed;
PrepareAll(x) ==
  [x EXCEPT !.phase = [m \in MemberIds |-> IF x.phase[m] = "stable" THEN "prepare" ELSE x.phase[m]]]

\* C1: a member is behind the barrier.
\* @type: ($mixed, Str, Set(Str), Set($partition)) => $mixed;
BehindBarrier(x, m, subscription, owned) ==
  LET there == m \in Members(x.group) /\ x.phase[m] # "fresh"
      member == [NoMember EXCEPT !.epoch = x.group.epoch]
      joined == [x EXCEPT !.group.members[m] = IF m \in Members(x.group) THEN @ ELSE member,
                          !.phase[m] = IF there THEN "joined" ELSE "fresh",
                          !.said[m] = owned]
  IN PrepareAll([joined EXCEPT !.group.members[m].subscription = subscription])

\* @type: ($mixed) => Bool;
BarrierOpens(x) == x.kind = "classic" /\ Members(x.group) # {} /\ Members(x.group) = Waiting(x)

\* C1, C3: the next generation with a leader's assignment: partitions that a
\* cooperative member has not given up are assigned to no other member.
\* @type: ($mixed, Str -> Int, $partition -> Str) => $mixed;
NextGeneration(x, topics, target) ==
  LET g == x.group
      Given(m) == {p \in Partitions : target[p] = m /\ \A n \in Members(g) \ {m} : p \notin x.said[n]}
  IN [x EXCEPT
        !.phase = [m \in MemberIds |-> IF m \in Members(g) THEN "stable" ELSE ""],
        !.group = [g EXCEPT
          !.epoch = g.epoch + 1, !.assignmentEpoch = g.epoch + 1, !.metadata = MetadataOf(g, topics),
          !.target = [p \in Partitions |-> IF target[p] # None /\ p \in Given(target[p]) THEN target[p] ELSE None],
          !.members = [m \in MemberIds |->
            IF m \notin Members(g) THEN NoMember
            ELSE [g.members[m] EXCEPT !.epoch = g.epoch + 1, !.assigned = Given(m)]]]]

\* C1, E5: a member is no more; without members there is another generation.
\* @type: ($mixed, Str) => $mixed;
RemoveFromClassic(x, m) ==
  LET without == PrepareAll(WithoutMember(x, m)) IN
  IF Members(without.group) # {} THEN without
  ELSE [without EXCEPT !.group.epoch = x.group.epoch + 1, !.group.assignmentEpoch = x.group.epoch + 1]
=============================================================================
