----------------------------- MODULE ShortClassic ----------------------------
(***************************************************************************)
(* A classic group in the short form that Migration has, with the steps of *)
(* ClosedMigration: members come behind the barrier, leave, and are in the *)
(* next generation.  The comparison is of what a conversion reads (Seen):  *)
(* the members of a generation, its number, and the assignment and claims  *)
(* of each.                                                                *)
(*                                                                         *)
(* In the short form a generation and its assignment are one step, as soon *)
(* as all members wait.  ClassicCoordinator takes two steps, of which the  *)
(* second may never come, and may wait before the first.  InTwoSteps is    *)
(* the short form in as many; with FALSE it is as ClosedMigration has it,  *)
(* and the classic protocol in full does not refine it.                    *)
(*                                                                         *)
(* States are compared: a barrier that opens without a member looks the    *)
(* same as a member that joins again with the same fields.                 *)
(*                                                                         *)
(* Left out, as in Migration: a fail-over of a classic group.              *)
(***************************************************************************)
EXTENDS Migration

(*
  What a conversion reads of a classic group.
  @typeAlias: seen = {
    generation: Int, phase: Str -> Str, said: Str -> Set($partition), assigned: Str -> Set($partition)
  };
*)
ShortClassic_aliases == TRUE

CONSTANT
  \* See above.
  \* @type: Bool;
  InTwoSteps

VARIABLE
  \* @type: $mixed;
  mixed

\* The part of a group that ConvertUp depends on.
\* @type: ($mixed) => $seen;
Seen(x) ==
  LET kept == {m \in Members(x.group) : x.phase[m] # "fresh"} IN
  [generation |-> x.group.epoch,
   phase |-> [m \in MemberIds |-> IF x.phase[m] = "prepare" THEN "stable" ELSE x.phase[m]],
   said |-> [m \in MemberIds |-> IF m \in kept THEN x.said[m] ELSE {}],
   assigned |-> [m \in MemberIds |-> IF m \in kept THEN x.group.members[m].assigned ELSE {}]]

Init == mixed.group.epoch = 0 /\ Members(mixed.group) = {}

\* C1, E5: several are no more; without members there is another generation, at
\* once or later.
\* @type: ($mixed, Set(Str)) => Set($mixed);
LeftBy(x, gone) ==
  LET left == [x EXCEPT !.phase = [m \in MemberIds |-> IF m \in gone THEN "" ELSE x.phase[m]],
                        !.said = [m \in MemberIds |-> IF m \in gone THEN {} ELSE x.said[m]],
                        !.group.members = [m \in MemberIds |-> IF m \in gone THEN NoMember ELSE x.group.members[m]]]
  IN IF Members(left.group) # {} THEN {left} ELSE {left, [left EXCEPT !.group.epoch = @ + 1]}

\* C1: one more member is behind the barrier, or none.
\* @type: ($mixed) => Set($mixed);
JoinedBy(x) ==
  {x} \cup {BehindBarrier(x, m, {}, owned) : m \in MemberIds, owned \in SUBSET Partitions}

NoTopics == [t \in Topics |-> 0]
Unassigned == [p \in Partitions |-> None]

\* C1: members go and come; where all wait that are left, there may be the next
\* generation.
\* @type: ($mixed, $seen) => Bool;
Gather(x, after) ==
  \E gone \in SUBSET Members(x.group) :
    \E left \in LeftBy(x, gone) :
      \E joined \in JoinedBy(left) :
        \/ after = Seen(joined) /\ (InTwoSteps \/ ~BarrierOpens(joined))
        \/ /\ BarrierOpens(joined)
           /\ \E target \in IF InTwoSteps THEN {Unassigned} ELSE Targets :
                after = Seen(NextGeneration(joined, NoTopics, target))

\* C1, C3: the leader's assignment, of the generation that there is.
\* @type: ($mixed, $seen) => Bool;
HandOut(x, after) ==
  /\ InTwoSteps
  /\ Waiting(x) = {}
  /\ \E target \in Targets :
       after = Seen([NextGeneration(x, NoTopics, target) EXCEPT !.group.epoch = x.group.epoch])

\* The singletons make TLC evaluate each once.
Next == \E x \in {mixed}, after \in {Seen(mixed')} : Gather(x, after) \/ HandOut(x, after)

Spec == Init /\ [][Next]_(Seen(mixed))
=============================================================================
