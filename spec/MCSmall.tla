------------------------------- MODULE MCSmall ------------------------------
(***************************************************************************)
(* Bounds of the closed instance: 2 members, one topic of up to 2          *)
(* partitions (it may grow, and be deleted); any `Budget` disturbances.    *)
(***************************************************************************)
EXTENDS ClosedGroup, GroupProperties

MCMemberIds == {"m1", "m2"}
MCTopics == {"foo"}
MCTopicName == [t \in MCTopics |-> t]
MCDynamic == [m \in MCMemberIds |-> ""]
MCPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCInitialTopics == {[t \in MCTopics |-> n] : n \in 1..2}
MCSubscriptions == {{}, {"foo"}}

\* Invariants: of the group, then of the members' view.
TypeOK ==
  /\ GroupTypeOK(group)
  /\ zombies \subseteq MemberIds
  /\ budget \in 0..Budget
  /\ \A m \in MemberIds :
       /\ clients[m].owned \subseteq Partitions /\ clients[m].told \subseteq Partitions
       /\ clients[m].epoch >= 0
NoDoubleHolding == HeldDisjoint(group)
EpochsInOrder == EpochsOrdered(group) /\ PreviousEpochOrdered(group)
TargetIsLegal == TargetLegal(group)
EmptySettled == EmptyIsSettled(group)
StaticInOrder == InstancesUnique(group) /\ AwayIsStatic(group)
AllTopicsNoticed == TopicsNoticed(group, topics)

\* The invariants of Apalache's bounded checks.
BoundedSafe ==
  TypeOK /\ NoDoubleHolding /\ EpochsInOrder /\ TargetIsLegal /\ EmptySettled /\ AllTopicsNoticed
  /\ NoDoubleOwnership /\ OwnedIsHeld

\* Step properties.
EpochsNeverDecrease == [][EpochsMonotone(group, group', step')]_vars
BumpedExactly == [][EpochBumpedExactly(group, group', step')]_vars
TargetLegalAtInstallation == [][LegalAtInstallation(group, group')]_vars
NeverBoth == [][NeverRevokeAndAssign(group, group', step')]_vars
Undisturbed == [][UndisturbedIfUnchanged(group, group', step')]_vars
NoBarrier == [][OthersUntouched(group, group', step')]_vars
ReleaseNeedsAcknowledgement == [][ReleasedOnlyByAcknowledgement(group, group', step')]_vars
AdvanceNeedsRevocation == [][AdvancesWithoutRevocation(group, group', step')]_vars
ErrorsAreExact == [][ErrorsExactly(group, group', step')]_vars
PlacesKept == [][PlaceIsKept(group, group', step')]_vars
FailOverLosesNothing == [][FailOverKeeps(group, group', step')]_vars
ResponsesMatch == [][ResponseMatches(group', step')]_vars
=============================================================================
