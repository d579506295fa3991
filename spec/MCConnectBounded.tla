-------------------------- MODULE MCConnectBounded --------------------------
(***************************************************************************)
(* The first states for the other engine, which searches a few steps deep: *)
(* w1 has work or none at the target of epoch 3; the rest was lost with    *)
(* w2, which may be back since; w1 has prepared before that or after, or   *)
(* not yet.                                                                *)
(***************************************************************************)
EXTENDS MCConnect

NameOfA == [t \in {"A"} |-> t]
\* @type: Str -> Set(Str);
OnlyA == [r \in {EveryConnector} |-> {"A"}]
WithOneTask == {[t \in OneConnector |-> 2]}
BoundedEpochs == {-1, 0, 3}
\* @type: Set(Set($partition));
NoOwned == {}
InstallableEpochs == 3..5
\* All work that can be assigned to the workers, to none, or to both.
AnyTarget ==
  {<<[r \in ConnectorAndTask |-> IF r[2] = 0 THEN a ELSE b], twice>> :
     a \in {None, "w1", "w2"}, b \in {None, "w1", "w2"}, twice \in {{}, {<<"A", 0>>}}}

\* @type: (Int, Set($partition)) => $member;
Worker(epoch, resources) ==
  [NoMember EXCEPT !.epoch = epoch, !.regex = EveryConnector, !.assigned = resources, !.acknowledged = TRUE]

WhileWorkIsLost ==
  /\ topics \in InitialTopics
  /\ \E kept \in SUBSET ConnectorAndTask, isBack \in BOOLEAN, prepared \in BOOLEAN, before \in BOOLEAN :
       /\ group = [NoGroup EXCEPT
            !.epoch = IF isBack THEN 5 ELSE 4, !.assignmentEpoch = 3,
            !.target = [r \in ConnectorAndTask |-> IF r \in kept THEN "w1" ELSE None],
            !.metadata = [t \in OneConnector |-> 2],
            !.members = [m \in TwoWorkers |-> IF m = "w1" THEN Worker(3, kept)
                                              ELSE IF isBack THEN Worker(0, {}) ELSE NoMember]]
       /\ work = [NoWork EXCEPT
            !.chosen = "w1", !.named = {"w1"},
            !.lost = [r \in ConnectorAndTask |-> IF r \in kept THEN None ELSE "w2"],
            !.prepared = IF ~prepared THEN {}
                         ELSE {[epoch |-> IF isBack /\ ~before THEN 5 ELSE 4,
                                workers |-> IF isBack /\ ~before THEN TwoWorkers ELSE {"w1"},
                                metadata |-> [t \in OneConnector |-> 2]]}]
  /\ step = NoStep
  /\ call = NoCall

\* Steps that decide on lost work, and steps that lose more.
LostNext ==
  \/ Prepare
  \/ Install
  \/ AbsurdInstall
  \/ LeaveRequest
  \/ SessionTimeout
  \/ AssignmentTimeout
  \/ FailOver

\* Properties of each of these steps.
LostStepSafe ==
  /\ InstalledExactly(group, group', work, work', step', call')
  /\ LostWorkIsKept(group, group', work, work')
  /\ PreparedExactly(group, work, step', call')
  /\ WorkerErrorsExactly(group, group', work, work', step', call')
=============================================================================
