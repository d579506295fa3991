----------------------------- MODULE OpenClient -----------------------------
(***************************************************************************)
(* The open instance with client-side assignors: the coordinator against   *)
(* every heartbeat, preparation and installation of a bounded domain, from *)
(* the member that was chosen or any other, in any order.                  *)
(***************************************************************************)
EXTENDS OpenGroup, ClientAssignors

CONSTANTS
  \* Assignors that a heartbeat may offer; it may also leave them out.
  \* @type: Set(Seq($offer));
  OfferLists,
  \* Offers that only a join has, refused or not (H3, A8).
  \* @type: Set(Seq($offer));
  OddOfferLists,
  \* The member ids and epochs of PrepareAssignment and InstallAssignment.
  \* @type: Set(<<Str, Int>>);
  Computers,
  \* Assignments that InstallAssignment may carry; one may name a process that
  \* is no member.
  \* @type: Set($clientStep);
  Installs

VARIABLES
  \* @type: $computation;
  computation,
  \* Assignors in the last request and its answer; not part of the state.
  \* @type: $clientStep;
  clientStep

clientVars == <<vars, computation, clientStep>>
clientView == <<view, computation>>

ClientInit == Init /\ computation = NoComputation /\ clientStep = NoClientStep

\* A heartbeat; the singletons make TLC evaluate each step once.
\* @type: (Str, $request, Set(Seq($offer))) => Bool;
OfferingRequest(m, request, said) ==
  /\ \E first \in {UpdateOffering(group, computation, topics, m, request, said)} :
     \E offers \in {OffersAfter(computation, m, request, first, said)} :
     \E c \in {ComputationAfter(group, computation, first.group, m, request, first, offers)} :
     \E changed \in {OffersChanged(group, computation, m, request, first, offers)} :
     \E updated \in {[first EXCEPT !.group = Bumped(group, first.group, changed, ClientSide(first.group, c))]} :
       LET Answer(installed, settled) ==
             \E handled \in {HandleOffering(group, m, request, updated, installed, settled, said)} :
               /\ group' = handled.group /\ computation' = handled.computation
               /\ step' = handled.step /\ clientStep' = handled.clientStep
       IN UpdateClientTarget(updated.group, c, Answer)
  /\ UNCHANGED topics

\* H1, H10.
OfferingJoin ==
  \E m \in MemberIds, instance \in Option(InstanceIds), subscription \in Subscriptions,
     said \in Option(OfferLists \cup OddOfferLists) :
    OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.instance = instance, !.owned = {{}},
                                         !.subscription = {subscription}], said)

OfferingHeartbeat ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in Option(SUBSET Partitions),
     said \in Option(OfferLists) :
    OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = owned], said)

\* H3: not both a server-side assignor and client-side ones.
OfferingBoth ==
  \E m \in MemberIds, offers \in OfferLists, assignor \in AssignorNames :
    /\ offers # NoOffers
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {{}},
                                            !.assignor = {assignor}], {offers})

\* H2, S1.
OfferingLeave ==
  \E m \in MemberIds, instance \in Option(InstanceIds) :
    \/ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = -1, !.instance = instance], {})
    \/ /\ instance # {}
       /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = instance], {})

\* @type: (Str, Str, Int, Str) => $step;
ComputeStep(action, m, epoch, error) ==
  [NoStep EXCEPT !.action = action, !.member = m, !.branch = error,
                 !.request = [NoRequest EXCEPT !.member = m, !.epoch = epoch],
                 !.response = [NoResponse EXCEPT !.error = error]]

\* A5, A9: PrepareAssignment of any sender.
\* @type: (Str, Int) => Bool;
Prepares(m, epoch) ==
  LET error == ComputationError(group, computation, m, epoch) IN
  /\ computation' = IF error = "NONE" THEN Prepared(group, computation) ELSE computation
  /\ step' = ComputeStep("PrepareAssignment", m, epoch, error)
  /\ clientStep' = NoClientStep
  /\ UNCHANGED <<group, topics>>

PrepareAssignment == \E who \in Computers : Prepares(who[1], who[2])

\* A6, A7, A9: InstallAssignment of any sender, with any epoch.  Where the
\* group has moved on, the next computation starts at once (A10).
\* @type: (Str, Int, $clientStep) => Bool;
Installing(m, epoch, carried) ==
  LET error == InstallError(group, computation, m, epoch, carried) IN
  /\ IF error # "NONE" THEN UNCHANGED <<group, computation>>
     ELSE /\ group' = Installed(group, computation, carried)
          /\ computation' \in Settle(Installed(group, computation, carried),
                                     NewsByInstall(group, computation, carried))
  /\ step' = ComputeStep("InstallAssignment", m, epoch, error)
  /\ clientStep' = carried
  /\ UNCHANGED topics

InstallAssignment == \E who \in Computers, carried \in Installs : Installing(who[1], who[2], carried)

\* A5: the chosen member has not installed in time.
ComputationTimeout ==
  /\ ComputationTimerArmed(computation)
  /\ computation' \in TooLate(group, computation)
  /\ step' = EventStep("ComputationTimeout", computation.chosen, "", 0)
  /\ clientStep' = NoClientStep
  /\ UNCHANGED <<group, topics>>

\* An event leaves `changed` of the group and `c` of its computation.
\* @type: ($group, $computation, $step) => Bool;
ClientEvent(changed, c, newStep) ==
  LET Install(installed, settled) == group' = installed /\ computation' = settled
  IN /\ UpdateClientTarget(changed, c, Install)
     /\ step' = newStep /\ clientStep' = NoClientStep

\* The computation without the offers and metadata of members that are gone.
\* @type: ($group, $computation) => $computation;
OfMembers(g, c) ==
  [c EXCEPT !.offers = [m \in MemberIds |-> IF m \in Members(g) THEN c.offers[m] ELSE NoOffers],
            !.told = [m \in MemberIds |-> IF m \in Members(g) THEN c.told[m] ELSE NoNews]]

\* H8, R4.
ClientSessionTimeout ==
  /\ \E m \in MemberIds :
       /\ SessionTimerArmed(group, m)
       /\ \E removed \in {RemoveMember(group, topics, m)} :
            ClientEvent(removed, OfMembers(removed, computation), EventStep("SessionTimeout", m, "", 0))
  /\ UNCHANGED topics

ClientRebalanceTimeout ==
  /\ \E m \in MemberIds :
       /\ RebalanceTimerArmed(group, m)
       /\ \E removed \in {RemoveMember(group, topics, m)} :
            ClientEvent(removed, OfMembers(removed, computation), EventStep("RebalanceTimeout", m, "", 0))
  /\ UNCHANGED topics

\* E1.
\* @type: (Str, Str, Int) => Bool;
ClientChangeTopic(action, t, partitions) ==
  LET changed == [topics EXCEPT ![t] = partitions] IN
  /\ topics' = changed
  /\ ClientEvent(NoticeTopics(group, changed), computation, EventStep(action, None, t, partitions))

ClientTopics ==
  \/ \E p \in Partitions :
       \/ MayBeCreated(topics, p[1]) /\ ClientChangeTopic("CreateTopic", p[1], p[2] + 1)
       \/ 0 < topics[p[1]] /\ topics[p[1]] <= p[2] /\ ClientChangeTopic("AddPartitions", p[1], p[2] + 1)
  \/ \E t \in Topics : topics[t] > 0 /\ ClientChangeTopic("DeleteTopic", t, -1)

\* P2: a new coordinator chooses anew.
ClientFailOver ==
  /\ WithFailOver /\ Exists(group)
  /\ \E loaded \in {NoticeTopics(AfterFailOver(group), topics)} :
       LET Install(installed, settled) == group' = DeriveRevocations(installed) /\ computation' = settled
       IN UpdateClientTarget(loaded, ComputationAfterFailOver(computation), Install)
  /\ step' = EventStep("FailOver", None, "", 0)
  /\ clientStep' = NoClientStep
  /\ UNCHANGED topics

\* E5.
ClientDeleteGroup ==
  DeleteGroup /\ computation' = NoComputation /\ clientStep' = NoClientStep

ClientNext ==
  \/ OfferingJoin
  \/ OfferingHeartbeat
  \/ OfferingBoth
  \/ OfferingLeave
  \/ PrepareAssignment
  \/ InstallAssignment
  \/ ComputationTimeout
  \/ ClientSessionTimeout
  \/ ClientRebalanceTimeout
  \/ ClientTopics
  \/ ClientFailOver
  \/ ClientDeleteGroup
=============================================================================
