------------------------------- MODULE MCOpen -------------------------------
(***************************************************************************)
(* Bounds of the open instance: 2 members, one topic of up to 2 partitions.*)
(* Group epochs above MaxEpoch are cut off, which is sound here: no        *)
(* property is a promise of progress.                                      *)
(***************************************************************************)
EXTENDS OpenGroup, GroupProperties

CONSTANT
  \* @type: Int;
  MaxEpoch

MCMemberIds == {"m1", "m2"}
MCTopics == {"foo"}
MCPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCRequestEpochs == 1..(MaxEpoch + 1)
MCSubscriptions == {{}, {"foo"}}
\* @type: Set(Str);
MCAssignorNames == {}
MCInitialTopics == {[t \in MCTopics |-> n] : n \in 0..2}

BoundedNext == Next /\ group'.epoch <= MaxEpoch
BoundedSpec == Init /\ [][BoundedNext]_vars

\* Invariants.
TypeOK == GroupTypeOK(group)
NoDoubleHolding == HeldDisjoint(group)
EpochsInOrder == EpochsOrdered(group) /\ PreviousEpochOrdered(group)
TargetIsLegal == TargetLegal(group)
EmptySettled == EmptyIsSettled(group)
StaticInOrder == InstancesUnique(group) /\ AwayIsStatic(group) /\ SizeBounded(group)
AllTopicsNoticed == TopicsNoticed(group, topics)

\* Step properties.
EpochsNeverDecrease == [][EpochsMonotone(group, group', step')]_vars
BumpedExactly == [][EpochBumpedExactly(group, group', step')]_vars
TargetLegalAtInstallation == [][LegalAtInstallation(group, group')]_vars
NeverBoth == [][NeverRevokeAndAssign(group, group', step')]_vars
Undisturbed == [][UndisturbedIfUnchanged(group, group', step') /\ OthersUntouched(group, group', step')]_vars
ReleaseNeedsAcknowledgement == [][ReleasedOnlyByAcknowledgement(group, group', step')]_vars
RevokingGainsNothing == [][RevokingIsGivenNothing(group, group', step')]_vars
RejoinsAcknowledge == [][RejoinReleases(group, group', step')]_vars
RevocationsGrow == [][RevocationGrowsBySubscription(group, group', step')]_vars
OwnersAreAsked == [][AskedForWhatItOwns(group, group', step')]_vars
ChangesAreTold == [][AssignmentIsToldOnChange(group, group', step')]_vars
FencedStays == [][FencedChangesNothing(group, group', step')]_vars
RequestsNotice == [][NoticedByRequests(group', step', topics')]_vars
InstancesChecked == [][InstancesCheckedExactly(group, step')]_vars
AdvanceNeedsRevocation == [][AdvancesWithoutRevocation(group, group', step')]_vars
ErrorsAreExact == [][ErrorsExactly(group, group', step')]_vars
PlacesKept == [][PlaceIsKept(group, group', step')]_vars
FailOverLosesNothing == [][FailOverKeeps(group, group', step')]_vars
ResponsesMatch == [][ResponseMatches(group', step')]_vars
LeavesAreExact == [][LeavesExactly(group, group', step')]_vars
DueTargetsComputed == [][DueIsComputed(group', step')]_vars
RetriesHaveAll == [][AcceptedByAssignment(group, step')]_vars
JoinsAreAnswered == [][JoinIsAnswered(step')]_vars
AbsenceIsAnswered == [][AbsentIsAnswered(group, step')]_vars
=============================================================================
