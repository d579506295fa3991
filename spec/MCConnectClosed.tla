-------------------------- MODULE MCConnectClosed ---------------------------
(***************************************************************************)
(* Bounds of the closed instance of Connect groups: 2 workers, one         *)
(* connector with at most one task; any `Budget` disturbances.             *)
(***************************************************************************)
EXTENDS ClosedConnect, ConnectProperties

TwoWorkers == {"w1", "w2"}
InOrder == [m \in TwoWorkers |-> IF m = "w1" THEN 1 ELSE 2]
\* @type: Str -> <<Int, Int>>;
SameVersions == [m \in TwoWorkers |-> <<0, 2>>]
OneConnector == {"A"}
ConnectorOnly == {<<"A", 0>>}
ConnectorAndTask == {<<"A", 0>>, <<"A", 1>>}
MCInitialTopics == {[t \in OneConnector |-> Cardinality(Partitions)]}
\* @type: Set(Str);
NoStrings == {}
\* @type: Set(Set(Str));
NoSubscriptions == {}

MCView == connectState

\* For liveness: both are there, and nothing is disturbed but that a worker dies,
\* perhaps to come back.
LossStep(m) ==
  \/ SendWorkerRequest(m) \/ Prepare(m) \/ InstallComputed(m) \/ DelayEnds(m) \/ CrashWorker(m)
  \/ (~clients[m].up /\ WorkerSessionTimeout(m))
  \/ AsMemberOfAGroup(ReceiveResponse(m) \/ FinishRevocation(m) \/ Start(m))
LossInit == ConnectInit /\ \A m \in MemberIds : clients[m].up
LossSpec ==
  LossInit /\ [][\E m \in MemberIds : LossStep(m)]_connectVars /\ \A m \in MemberIds : WorkerRecovers(m)

\* A worker whose delay may end while an answer is on the way.
HastySpec ==
  /\ LossInit /\ [][\E m \in MemberIds : LossStep(m) \/ DelayRunsOut(m)]_connectVars
  /\ \A m \in MemberIds : WorkerRecovers(m)

\* Where WorkerRecovers writes out what enables a step, the step is enabled, and
\* nowhere else.
LossOnlySpec == LossInit /\ [][\E m \in MemberIds : LossStep(m)]_connectVars
EnabledAsWritten ==
  \A m \in MemberIds :
    /\ MaySend(m) = ENABLED SendWorkerRequest(m)
    /\ (responses[m] # {}) = ENABLED AsMemberOfAGroup(ReceiveResponse(m))
    /\ MustRevoke(m) = ENABLED AsMemberOfAGroup(FinishRevocation(m))
    /\ MayPrepare(m) = ENABLED Prepare(m)
    /\ MayInstall(m) = ENABLED InstallComputed(m)
    /\ MayExpire(m) = ENABLED (~clients[m].up /\ WorkerSessionTimeout(m))
    /\ MayEndDelay(m) = ENABLED DelayEnds(m)

\* Invariants.
TypeOK == GroupTypeOK(group) /\ WorkOK(group, work) /\ budget \in 0..Budget
NoDoubleHolding == HeldDisjoint(group)
EpochsInOrder == EpochsOrdered(group) /\ PreviousEpochOrdered(group)
LostOK == LostIsNobodys(group, work) /\ TargetIsOfWorkers(group, work)
AllTopicsNoticed == TopicsNoticed(group, topics)
VersionsOK == VersionsFit(group, work)

\* The invariants of Apalache's bounded checks.
BoundedSafe ==
  TypeOK /\ NoDoubleHolding /\ EpochsInOrder /\ LostOK /\ AllTopicsNoticed /\ NoDoubleOwnership /\ OwnedIsHeld

\* Step properties.
EpochsNeverDecrease == [][EpochsMonotone(group, group', step')]_connectVars
LostIsKept == [][LostWorkIsKept(group, group', work, work')]_connectVars
Installs == [][InstalledExactly(group, group', work, work', step', call')]_connectVars
LostWorkWaits == [][HeldBack(group, group', step', work, waits)]_connectVars
LostWorkMovesOnce == [][LostOnce(group, group', step', work, assignors)]_connectVars
=============================================================================
