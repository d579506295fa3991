--------------------------- MODULE GroupInvariant ---------------------------
(***************************************************************************)
(* The inductive invariant of the coordinator's state, and any state that  *)
(* may satisfy the invariant, for the proofs of the open and the closed    *)
(* instance. A proof starts from every state that satisfies the invariant, *)
(* not from the reachable states, so that one step covers runs of any      *)
(* length; epochs are any integers.                                        *)
(***************************************************************************)
EXTENDS GroupProperties

\* Implies R7 (coordinator's view), E4 (order) and A4 (while the metadata is
\* that from which the target was computed).
\* @type: ($group) => Bool;
GroupInv(g) ==
  /\ GroupTypeOK(g)
  /\ HeldDisjoint(g)
  /\ EpochsOrdered(g)
  /\ PreviousEpochOrdered(g)
  /\ TargetLegal(g)
  /\ EmptyIsSettled(g)
  /\ InstancesUnique(g)
  /\ AwayIsStatic(g)
  /\ g.assignmentEpoch = g.epoch
  /\ ~Exists(g) => g = NoGroup

\* The properties that GroupInv implies.
\* @type: ($group) => Bool;
GroupSafe(g) ==
  /\ HeldDisjoint(g) /\ EpochsOrdered(g) /\ LegalTarget(g, g.target)
  /\ InstancesUnique(g) /\ AwayIsStatic(g)

\* Any group at all, field by field: a set of records would be too large.  No
\* member has a regular expression: it stands for the names that it matches.
\* @type: (Set(Str), Set(Str), ($group) => Bool) => Bool;
AnyGroup(assignorNames, instanceIds, Is(_)) ==
  \E epoch \in Nat, assignmentEpoch \in Nat, target \in Targets, metadata \in [Topics -> Nat],
     epochs \in [MemberIds -> Int], previousEpochs \in [MemberIds -> Int],
     instances \in [MemberIds -> {None} \cup instanceIds],
     subscriptions \in [MemberIds -> SUBSET Topics],
     assignors \in [MemberIds -> {""} \cup assignorNames],
     assigned \in [MemberIds -> SUBSET Partitions], revoking \in [MemberIds -> SUBSET Partitions],
     acknowledged \in [MemberIds -> BOOLEAN] :
    Is([epoch |-> epoch, assignmentEpoch |-> assignmentEpoch, target |-> target,
        metadata |-> metadata,
        members |-> [m \in MemberIds |->
          [epoch |-> epochs[m], previousEpoch |-> previousEpochs[m],
           instance |-> instances[m], subscription |-> subscriptions[m],
           regex |-> None, assignor |-> assignors[m],
           assigned |-> assigned[m], revoking |-> revoking[m],
           acknowledged |-> acknowledged[m]]]])

\* E4, A4, R2, R5: properties of each step from any such state.
\* @type: ($group, $group, $step) => Bool;
GroupStepSafe(g, h, s) ==
  /\ EpochsMonotone(g, h, s)
  /\ LegalAtInstallation(g, h)
  /\ NeverRevokeAndAssign(g, h, s)
  /\ ReleasedOnlyByAcknowledgement(g, h, s)
  /\ PlaceIsKept(g, h, s)
  /\ FailOverKeeps(g, h, s)
=============================================================================
