-------------------------- MODULE LaggingInvariant --------------------------
(***************************************************************************)
(* The proof of the coordinator alone where a target may be due: the group *)
(* epoch is above the assignment epoch until a heartbeat computes the      *)
(* target, as in Kafka's dialects (E2, TargetOnRemoval, MetadataChange,    *)
(* TargetMayLag).  OpenInvariant has the two epochs equal, which the text  *)
(* implies where the coordinator computes each target at once.             *)
(*                                                                         *)
(* The induction is closed: the invariant has the shapes of the generated  *)
(* states (OpenShapes).  Left out: regular expressions, and targets that   *)
(* members compute.                                                        *)
(***************************************************************************)
EXTENDS OpenShapes

\* GroupInv without the equality of the two epochs.  Implies R7 (coordinator's
\* view), E4 (order), and A4 where no target is due.
LagInv ==
  /\ GroupTypeOK(group)
  /\ HeldDisjoint(group)
  /\ EpochsOrdered(group)
  /\ PreviousEpochOrdered(group)
  /\ TargetLegal(group)
  /\ EmptyIsSettled(group)
  /\ InstancesUnique(group)
  /\ AwayIsStatic(group)
  /\ ~Exists(group) => group = NoGroup
  /\ Shapes

LagInit ==
  /\ LET Is(g) == group = g IN AnyGroup(AssignorNames, InstanceIds, Is)
  /\ topics \in [Topics -> Int]
  /\ step = NoStep
  /\ LagInv

LagSafe ==
  /\ HeldDisjoint(group) /\ EpochsOrdered(group) /\ TargetLegal(group)
  /\ InstancesUnique(group) /\ AwayIsStatic(group)

\* With AcknowledgedEpoch "next" (Kafka 4.0 and 4.1) a member that acknowledges,
\* and must give up more at once, moves to the next epoch.  The epochs stay in
\* order (E4) because such a member is behind its target.
NextEpochIsThere ==
  \A m \in MemberIds :
    LET member == group.members[m] IN
    member.revoking # {} /\ ~(member.assigned \subseteq TargetOf(group, m)) =>
      member.epoch < group.assignmentEpoch

LagNextInv == LagInv /\ NextEpochIsThere

LagNextInit == LagInit /\ NextEpochIsThere

\* A control, false after some step, and in some state of LagInv: no target is
\* due.
NoTargetIsDue == group.assignmentEpoch = group.epoch

\* A control, false of some state of LagInv: at most one member revokes.
OneRevokes ==
  \A m, n \in MemberIds :
    group.members[m].revoking # {} /\ group.members[n].revoking # {} => m = n
=============================================================================
