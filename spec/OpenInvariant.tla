---------------------------- MODULE OpenInvariant ---------------------------
(***************************************************************************)
(* The proof of the coordinator alone: Inv holds in every reachable state  *)
(* of the open instance, for requests with any epoch.  Three checks make   *)
(* it: Init satisfies Inv; a step from InvInit satisfies Inv again; Inv    *)
(* implies Safe.  The controls are false and must be violated, each by a   *)
(* step from InvInit: they show that the step is not vacuous.              *)
(***************************************************************************)
EXTENDS OpenGroup, GroupInvariant

Inv == GroupInv(group)

InvInit ==
  /\ LET Is(g) == group = g IN AnyGroup(AssignorNames, InstanceIds, Is)
  /\ topics \in [Topics -> Int]
  /\ step = NoStep
  /\ Inv

Safe == GroupSafe(group)
StepSafe == GroupStepSafe(group, group', step')

\* Controls.
NobodyAcknowledges == step.branch # "acknowledge"
NobodyRetries == step.branch # "retry"
NobodyReturns == step.branch # "return"
NobodyFailsOver == step.action # "FailOver"
=============================================================================
