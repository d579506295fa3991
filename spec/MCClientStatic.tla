--------------------------- MODULE MCClientStatic ---------------------------
(***************************************************************************)
(* Static members whose target a member computes (S1, A5): a chosen member *)
(* leaves for a while, and a process returns to its place.  Bounds as in   *)
(* MCClientSwitch: members send their own epochs.                          *)
(***************************************************************************)
EXTENDS MCClient

OneInstanceId == {"i1"}

\* A first heartbeat, or one of a process that returns to a place.
JoinsWithPlace ==
  \E m \in MemberIds, instance \in Option(InstanceIds) :
    OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.instance = instance, !.owned = {{}},
                                         !.subscription = {MCTopics}], WideOnly)

\* S1: the member of a place leaves for a while.
LeavesPlace ==
  \E m \in Members(group), instance \in InstanceIds :
    OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = {instance}], {})

Reports ==
  \E m \in Members(group) :
    /\ group.members[m].epoch > 0
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = group.members[m].epoch,
                                            !.owned = {group.members[m].assigned}], {})

\* Any member prepares, and installs one assignment of the epoch that was
\* prepared.
ComputesTarget ==
  \E m \in Members(group) :
    \/ Prepares(m, group.members[m].epoch)
    \/ Installing(m, group.members[m].epoch,
                  Carried(computation.base.epoch, 0, {"m1"} \X OnePartition))

StaticNext ==
  /\ \/ JoinsWithPlace \/ LeavesPlace \/ Reports \/ ClientSessionTimeout
     \/ ComputesTarget \/ ComputationTimeout
  /\ group'.epoch <= MaxEpoch
StaticSpec == ClientInit /\ [][StaticNext]_clientVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* A5, S1: a member that is away hears nothing, and so computes nothing.
ChosenIsThere ==
  computation.chosen # None => group.members[computation.chosen].epoch # Away

\* A5 as InFlightExactly, where all members that could compute may be away:
\* then no member is chosen until one is back.
SomebodyComputes ==
  (computation.chosen # None) =
     /\ group.epoch > group.assignmentEpoch
     /\ \E m \in Members(group) : group.members[m].epoch # Away

\* S1: a process that returns was not chosen before, and was not told to
\* compute.
ReturnedAnew ==
  Does("Return") /\ Accepted /\ computation'.chosen = step'.member =>
    ~computation'.prepared
ReturnIsAnotherIncarnation == [][ReturnedAnew]_clientVars

\* S1, H9: a process that returns gets the metadata of its place, and no other
\* member another metadata.
NewsOfThePlace ==
  Does("Return") /\ Accepted =>
    \A n \in Members(group') :
      LET place == IF n = step'.member
                   THEN CHOOSE m \in Members(group) : group.members[m].instance = group'.members[n].instance
                   ELSE n
      IN computation'.told[n] = computation.told[place]
ReturnKeepsNews == [][NewsOfThePlace]_clientVars
=============================================================================
