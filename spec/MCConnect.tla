------------------------------ MODULE MCConnect -----------------------------
(***************************************************************************)
(* Bounds of the open instance of Connect groups: 2 workers, one connector *)
(* with at most one task; or 3 workers whose assignors read other          *)
(* versions. Group epochs above MaxEpoch are cut off, which is sound here: *)
(* no property is about progress.                                          *)
(***************************************************************************)
EXTENDS OpenConnect, ConnectProperties

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoWorkers == {"w1", "w2"}
InOrder == [m \in TwoWorkers |-> IF m = "w1" THEN 1 ELSE 2]
ThreeWorkers == {"w1", "w2", "w3"}
ThreeInOrder == [m \in ThreeWorkers |-> IF m = "w1" THEN 1 ELSE IF m = "w2" THEN 2 ELSE 3]
\* An order that is not that of TLC, which takes the first string where a CHOOSE
\* leaves several.
ThreeFromTheLast == [m \in ThreeWorkers |-> 4 - ThreeInOrder[m]]
\* w1 and w2 have none in common, w3 reads w1's, and w2 and w3 have only version 3
\* in common, so that neither reads all of the other's.
\* @type: Str -> <<Int, Int>>;
SomeVersions == [m \in ThreeWorkers |-> IF m = "w1" THEN <<4, 4>> ELSE IF m = "w2" THEN <<1, 3>> ELSE <<3, 5>>]
\* @type: Str -> <<Int, Int>>;
SameVersions == [m \in TwoWorkers |-> <<0, 2>>]
OneConnector == {"A"}
ConnectorOnly == {<<"A", 0>>}
ConnectorAndTask == {<<"A", 0>>, <<"A", 1>>}
MCInitialTopics == {[t \in OneConnector |-> Cardinality(Partitions)]}
AnyTopics == {[t \in OneConnector |-> n] : n \in 0..Cardinality(Partitions)}
MCRequestEpochs == 1..MaxEpoch
AlsoAway == MCRequestEpochs \cup {Away}
MCCallEpochs == -1..MaxEpoch
\* @type: Set(Int);
NoEpochs == {}
OnlyZero == {0}
MCInstallEpochs == 1..MaxEpoch
\* @type: Set(Str);
NoStrings == {}
OneReason == {1}
\* @type: Set(Int);
NoReason == {}
MCOwned == {{}, Partitions}
\* All work to one worker, some to each, some to none; and work that is
\* assigned twice.
MCTargets ==
  {<<[r \in Partitions |-> "w1"], {}>>,
   <<[r \in Partitions |-> IF r[2] = 0 THEN "w2" ELSE "w1"], {}>>,
   <<[r \in Partitions |-> IF r[2] = 0 THEN None ELSE "w2"], {}>>,
   <<[r \in Partitions |-> "w1"], {<<"A", 0>>}>>}
\* Fewer reports and targets, for models about the versions of workers.
\* @type: Set(Set($partition));
NothingOwned == {{}}
AllToTheFirst == {<<[r \in Partitions |-> "w1"], {}>>}
\* @type: Set($request);
NoOddRequests == {}
MCOddRequests ==
  {[NoRequest EXCEPT !.member = "w1", !.epoch = -2],
   [NoRequest EXCEPT !.member = "w1", !.instance = {None}],
   [NoRequest EXCEPT !.epoch = 1],
   [NoRequest EXCEPT !.member = "w1", !.assignor = {"range"}]}

EmptyName == {[NoRequest EXCEPT !.member = "w1", !.owned = {{}}, !.assignor = {""}]}

BoundedNext == Next /\ group'.epoch <= MaxEpoch
BoundedSpec == Init /\ [][BoundedNext]_vars

\* Invariants.
TypeOK == GroupTypeOK(group) /\ WorkOK(group, work)
NoDoubleHolding == HeldDisjoint(group)
EpochsInOrder == EpochsOrdered(group) /\ PreviousEpochOrdered(group)
LostOK == LostIsNobodys(group, work) /\ TargetIsOfWorkers(group, work)
AllTopicsNoticed == TopicsNoticed(group, topics)
VersionsOK == VersionsFit(group, work)

\* The invariants of Apalache's bounded checks.
BoundedSafe == TypeOK /\ NoDoubleHolding /\ EpochsInOrder /\ LostOK /\ AllTopicsNoticed

\* Step properties.
EpochsNeverDecrease == [][EpochsMonotone(group, group', step')]_vars
BumpedExactly == [][WorkerEpochBumpedExactly(group, group', work, work', step')]_vars
Installs == [][InstalledExactly(group, group', work, work', step', call')]_vars
LostIsKept == [][LostWorkIsKept(group, group', work, work')]_vars
Prepares == [][PreparedExactly(group, work, step', call')]_vars
Told == [][ToldToCompute(group', work', step', call')]_vars
NeverBoth == [][NeverRevokeAndAssign(group, group', step')]_vars
Undisturbed ==
  [][WorkersUndisturbed(group, group', work, step') /\ OthersUntouched(group, group', step')]_vars
ReleaseNeedsAcknowledgement == [][ReleasedOnlyByAcknowledgement(group, group', step')]_vars
AdvanceNeedsRevocation == [][AdvancesWithoutRevocation(group, group', step')]_vars
ErrorsAreExact == [][WorkerErrorsExactly(group, group', work, work', step', call')]_vars
FailOverLosesNothing ==
  [][FailOverKeeps(group, group', step') /\ (step'.action = "FailOver" => work'.lost = work.lost)]_vars
\* W4: an empty name of an assignor is invalid, and so is an epoch below -1,
\* whatever else is wrong.
InvalidFirst ==
  [][step'.request.assignor = {""} \/ step'.request.epoch < -1 => step'.response.error = "INVALID_REQUEST"]_vars
\* W1: the first by id of the workers that may compute is chosen; after a worker
\* that was too late the next by id, and after the last worker the first.
ChosenInTurn ==
  [][LET all == {m \in Members(group') : \A n \in Members(group') : Versions[m][1] <= Versions[n][1]
                                                                      /\ Versions[n][2] <= Versions[m][2]}
         may == IF all = {} THEN Members(group') ELSE all
         late == step'.action = "AssignmentTimeout"
         later == {m \in may : late /\ MemberRank[m] > MemberRank[work.chosen]}
         from == IF later = {} THEN may ELSE later
     IN work'.chosen \notin {work.chosen, None} =>
          work'.chosen \in from /\ \A m \in from : MemberRank[work'.chosen] <= MemberRank[m]]_vars
\* W1: the assignor gets each worker with the worker's epoch, reason and part of
\* the target, and those that have gone without a reason.
PreparesEachWorker ==
  [][step'.action = "PrepareAssignment" /\ step'.response.error = "NONE" =>
       \A one \in call'.workers :
         IF one.epoch = NotInGroup THEN one.reason = 0
         ELSE /\ one.epoch = group.members[one.worker].epoch
              /\ one.reason = work.reasons[one.worker]
              /\ one.resources = {r \in Partitions : group.target[r] = one.worker}]_vars
\* W4: a call needs a member id and an epoch that a member may have.
InvalidCalls ==
  [][step'.action \in {"PrepareAssignment", "InstallAssignment"} =>
       (step'.response.error = "INVALID_REQUEST") = (step'.request.member = None \/ step'.request.epoch < 0)]_vars
\* W1: work that another worker still has is not in an assignment (10 in
\* Connect.tla).
NoPendingWork == [][\A one \in step'.response.assignment : one.pending = {}]_vars
ResponsesMatch == [][ResponseMatches(group', step')]_vars
NamedExactly == [][NamedAsPrepared(group, group', work, work', step')]_vars
ChosenPrepares == [][PreparedByTheChosen(work, work')]_vars
InstallsRefused == [][InstallRefusedExactly(work, step', call')]_vars
=============================================================================
