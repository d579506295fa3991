--------------------------- MODULE MCClassicClosed --------------------------
(***************************************************************************)
(* Bounds of the closed instance of classic groups: 2 members, one topic of*)
(* up to 2 partitions; any `Budget` disturbances.                          *)
(***************************************************************************)
EXTENDS ClosedClassic, ClassicProperties

TwoMembers == {"m1", "m2"}
InOrder == [m \in TwoMembers |-> IF m = "m1" THEN 1 ELSE 2]
OneTopic == {"foo"}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
OnePartition == {<<"foo", 0>>}
FooWithOne == [t \in OneTopic |-> 1]
\* @type: Str -> Seq(Str);
BothRange == [m \in TwoMembers |-> <<"range">>]
OnlyFoo == {{"foo"}}
FooOrNothing == {{"foo"}, {}}

\* Invariants.
TypeOK == ClassicTypeOK(group) /\ budget \in 0..Budget
LeaderOK == LeaderIsMember(group)
WaitsOK == WaitsAreOfTheState(group) /\ NeverWaitsForNothing(group)
ProtocolOK == ProtocolOfAll(group) /\ SomeProtocolOfAll(group)

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
=============================================================================
