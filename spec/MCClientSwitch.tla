--------------------------- MODULE MCClientSwitch ---------------------------
(***************************************************************************)
(* Members that change sides (H3, E1): a heartbeat names a server-side     *)
(* assignor where the member offered its own, or the other way round.      *)
(* Members send their own epochs, and own what they are assigned.  Other   *)
(* requests and time-outs are in MCClient.                                 *)
(***************************************************************************)
EXTENDS MCClient

\* A first heartbeat with assignors of one side, or of neither; m1 is first.
JoinsWithSide ==
  \E m \in MemberIds, said \in Option(WideOnly), assignor \in Option(AssignorNames) :
    /\ assignor = {} \/ said = {}
    /\ m = "m1" \/ "m1" \in Members(group)
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {MCTopics},
                                            !.assignor = assignor], said)

\* A later one: m1 may name an assignor, offer some, or offer none any more.
SpeaksOfSide ==
  \E m \in Members(group), said \in Option(OfferLists), assignor \in Option(AssignorNames) :
    /\ assignor = {} \/ said = {}
    /\ m = "m1" \/ (assignor = {} /\ said = {})
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = group.members[m].epoch,
                                            !.owned = {group.members[m].assigned}, !.assignor = assignor], said)

\* Any member prepares, and installs one assignment of the epoch that was
\* prepared.
ComputesTarget ==
  \E m \in Members(group) :
    \/ Prepares(m, group.members[m].epoch)
    \/ Installing(m, group.members[m].epoch,
                  [Carried(computation.base.epoch, 0, {"m1"} \X OnePartition) EXCEPT !.metadata = ""])

SwitchNext ==
  /\ JoinsWithSide \/ SpeaksOfSide \/ ComputesTarget
  /\ group'.epoch <= MaxEpoch
SwitchSpec == ClientInit /\ [][SwitchNext]_clientVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* H3: no member has assignors of both sides.
OneSideOnly ==
  \A m \in MemberIds : group.members[m].assignor = "" \/ computation.offers[m] = <<>>

\* H3: the member has assignors of the side that its last request with
\* assignors names.
LastSide ==
  Does("Heartbeat") /\ Accepted =>
    LET m == step'.member IN
    /\ \A assignor \in step'.request.assignor :
         group'.members[m].assignor = assignor /\ computation'.offers[m] = <<>>
    /\ \A offers \in clientStep'.offers :
         /\ computation'.offers[m] = offers
         /\ offers # <<>> => group'.members[m].assignor = ""
         /\ offers = <<>> => group'.members[m].assignor = group.members[m].assignor
LastSideWins == [][LastSide]_clientVars

\* E1: a change of either side, or of both at once, is one new version of the
\* group's metadata; a repetition is none.
BumpedOnce ==
  Does("Heartbeat") /\ Accepted =>
    LET m == step'.member IN
    group'.epoch = group.epoch
      + IF \/ computation'.offers[m] # computation.offers[m]
           \/ group'.members[m].assignor # group.members[m].assignor THEN 1 ELSE 0
BumpedByEitherSide == [][BumpedOnce]_clientVars
=============================================================================
