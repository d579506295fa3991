------------------------------ MODULE MCClassic -----------------------------
(***************************************************************************)
(* Bounds of the open instance of classic groups: 2 members, 1 partition.  *)
(* Generations above MaxGeneration are cut off, which is sound here: no    *)
(* property is a promise of progress.                                      *)
(***************************************************************************)
EXTENDS OpenClassic, ClassicProperties

CONSTANT
  \* @type: Int;
  MaxGeneration

TwoMembers == {"m1", "m2"}
InOrder == [m \in TwoMembers |-> IF m = "m1" THEN 1 ELSE 2]
OnePartition == {<<"foo", 0>>}
OneType == {"consumer"}
TwoTypes == {"consumer", "connect"}
OneSubscription == {{"foo"}}
\* @type: Set(Seq(Str));
OneList == {<<"range">>}
\* @type: Set(Seq(Str));
TwoLists == {<<"range">>, <<"sticky", "range">>}
\* @type: Set(Seq(Str));
ThreeLists == {<<"range">>, <<"range", "sticky">>, <<"sticky", "range">>}
\* @type: Set(Str);
NoStrings == {}
\* @type: Set(Int);
NoInts == {}
OneOffset == {0}
OneInstance == {"i1"}
SyncNames == {"range", "other"}
MCGenerations == 0..MaxGeneration
\* The leader assigns all partitions to one member, and nothing or no bytes to
\* the other; or names no member.
MCAssignments ==
  {[m \in TwoMembers |-> IF m = "m1" THEN {OnePartition} ELSE {{}}],
   [m \in TwoMembers |-> IF m = "m2" THEN {OnePartition} ELSE {}],
   [m \in TwoMembers |-> {}]}
OneAssignment == {[m \in TwoMembers |-> IF m = "m1" THEN {OnePartition} ELSE {{}}]}

BoundedNext == Next /\ group'.generation <= MaxGeneration
BoundedSpec == Init /\ [][BoundedNext]_vars

\* Invariants.
TypeOK == ClassicTypeOK(group)
LeaderOK == LeaderIsMember(group)
WaitsOK == WaitsAreOfTheState(group) /\ NeverWaitsForNothing(group)
ProtocolOK == ProtocolOfAll(group) /\ SomeProtocolOfAll(group)
InstancesOK == ClassicInstancesUnique(group)
DelayOK == DelayIsInitial(group)
OpensAtOnce == BarrierOpensAtOnce(group)
SavedOK == StableIsSaved(group)

\* Step properties.
GenerationsNeverDecrease == [][GenerationMonotone(group, group', step')]_vars
BarrierHolds == [][BarrierHeld(group, group', step')]_vars
AnswersAgree == [][JoinAnswersAgree(group', step') /\ SyncAnswersAgree(group', step')]_vars
AllAnswered == [][EveryRequestIsAnswered(group, group', step')]_vars
JoinsAreKept == [][JoinIsKept(group', step')]_vars
ErrorsAreExact == [][ClassicErrorsExactly(group, group', step')]_vars
CommitsFenced == [][CommitsAreFenced(group, step')]_vars
\* O1: an accepted commit is stored, and nothing else but the group's end
\* changes an offset.
CommitsAreStored ==
  [][\A p \in Partitions :
       offsets'[p] = IF step'.action = "OffsetCommit" /\ step'.response.error = "NONE" /\ p \in step'.partition
                     THEN step'.offset
                     ELSE IF step'.action = "DeleteGroup" THEN -1 ELSE offsets[p]]_vars
CommitsOfNobody == [][NobodyCommits(group, step')]_vars
AnsweredOnce == [][OneAnswerForEachRequest(group, group', step')]_vars
SkipsExactly == [][SkipsAssignmentExactly(group', step')]_vars
SyncsNameTheProtocol == [][SyncOfTheProtocol(group, step')]_vars
WhatIsToldIsSaved == [][ToldIsSaved(group', step')]_vars
FailOverLosesNothing == [][FailOverRecovers(group, group', step')]_vars
JoinsAbort == [][SynchronizationIsAborted(group, group', step')]_vars
ReturnsChangeNoOther == [][ReturnChangesNoOther(group, group', step')]_vars
LeadersAssign == [][LeaderAssigns(group, group', step')]_vars
ProtocolIsPreferred == [][MostPreferred(group, group', step')]_vars
InconsistentOnly == [][InconsistentExactly(group, step')]_vars
SyncsAreNotOwed == [][SyncIsNotOwed(group', step')]_vars
RejoinsChangeNothing == [][RejoinChangesNothing(group, group', step')]_vars
GoneExactly == [][RemovedExactly(group, group', step')]_vars
FieldsAreKept == [][FailOverKeepsFields(group, group', step')]_vars
MembersKnown == [][MembersAreKnown(group, step')]_vars
=============================================================================
