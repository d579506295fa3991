--------------------------- MODULE MCClientBounded ---------------------------
(***************************************************************************)
(* The first states for the other engine, which searches a few steps deep: *)
(* two members are at the target of epoch 2, and m1 was told to compute    *)
(* the next one. It has prepared or not; m2 was there then, or has joined  *)
(* since.                                                                  *)
(***************************************************************************)
EXTENDS MCClient

TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
NameOfFoo == [t \in {"foo"} |-> t]
FooWithTwo == {[t \in MCTopics |-> 2]}
\* From no partition to too many, and to a process that is no member.
BoundedInstalls ==
  {Carried(epoch, 0, owners \X TwoPartitions) : epoch \in 3..4, owners \in {{}, {"m1"}, {"m2"}, {"m3"}, MCMemberIds}}
  \cup {Carried(3, 0, {<<"m1", <<"foo", 0>>>>, <<"m2", <<"foo", 1>>>>}), Carried(3, 1, {})}
BoundedComputers == (MCMemberIds \X (2..3)) \cup {<<None, 2>>, <<"m1", -1>>}

\* Steps that decide on a computation, and steps that take its members away.
BoundedNext ==
  \/ PrepareAssignment
  \/ InstallAssignment
  \/ ComputationTimeout
  \/ ClientSessionTimeout
  \/ ClientFailOver

\* @type: (Int, $partition -> Str) => $group;
AtTarget(epoch, owner) ==
  [NoGroup EXCEPT
     !.epoch = epoch, !.assignmentEpoch = 2, !.target = owner, !.metadata = [t \in MCTopics |-> 2],
     !.members = [m \in MCMemberIds |->
       [NoMember EXCEPT !.epoch = 2, !.previousEpoch = 1, !.subscription = MCTopics, !.acknowledged = TRUE,
                        !.assigned = {p \in TwoPartitions : owner[p] = m}]]]

WhileOneComputes ==
  /\ topics \in InitialTopics
  /\ \E owner \in [TwoPartitions -> MCMemberIds], epoch \in 3..4, prepared \in BOOLEAN, joined \in BOOLEAN :
       LET offering == [NoComputation EXCEPT !.offers = [m \in MCMemberIds |-> Only(Offer("x", 0, 2, "a"))],
                                             !.chosen = "m1", !.notified = TRUE]
           both == AtTarget(3, owner)
           base == IF joined THEN [both EXCEPT !.members["m2"] = NoMember] ELSE both
       IN /\ joined => prepared /\ epoch = 4 /\ \A p \in TwoPartitions : owner[p] = "m1"
          /\ group = AtTarget(epoch, owner)
          /\ computation = IF prepared
                           THEN [offering EXCEPT !.prepared = TRUE, !.base = BaseOf(base, offering)] ELSE offering
  /\ step = NoStep
  /\ clientStep = NoClientStep

\* The invariants together; the properties of each step of the computation.
ClientSafe ==
  /\ TypeOK /\ NoDoubleHolding /\ EpochsInOrder /\ EmptySettled /\ AllTopicsNoticed /\ TargetIsLegal
  /\ InFlightExactly /\ BaseIsAhead /\ ChosenCovers /\ NothingOfStrangers
ClientStepSafe ==
  ByTheChosen /\ RefusedAlone /\ LegallyInstalled /\ AcceptedIfLegal /\ LateStays /\ NextStarts
=============================================================================
