------------------------ MODULE MCClassicStaticClosed ------------------------
(***************************************************************************)
(* Bounds of the closed instance of classic groups with static members: a  *)
(* consumer with the instance id i1, which may be m1 and then m3, and the  *)
(* dynamic m2; one partition, any `Budget` disturbances.                   *)
(***************************************************************************)
EXTENDS ClosedClassicStatic, ClassicProperties

ThreeIds == {"m1", "m2", "m3"}
IdsInOrder == [m \in ThreeIds |-> IF m = "m1" THEN 1 ELSE IF m = "m2" THEN 2 ELSE 3]
OneRestarts == [m \in ThreeIds |-> IF m = "m2" THEN None ELSE "i1"]
FirstTwo == {"m1", "m2"}
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
FooWithOne == [t \in OneTopic |-> 1]
\* @type: Str -> Seq(Str);
AllRange == [m \in ThreeIds |-> <<"range">>]
OnlyFoo == {{"foo"}}

\* Invariants.
TypeOK == ClassicTypeOK(group) /\ budget \in 0..Budget
LeaderOK == LeaderIsMember(group)
WaitsOK == WaitsAreOfTheState(group) /\ NeverWaitsForNothing(group)
ProtocolOK == ProtocolOfAll(group) /\ SomeProtocolOfAll(group)
InstancesOK == ClassicInstancesUnique(group)

\* Step properties.
GenerationsNeverDecrease == [][GenerationMonotone(group, group', step')]_vars
BarrierHolds == [][BarrierHeld(group, group', step')]_vars
AnswersAgree == [][JoinAnswersAgree(group', step') /\ SyncAnswersAgree(group', step')]_vars
AllAnswered == [][EveryRequestIsAnswered(group, group', step')]_vars
JoinsAreKept == [][JoinIsKept(group', step')]_vars
ErrorsAreExact == [][ClassicErrorsExactly(group, group', step')]_vars
WhatIsToldIsSaved == [][ToldIsSaved(group', step')]_vars
FailOverLosesNothing == [][FailOverRecovers(group, group', step')]_vars
JoinsAbort == [][SynchronizationIsAborted(group, group', step')]_vars
ReturnsAreQuiet == [][ReturnKeepsItsPlace(group, group', step')]_vars
=============================================================================
