------------------------------ MODULE MCClient ------------------------------
(***************************************************************************)
(* Bounds of the open instance with client-side assignors: 2 members, 1    *)
(* partition, one assignor in versions that fit or not; and what must hold *)
(* of them, stated without the operators of ClientAssignors.               *)
(***************************************************************************)
EXTENDS OpenClient, GroupProperties

CONSTANT
  \* @type: Int;
  MaxEpoch

MCMemberIds == {"m1", "m2"}
MCTopics == {"foo"}
OnePartition == {<<"foo", 0>>}
MCOrder == [n \in {"m1", "m2", "x", "y"} |-> IF n = "m1" THEN 1 ELSE IF n = "m2" THEN 2 ELSE IF n = "x" THEN 3 ELSE 4]
OneTopic == {[t \in MCTopics |-> 1]}
MCSubscriptions == {{"foo"}}
MCRequestEpochs == 1..2
\* @type: (Str, Int, Int, Str) => $offer;
Offer(name, min, max, metadata) ==
  [name |-> name, min |-> min, max |-> max, version |-> max, reason |-> 0, metadata |-> metadata]
\* @type: ($offer) => Seq($offer);
Only(offer) == <<offer>>
\* All versions, or none; and in a join fewer, others, none that there can be.
WideOnly == {Only(Offer("x", 0, 2, "a"))}
MCOfferLists == {Only(Offer("x", 0, 2, "a")), NoOffers}
\* @type: Set(Seq($offer));
NoOfferLists == {}
MCOddOfferLists == {Only(Offer("x", 1, 1, "b")), Only(Offer("x", 3, 4, "a")), Only(Offer("x", 1, 0, "a"))}
\* @type: Set(Str);
MCAssignorNames == {"range"}
\* @type: (Int, Int, Set(<<Str, $partition>>)) => $clientStep;
Carried(epoch, error, assignment) ==
  [NoClientStep EXCEPT !.groupEpoch = epoch, !.error = error, !.assignment = assignment,
                       !.metadata = IF error = 0 THEN "n" ELSE ""]
MCInstalls ==
  {Carried(epoch, 0, owners \X OnePartition) : epoch \in 2..MaxEpoch, owners \in {{"m1"}, {"m2"}}}
  \cup {Carried(epoch, 1, {}) : epoch \in 2..MaxEpoch}
  \cup {Carried(2, 0, owners \X OnePartition) : owners \in {{}, {"m3"}}}
  \cup {Carried(3, 0, MCMemberIds \X OnePartition)}
\* @type: Set($clientStep);
NoInstalls == {}
\* @type: Set(Int);
NoInts == {}
MCComputers == (MCMemberIds \X (1..2)) \cup {<<None, 1>>, <<"m1", -1>>}
ComputersAtZero == MCComputers \cup {<<"m1", 0>>}

ClientBoundedNext == ClientNext /\ group'.epoch <= MaxEpoch /\ topics' = topics
ClientBoundedSpec == ClientInit /\ [][ClientBoundedNext]_clientVars

(***************************************************************************)
(* Invariants                                                              *)
(***************************************************************************)

TypeOK == GroupTypeOK(group)
NoDoubleHolding == HeldDisjoint(group)
EpochsInOrder == EpochsOrdered(group) /\ PreviousEpochOrdered(group)
EmptySettled == EmptyIsSettled(group)
AllTopicsNoticed == TopicsNoticed(group, topics)

\* A4: but for a target that was kept, because the assignor failed.
TargetIsLegal ==
  (\A m \in MemberIds : computation.told[m].error = 0) => TargetLegal(group)

\* A5: a member computes exactly while a target is due that a member computes;
\* it is in the group, and was told to compute before it prepared.
InFlightExactly ==
  /\ (computation.chosen # None) = (group.epoch > group.assignmentEpoch)
  /\ computation.chosen # None => computation.chosen \in Members(group)
  /\ computation.prepared \/ computation.notified => computation.chosen # None
  /\ computation.prepared = (computation.base.epoch > 0)
  /\ computation.chosen \notin computation.tried

\* E2, E4: a computation in flight is of an epoch that the target has not
\* reached.
BaseIsAhead ==
  computation.prepared =>
    group.assignmentEpoch < computation.base.epoch /\ computation.base.epoch <= group.epoch

\* A8: the chosen member covers the versions of all members, until it
\* prepares.
ChosenCovers ==
  computation.chosen # None /\ ~computation.prepared =>
    \A m \in Members(group) : \E i \in DOMAIN computation.offers[m], j \in DOMAIN computation.offers[computation.chosen] :
      LET own == computation.offers[computation.chosen][j]
          other == computation.offers[m][i]
      IN own.name = other.name /\ own.min <= other.min /\ other.max <= own.max

\* A member that is gone has left nothing.
NothingOfStrangers ==
  \A m \in MemberIds \ Members(group) : computation.offers[m] = <<>> /\ computation.told[m] = NoNews

(***************************************************************************)
(* Step properties                                                         *)
(***************************************************************************)

\* @type: (Str) => Bool;
Does(action) == step'.action = action
Computing == Does("PrepareAssignment") \/ Does("InstallAssignment")
Accepted == step'.response.error = "NONE"

EpochsNeverDecrease == [][EpochsMonotone(group, group', step')]_clientVars
NeverBoth == [][NeverRevokeAndAssign(group, group', step')]_clientVars
Undisturbed == [][UndisturbedIfUnchanged(group, group', step') /\ OthersUntouched(group, group', step')]_clientVars
ReleaseNeedsAcknowledgement == [][ReleasedOnlyByAcknowledgement(group, group', step')]_clientVars
AdvanceNeedsRevocation == [][AdvancesWithoutRevocation(group, group', step')]_clientVars
FailOverLosesNothing == [][FailOverKeeps(group, group', step')]_clientVars
ResponsesMatch == [][ResponseMatches(group', step')]_clientVars

\* E1: another list of assignors, reason or metadata is another group; once.
BumpedByOffers ==
  [][Does("Heartbeat") /\ Accepted =>
       group'.epoch = group.epoch
         + IF computation'.offers[step'.member] # computation.offers[step'.member] THEN 1 ELSE 0]_clientVars

\* A5: the member that is told to compute is the chosen one, and no other
\* member's answer counts.
ByTheChosen ==
  /\ clientStep'.compute => computation'.chosen = step'.member /\ computation'.notified
  /\ Computing /\ Accepted => computation.chosen = step'.member
OnlyTheChosen == [][ByTheChosen]_clientVars

\* A7, A9: a refused request changes nothing; a preparation changes nothing of
\* the group.
RefusedAlone ==
  Computing /\ ~Accepted => UNCHANGED <<group, topics, computation>>
RefusedChangesNothing == [][RefusedAlone]_clientVars
PreparingChangesNothing ==
  [][Does("PrepareAssignment") =>
       /\ UNCHANGED <<group, topics>>
       /\ computation.prepared => UNCHANGED computation]_clientVars

\* A6: is the assignment that the step carries legal in the base?
LegalInBase ==
  \A p \in Partitions :
    LET owners == {m \in {"m1", "m2", "m3"} : <<m, p>> \in clientStep'.assignment} IN
    IF p[2] < computation.base.metadata[p[1]]
    THEN \E m \in MemberIds : owners = {m} /\ p[1] \in computation.base.members[m].topics
    ELSE owners = {}

\* A4, A6: an installed target is legal in the base, and of its epoch.
LegallyInstalled ==
  Does("InstallAssignment") /\ Accepted =>
    /\ group'.assignmentEpoch = computation.base.epoch
    /\ clientStep'.error = 0 =>
         /\ LegalInBase
         /\ \A p \in Partitions, m \in MemberIds :
              (group'.target[p] = m) = (<<m, p>> \in clientStep'.assignment /\ m \in Members(group))
    /\ clientStep'.error # 0 => group'.target = group.target
InstalledLegally == [][LegallyInstalled]_clientVars

\* A6: an assignment that is legal for the prepared group is installed,
\* whatever has happened to the group since.
AcceptedIfLegal ==
  /\ Does("InstallAssignment") /\ computation.chosen = step'.member /\ computation.prepared
  /\ step'.request.epoch = group.members[step'.member].epoch /\ step'.request.epoch >= 0
  /\ clientStep'.groupEpoch = computation.base.epoch
  /\ clientStep'.error # 0 \/ LegalInBase
  => Accepted
LegalIsInstalled == [][AcceptedIfLegal]_clientVars

\* A9: a call is invalid exactly if it has no member id, or an epoch below 0.
InvalidCallsExactly ==
  [][Computing =>
       (step'.response.error = "INVALID_REQUEST") = (step'.member = None \/ step'.request.epoch < 0)]_clientVars

\* A9: a sender that was not chosen, or is no member, gets the error of an
\* unknown member.
UnknownExactly ==
  [][Computing /\ group.epoch > 0 /\ step'.member # None /\ step'.request.epoch >= 0 =>
       (step'.response.error = "UNKNOWN_MEMBER_ID") =
          \/ step'.member \notin Members(group)
          \/ /\ step'.request.epoch = group.members[step'.member].epoch
             /\ computation.chosen # step'.member]_clientVars

\* A5: a member that is too late stays a member, and others are chosen before it
\* is again.
LateStays ==
  Does("ComputationTimeout") =>
    /\ UNCHANGED <<group, topics>>
    /\ \A m \in Members(group) \ (computation.tried \cup {computation.chosen}) :
         computation'.chosen = computation.chosen =>
           \* none of them may compute: its versions do not cover all
           \E n \in Members(group) :
             \E i \in DOMAIN computation.offers[m], j \in DOMAIN computation.offers[n] :
               \/ computation.offers[n][j].min < computation.offers[m][i].min
               \/ computation.offers[n][j].max > computation.offers[m][i].max
LateIsNotFenced == [][LateStays]_clientVars

\* A10: after an install, the next computation starts at once if it must.
NextStarts ==
  Does("InstallAssignment") /\ Accepted /\ group'.epoch > group'.assignmentEpoch =>
    computation'.chosen # None /\ ~computation'.prepared
NextStartsAtOnce == [][NextStarts]_clientVars
=============================================================================
