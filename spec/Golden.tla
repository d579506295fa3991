------------------------------- MODULE Golden -------------------------------
(***************************************************************************)
(* A case study of KIP-848 as a behaviour of the open instance: a script   *)
(* of requests with the target that the document prints, and the group that*)
(* it prints after each.  AsPrinted must hold; the trace of a whole script *)
(* is a golden scenario.  Printed states are corrected by the errata; a    *)
(* configuration with the uncorrected ones must fail.                      *)
(*                                                                         *)
(* Two errata shape every table: a member that joins is reconciled in the  *)
(* same request, so no member is shown at epoch 0; and a partition that was*)
(* released shows at once with the member that waits for it.               *)
(***************************************************************************)
EXTENDS OpenGroup, Sequences

(*
  @typeAlias: shown = {epoch: Int, partitions: Set($partition)};
  @typeAlias: printed = {epoch: Int, assignmentEpoch: Int,
    target: Str -> Set($partition), members: Str -> $shown};
*)
Golden_aliases == TRUE

CONSTANTS
  \* @type: $group;
  FirstGroup,
  \* @type: Seq($request);
  Script,
  \* @type: Seq($printed);
  Printed

\* What a case study is written with.
ABC == {"A", "B", "C"}
OneTopic == {"foo"}
NoEpochs == {0}
NoNames == {}
NoSubscriptions == {{"foo"}}

\* @type: (Int) => $partition;
F(i) == <<"foo", i>>

\* @type: (Str) => $request;
Joins(m) == [member |-> m, epoch |-> 0, owned |-> {{}}, subscription |-> {{"foo"}}, assignor |-> {}]
\* @type: (Str, Int) => $request;
Heartbeats(m, epoch) == [member |-> m, epoch |-> epoch, owned |-> {}, subscription |-> {}, assignor |-> {}]
\* @type: (Str, Int, Set($partition)) => $request;
Reports(m, epoch, owned) == [member |-> m, epoch |-> epoch, owned |-> {owned}, subscription |-> {}, assignor |-> {}]

\* @type: (Set($partition), Set($partition), Set($partition)) => Str -> Set($partition);
Target(a, b, c) == [m \in MemberIds |-> IF m = "A" THEN a ELSE IF m = "B" THEN b ELSE c]
\* @type: (Int, Set($partition)) => $shown;
Has(epoch, partitions) == [epoch |-> epoch, partitions |-> partitions]
Absent == Has(-1, {})
\* @type: (Int, Str -> Set($partition), $shown, $shown, $shown) => $printed;
Group(epoch, target, a, b, c) ==
  [epoch |-> epoch, assignmentEpoch |-> epoch, target |-> target,
   members |-> [m \in MemberIds |-> IF m = "A" THEN a ELSE IF m = "B" THEN b ELSE c]]

VARIABLE
  \* How much of the script is done.
  \* @type: Int;
  at

\* @type: ($group, $printed) => Bool;
HasTarget(g, printed) == \A m \in MemberIds : TargetOf(g, m) = printed.target[m]

\* What the document prints as a member's partitions: all that it holds while
\* it is behind, and of its target what nobody else holds when it is not.
\* @type: ($group, Str) => Set($partition);
Shown(g, m) ==
  IF g.members[m].epoch = g.assignmentEpoch /\ g.members[m].revoking = {}
  THEN TargetOf(g, m) \ HeldByOthers(g, m) ELSE Held(g, m)

GoldenInit ==
  /\ group = FirstGroup
  /\ topics \in InitialTopics
  /\ step = NoStep
  /\ at = 0

GoldenNext ==
  /\ at < Len(Script)
  /\ at' = at + 1
  /\ Request(Script[at + 1].member, Script[at + 1])
  /\ HasTarget(group', Printed[at + 1])

GoldenSpec == GoldenInit /\ [][GoldenNext]_<<group, topics, step, at>>

AsPrinted ==
  at > 0 =>
    LET printed == Printed[at] IN
    /\ group.epoch = printed.epoch
    /\ group.assignmentEpoch = printed.assignmentEpoch
    /\ HasTarget(group, printed)
    /\ \A m \in MemberIds :
         /\ group.members[m].epoch = printed.members[m].epoch
         /\ Shown(group, m) = printed.members[m].partitions

\* The goal whose trace is the golden scenario.
ScriptDone == at = Len(Script)
ScriptNotDone == ~ScriptDone
=============================================================================
