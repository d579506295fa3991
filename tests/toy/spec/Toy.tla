--------------------------------- MODULE Toy --------------------------------
(***************************************************************************)
(* Groups of a toy protocol, for the tests of the registries of kinds: a   *)
(* member joins at epoch 0, sends heartbeats with its epoch, and leaves    *)
(* with -1.  Nothing is assigned.  Every change of the members bumps the   *)
(* epoch of the group, and who joins is given it.                          *)
(*                                                                         *)
(* Left out: everything else.                                              *)
(***************************************************************************)
EXTENDS Integers

(*
  @typeAlias: toy = {epoch: Int, members: Str -> Int};
  @typeAlias: toyStep = {action: Str, branch: Str, member: Str, topic: Str, epoch: Int, error: Str, answer: Int};
*)
Toy_aliases == TRUE

CONSTANTS
  \* @type: Set(Str);
  MemberIds,
  \* Epochs that a heartbeat may say.
  \* @type: Set(Int);
  RequestEpochs

VARIABLES
  \* The epoch of the group, and that of each member, 0 of who is none.
  \* @type: $toy;
  toy,
  \* @type: $toyStep;
  step

vars == <<toy, step>>

NoToy == [epoch |-> 0, members |-> [m \in MemberIds |-> 0]]

\* @type: (Str, Str, Int, Str, Int) => $toyStep;
Step(action, member, epoch, error, answer) ==
  [action |-> action, branch |-> "", member |-> member, topic |-> "", epoch |-> epoch, error |-> error,
   answer |-> answer]

NoStep == Step("Init", "", 0, "", 0)

\* The group with another epoch of a member: a change of the members.
\* @type: ($toy, Str, Int) => $toy;
With(g, m, epoch) == [epoch |-> g.epoch + 1, members |-> [g.members EXCEPT ![m] = epoch]]

Join(m) ==
  /\ toy' = With(toy, m, toy.epoch + 1)
  /\ step' = Step("ToyJoin", m, 0, "NONE", toy.epoch + 1)

Beat(m, epoch) ==
  LET error == IF toy.members[m] = 0 THEN "UNKNOWN_MEMBER_ID"
               ELSE IF toy.members[m] # epoch THEN "FENCED_MEMBER_EPOCH" ELSE "NONE" IN
  /\ toy' = toy
  /\ step' = Step("ToyBeat", m, epoch, error, IF error = "NONE" THEN epoch ELSE 0)

Leave(m) ==
  LET known == toy.members[m] # 0 IN
  /\ toy' = IF known THEN With(toy, m, 0) ELSE toy
  /\ step' = Step("ToyLeave", m, -1, IF known THEN "NONE" ELSE "UNKNOWN_MEMBER_ID", IF known THEN -1 ELSE 0)

\* A request, by its epoch.
Request(m, epoch) ==
  IF epoch = 0 THEN Join(m) ELSE IF epoch = -1 THEN Leave(m) ELSE Beat(m, epoch)

ToyTimeout ==
  \E m \in MemberIds :
    /\ toy.members[m] # 0
    /\ toy' = With(toy, m, 0)
    /\ step' = Step("ToyTimeout", m, 0, "", 0)

ToyFailOver == toy' = toy /\ step' = Step("ToyFailOver", "", 0, "", 0)

Init == toy = NoToy /\ step = NoStep
Next ==
  \/ \E m \in MemberIds, epoch \in RequestEpochs : Request(m, epoch)
  \/ ToyTimeout
  \/ ToyFailOver
Spec == Init /\ [][Next]_vars

EpochsInOrder == \A m \in MemberIds : toy.members[m] <= toy.epoch
Alone == \A m, n \in MemberIds : m # n /\ toy.members[m] # 0 => toy.members[m] # toy.members[n]
=============================================================================
