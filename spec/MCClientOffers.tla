--------------------------- MODULE MCClientOffers ---------------------------
(***************************************************************************)
(* Lists of client-side assignors (H3, H4, A1, A8): three members offer    *)
(* two assignors in versions that overlap or not, in any order; some lists *)
(* are invalid.  A process may return to a place with other versions (S1). *)
(* The chosen member prepares; its only assignment names a process that is *)
(* no member (A7).  Members send no later heartbeats, and none is removed. *)
(***************************************************************************)
EXTENDS MCClient

ThreeMemberIds == {"m1", "m2", "m3"}
OneInstanceId == {"i1"}
OffersOrder == [n \in {"m1", "m2", "m3", "w", "x"} |->
                  IF n = "m1" THEN 1 ELSE IF n = "m2" THEN 2 ELSE IF n = "m3" THEN 3 ELSE IF n = "w" THEN 4 ELSE 5]

\* Versions of x that share one version with the widest, at either end, and
\* none with each other; and lists of both assignors.
ValidLists ==
  {Only(Offer("x", 0, 2, "a")), Only(Offer("x", 2, 4, "a")), Only(Offer("w", 0, 1, "a")),
   Only([Offer("x", -1, 0, "a") EXCEPT !.version = -1]),
   <<Offer("x", 0, 2, "a"), Offer("w", 0, 1, "a")>>, <<Offer("w", 0, 1, "a"), Offer("x", 0, 2, "a")>>}
\* H3: each list breaks one rule.
InvalidLists ==
  {Only(Offer("", 0, 2, "a")), Only(Offer("x", -2, 2, "a")), Only(Offer("x", -1, -1, "a")),
   Only(Offer("x", 1, 0, "a")), Only([Offer("x", 1, 2, "a") EXCEPT !.version = 0]),
   Only([Offer("x", 1, 2, "a") EXCEPT !.version = 3]),
   <<Offer("x", 0, 2, "a"), Offer("w", 0, 1, "a"), Offer("x", 0, 2, "a")>>}

\* The first heartbeats, in order.  The instance id is that of m2; m3 may come
\* in the place of m2.
JoinsOffering ==
  \E m \in MemberIds, instance \in Option(InstanceIds), said \in OfferLists \cup OddOfferLists :
    /\ m \notin Members(group) /\ ~computation.prepared
    /\ m = "m1" => Members(group) = {} /\ instance = {}
    /\ m = "m2" => Members(group) = {"m1"} /\ instance # {}
    /\ m = "m3" => "m2" \in Members(group) /\ (instance # {} => IsAway(group, "m2"))
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.instance = instance, !.owned = {{}},
                                            !.subscription = {MCTopics}], {said})

\* S1: the member of the place leaves for a while.
LeavesPlace ==
  \E m \in Members(group) :
    /\ ~computation.prepared /\ m = "m2" /\ group.members[m].epoch # Away
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = InstanceIds], {})

ComputesForStrangers ==
  \E m \in Members(group) \cap {computation.chosen} :
    \/ Prepares(m, group.members[m].epoch)
    \/ Installing(m, group.members[m].epoch, Carried(computation.base.epoch, 0, {"m9"} \X OnePartition))

OffersNext == (JoinsOffering \/ LeavesPlace \/ ComputesForStrangers) /\ group'.epoch <= MaxEpoch
OffersSpec == ClientInit /\ [][OffersNext]_clientVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* H3: a list is invalid exactly if it breaks a rule.
InvalidListsExactly ==
  [][step'.request.epoch = 0 =>
       (step'.response.error = "INVALID_REQUEST") = (clientStep'.offers \cap InvalidLists # {})]_clientVars

\* The offers of one assignor in some members' lists.
\* @type: (Str, Set(Str)) => Set($offer);
OffersIn(name, members) ==
  UNION {{computation.offers[m][i] : i \in {k \in DOMAIN computation.offers[m] : computation.offers[m][k].name = name}} :
         m \in members}

\* A8, H4: a valid list is refused exactly if other members offer one of its
\* assignors, and none of them in a version that the list has.  The place to
\* which a process returns is not another member's.
UnsupportedLists ==
  step'.request.epoch = 0 /\ clientStep'.offers \cap InvalidLists = {} =>
    LET place == {m \in Members(group) : group.members[m].instance = "i1" /\ step'.request.instance # {}} IN
    (step'.response.error = "UNSUPPORTED_ASSIGNOR") =
      \E list \in clientStep'.offers : \E i \in DOMAIN list :
        LET others == OffersIn(list[i].name, Members(group) \ place) IN
        others # {} /\ \A other \in others : list[i].max < other.min \/ other.max < list[i].min
UnsupportedListsExactly == [][UnsupportedLists]_clientVars

\* A1, A8: can a member run the assignor for all members?
\* @type: (Str) => Bool;
CanRun(name) ==
  /\ \A m \in Members(group) : OffersIn(name, {m}) # {}
  /\ \E m \in Members(group) : \A one \in OffersIn(name, {m}), other \in OffersIn(name, Members(group)) :
       one.min <= other.min /\ other.max <= one.max

\* Members that prefer another assignor to this one.
\* @type: (Str) => Set(Str);
PreferAnother(name) == {m \in Members(group) : computation.offers[m][1].name # name}

\* A1: the assignor of the prepared group is the assignor that most members
\* prefer, of those that can run; the first by name where as many prefer each.
\* The group is shown with what its members offer of that assignor.
MostPreferred ==
  Does("PrepareAssignment") /\ Accepted /\ ~computation.prepared =>
    LET name == computation'.base.assignor
        other == IF name = "x" THEN "w" ELSE "x"
        against == Cardinality(PreferAnother(name))
        othersAgainst == Cardinality(PreferAnother(other))
    IN /\ name \in {"x", "w"} /\ CanRun(name)
       /\ CanRun(other) => against < othersAgainst \/ (against = othersAgainst /\ name = "w")
       /\ \A m \in Members(group) : computation'.base.members[m].offer \in OffersIn(name, {m})
       /\ \A own \in OffersIn(name, {computation.chosen}), one \in OffersIn(name, Members(group)) :
            own.min <= one.min /\ one.max <= own.max
MostPreferredIsRun == [][MostPreferred]_clientVars

\* A5: a member is chosen only where some member can run an assignor for all;
\* and always where, beside that, a target is due and no member is away.
AMemberIsChosen ==
  LET runs == \E name \in {"x", "w"} : CanRun(name) IN
  /\ computation.chosen # None => runs
  /\ runs /\ group.epoch > group.assignmentEpoch /\ (\A m \in Members(group) : group.members[m].epoch # Away)
       => computation.chosen # None
=============================================================================
