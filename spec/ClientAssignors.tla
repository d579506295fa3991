--------------------------- MODULE ClientAssignors ---------------------------
(***************************************************************************)
(* KIP-848 "Client Side Mode": one of the members computes a target that   *)
(* is due (A1, A5-A10), as functions on the state of one group `g` and of  *)
(* its computation `c`.                                                    *)
(*                                                                         *)
(* Where all members offer an assignor that one of them may run, a step    *)
(* leaves the target due and one member chosen; else step 2 of the         *)
(* heartbeat computes the target, as in Coordinator.  The chosen member is *)
(* told so, prepares, and installs the target that it computed, within its *)
(* rebalance time-out.                                                     *)
(***************************************************************************)
EXTENDS ClientTypes

(***************************************************************************)
(* Assignors that members offer (H3, H4, A8)                               *)
(***************************************************************************)

\* @type: (Seq($offer), Str) => Bool;
Offers(offers, name) == \E i \in DOMAIN offers : offers[i].name = name

\* The offer of that name; none twice (H3).
\* @type: (Seq($offer), Str) => $offer;
OfferOf(offers, name) ==
  IF Offers(offers, name) THEN offers[CHOOSE i \in DOMAIN offers : offers[i].name = name] ELSE NoOffer

\* H3: an assignor has a name, its versions are in order, none is given twice.
\* @type: (Seq($offer)) => Bool;
InvalidOffers(offers) ==
  \/ \E i \in DOMAIN offers :
       LET offer == offers[i] IN
       \/ offer.name = ""
       \/ offer.min < -1 \/ offer.max < 0 \/ offer.max < offer.min
       \/ offer.version < offer.min \/ offer.version > offer.max
  \/ \E i \in DOMAIN offers, j \in DOMAIN offers : i # j /\ offers[i].name = offers[j].name

\* @type: ($offer, $offer) => Bool;
Overlap(a, b) == a.min <= b.max /\ b.min <= a.max

\* A8, H4: an assignor whose versions do not overlap with those of any other
\* member that offers the assignor.
\* @type: ($group, $computation, Set(Str), Seq($offer)) => Bool;
OverlapsNone(g, c, own, offers) ==
  \E i \in DOMAIN offers :
    LET others == {n \in Members(g) \ own : Offers(c.offers[n], offers[i].name)} IN
    /\ others # {}
    /\ \A n \in others : ~Overlap(offers[i], OfferOf(c.offers[n], offers[i].name))

(***************************************************************************)
(* The assignor and the member that may run it (A1, A8)                    *)
(***************************************************************************)

\* A8: the members whose versions cover those of every member.
\* @type: ($group, $computation, Str) => Set(Str);
Covering(g, c, name) ==
  {m \in Members(g) :
     \A n \in Members(g) :
       /\ OfferOf(c.offers[m], name).min <= OfferOf(c.offers[n], name).min
       /\ OfferOf(c.offers[n], name).max <= OfferOf(c.offers[m], name).max}

\* A1: assignors that all members offer, and some member can run.
\* @type: ($group, $computation) => Set(Str);
Common(g, c) ==
  {name \in DOMAIN Order :
     /\ Members(g) # {} /\ \A m \in Members(g) : Offers(c.offers[m], name)
     /\ Covering(g, c, name) # {}}

\* A1: the sum of its places in the members' lists.
\* @type: ($group, $computation, Str) => Int;
Rank(g, c, name) ==
  Cardinality(UNION {{<<m, i>> : i \in {k \in DOMAIN c.offers[m] :
                        \E j \in DOMAIN c.offers[m] : k <= j /\ c.offers[m][j].name = name}} : m \in Members(g)})

\* A1: the client-side assignor of the group, "" for none: the vote decides.
\* @type: ($group, $computation) => Str;
Selected(g, c) ==
  LET common == Common(g, c)
      rank == [name \in common |-> Rank(g, c, name)]
      Before(a, b) == rank[a] < rank[b] \/ (rank[a] = rank[b] /\ Order[a] <= Order[b])
  IN IF common = {} THEN "" ELSE CHOOSE a \in common : \A b \in common : Before(a, b)

\* @type: ($group, $computation) => Bool;
ClientSide(g, c) == Common(g, c) # {}

\* A5, A8: members that may be chosen.  A member that is away (S1) hears
\* nothing.
\* @type: ($group, $computation) => Set(Str);
Eligible(g, c) ==
  LET name == Selected(g, c) IN {m \in Covering(g, c, name) : ~IsAway(g, m)}

(***************************************************************************)
(* Choosing a member (A5)                                                  *)
(***************************************************************************)

\* @type: ($group) => Bool;
TargetDue(g) == g.epoch > g.assignmentEpoch

\* No computation is in progress.
\* @type: ($computation) => $computation;
Idle(c) == [c EXCEPT !.chosen = None, !.notified = FALSE, !.prepared = FALSE, !.base = NoBase]

\* The computation with another member of the `eligible` chosen, where there is
\* one.  A member that timed out is tried again last.
\* @type: ($computation, Set(Str)) => Set($computation);
Choose(c, eligible) ==
  LET untried == eligible \ c.tried
      candidates == IF untried # {} THEN untried ELSE eligible
      next == IF ChoiceRule = "any" THEN candidates
              ELSE {m \in candidates : \A n \in candidates : Order[m] <= Order[n]}
      tried == IF untried # {} THEN c.tried ELSE {}
  IN IF eligible = {} THEN {Idle(c)}
     ELSE {[Idle(c) EXCEPT !.chosen = m, !.tried = tried] : m \in next}

\* May the chosen member go on?  A member that has prepared may, whatever
\* happens to the group (A6).
\* @type: ($group, $computation, Set(Str)) => Bool;
GoesOn(g, c, eligible) ==
  /\ c.chosen \in Members(g) /\ ~IsAway(g, c.chosen)
  /\ c.prepared \/ c.chosen \in eligible

\* The computation after a step: a member is chosen exactly while a member must
\* compute the target that is due; a member that has left is not tried again.
\* @type: ($group, $computation) => Set($computation);
Settle(g, c) ==
  LET known == [c EXCEPT !.tried = @ \cap Members(g)]
      eligible == Eligible(g, c)
  IN IF ~TargetDue(g) \/ ~ClientSide(g, c) THEN {[Idle(c) EXCEPT !.tried = {}]}
     ELSE IF GoesOn(g, c, eligible) THEN {known}
     ELSE Choose(known, eligible)

(***************************************************************************)
(* Steps 1 and 2 of the heartbeat, with the assignors of the request       *)
(***************************************************************************)

\* The member whose offered assignors a request replaces or takes over.
\* @type: ($group, Str, $request) => Set(Str);
OwnPlace(g, m, request) == {m} \cup (IF Returns(g, request) THEN HolderOf(g, request) ELSE {})

\* A request that is heard: without an error, and the member stays.
\* @type: ($updated) => Bool;
Succeeds(updated) == updated.error = "NONE" /\ updated.kind \notin {"leave", "away"}

\* Step 1, as in Coordinator, and A8.  H3: a member has assignors of one side;
\* client-side assignors replace the server-side assignor that the member named
\* before.
\* @type: ($group, $computation, Str -> Int, Str, $request, Set(Seq($offer))) => $updated;
UpdateOffering(g, c, topics, m, request, said) ==
  LET updated == UpdateMember(g, topics, m, request)
      invalid == \E offers \in said : InvalidOffers(offers) \/ (offers # NoOffers /\ request.assignor # {})
  IN IF updated.kind = "invalid" \/ invalid THEN Updated(g, "INVALID_REQUEST", "invalid", FALSE)
     ELSE IF updated.kind # "unsupported"
             /\ \E offers \in said : OverlapsNone(g, c, OwnPlace(g, m, request), offers)
     THEN Updated(g, "UNSUPPORTED_ASSIGNOR", "unsupported", FALSE)
     ELSE IF Succeeds(updated) /\ \E offers \in said : offers # NoOffers
     THEN [updated EXCEPT !.group.members[m].assignor = ""]
     ELSE updated

\* H7: the offers of each member after step 1; a fresh member has those of its
\* request.  H3: a server-side assignor that the member names takes their place.
\* @type: ($computation, Str, $request, $updated, Set(Seq($offer))) => (Str -> Seq($offer));
OffersAfter(c, m, request, updated, said) ==
  [n \in MemberIds |->
     IF n \notin Members(updated.group) THEN NoOffers
     ELSE IF n # m \/ ~Succeeds(updated) THEN c.offers[n]
     ELSE IF said # {} THEN CHOOSE offers \in said : TRUE
     ELSE IF updated.kind \in {"join", "return"} \/ request.assignor # {} THEN NoOffers
     ELSE c.offers[n]]

\* E1: another list of assignors, another reason or metadata bumps the group
\* epoch.  A member that returns (S1) is compared with its place.
\* @type: ($group, $computation, Str, $request, $updated, Str -> Seq($offer)) => Bool;
OffersChanged(g, c, m, request, updated, offers) ==
  /\ Succeeds(updated)
  /\ updated.kind # "return" => offers[m] # c.offers[m]
  /\ updated.kind = "return" => \E n \in HolderOf(g, request) : offers[m] # c.offers[n]

\* Several changes in one request bump the epoch once (E1).  No member's epoch
\* may be 0: a group whose first target a member must compute has the empty
\* target of the previous epoch.
\* @type: ($group, $group, Bool, Bool) => $group;
Bumped(g, updated, changed, client) ==
  LET bumped == IF changed /\ updated.epoch = g.epoch THEN BumpGroupEpoch(updated) ELSE updated IN
  IF client /\ bumped.assignmentEpoch = 0
  THEN [bumped EXCEPT !.epoch = bumped.epoch + 1, !.assignmentEpoch = bumped.epoch]
  ELSE bumped

\* Version and metadata that each member got with its target: a member that has
\* left has none; a member that takes another's place has those of the place.
\* @type: ($group, $group, $computation, Str, $request, $updated) => (Str -> $told);
NewsAfter(g, h, c, m, request, updated) ==
  [n \in MemberIds |->
     IF n \notin Members(h) THEN NoNews
     ELSE IF n = m /\ updated.kind = "return"
     THEN LET holder == CHOOSE k \in HolderOf(g, request) : TRUE IN c.told[holder]
     ELSE c.told[n]]

\* The computation after step 1.  A member that joins, or takes a place, is no
\* incarnation that was chosen before.
\* @type: ($group, $computation, $group, Str, $request, $updated, Str -> Seq($offer)) => $computation;
ComputationAfter(g, c, h, m, request, updated, offers) ==
  LET kept == [c EXCEPT !.offers = offers, !.told = NewsAfter(g, h, c, m, request, updated)] IN
  IF c.chosen = m /\ updated.error = "NONE" /\ updated.kind \in {"join", "return"} THEN Idle(kept) ELSE kept

\* Step 2: a target that is due is computed here, unless a member must do it.
\* Then what follows, on the group and its computation.
\* @type: ($group, $computation, ($group, $computation) => Bool) => Bool;
UpdateClientTarget(g, c, Then(_, _)) ==
  LET here == TargetDue(g) /\ ~ClientSide(g, c)
      forgotten == IF here THEN [c EXCEPT !.told = [n \in MemberIds |-> NoNews]] ELSE c
      Settled(installed) == \E settled \in Settle(installed, forgotten) : Then(installed, settled)
  IN UpdateTarget(g, here, Settled)

(***************************************************************************)
(* Step 3 and the response                                                 *)
(***************************************************************************)

\* R5: with a new epoch, the assignor's error or metadata is news even where
\* the partitions stay; it is sent until the member has reported again.
\* @type: ($group, $group, $computation, Str) => $group;
News(before, after, c, m) ==
  IF c.told[m] # NoNews /\ after.members[m].epoch # before.members[m].epoch
  THEN [after EXCEPT !.members[m].acknowledged = FALSE] ELSE after

\* As Handle of Coordinator, and A5: the chosen member is told to compute.
\* @type: ($group, Str, $request, $updated, $group, $computation, Set(Seq($offer))) => {group: $group, computation: $computation, step: $step, clientStep: $clientStep};
HandleOffering(before, m, request, updated, installed, c, said) ==
  LET answers == Succeeds(updated)
      handled == Handle(before, m, request, updated, installed)
      after == IF answers THEN News(updated.group, handled.group, c, m) ELSE handled.group
      response == IF answers THEN Response(updated.group, after, m, request, updated.kind)
                  ELSE handled.step.response
      compute == answers /\ c.chosen = m
  IN [group |-> after,
      computation |-> [c EXCEPT !.notified = c.notified \/ compute],
      step |-> [handled.step EXCEPT !.response = response],
      clientStep |-> [NoClientStep EXCEPT !.offers = said, !.compute = compute,
                        !.told = IF response.assignment # {} THEN c.told[m] ELSE NoNews]]

(***************************************************************************)
(* ConsumerGroupPrepareAssignment (A5, A9, A10)                            *)
(***************************************************************************)

\* The error of both requests, in KIP-848's order.
\* @type: ($group, $computation, Str, Int) => Str;
ComputationError(g, c, m, epoch) ==
  IF m = None \/ epoch < 0 THEN "INVALID_REQUEST"
  ELSE IF ~Exists(g) THEN "GROUP_ID_NOT_FOUND"
  ELSE IF m \notin Members(g) THEN "UNKNOWN_MEMBER_ID"
  ELSE IF epoch # g.members[m].epoch THEN "STALE_MEMBER_EPOCH"
  ELSE IF c.chosen # m THEN "UNKNOWN_MEMBER_ID"
  ELSE "NONE"

\* The group as it is, frozen: all that the assignor is given (A6).
\* @type: ($group, $computation) => $base;
BaseOf(g, c) ==
  [epoch |-> g.epoch, assignor |-> Selected(g, c), metadata |-> g.metadata, target |-> g.target,
   members |-> [m \in MemberIds |->
     IF m \notin Members(g) THEN NotPrepared
     ELSE [epoch |-> g.members[m].epoch, instance |-> g.members[m].instance,
           topics |-> {t \in TopicsOf(g.members[m]) : g.metadata[t] > 0},
           offer |-> OfferOf(c.offers[m], Selected(g, c))]]]

\* A second one gives the same again: its first answer may have been lost.
\* @type: ($group, $computation) => $computation;
Prepared(g, c) ==
  IF c.prepared THEN c ELSE [c EXCEPT !.prepared = TRUE, !.base = BaseOf(g, c)]

(***************************************************************************)
(* ConsumerGroupInstallAssignment (A6, A7, A9, A10)                        *)
(***************************************************************************)

\* A7, A4: every partition of a subscribed topic is assigned once, to a member
\* that subscribes to the topic, and no other partition is assigned: in the
\* group that PrepareAssignment returned.
\* @type: ($base, Set(<<Str, $partition>>)) => Bool;
LegalAgainst(base, assignment) ==
  LET \* @type: $partition => Bool;
      There(p) == p[2] < base.metadata[p[1]]
  IN
  /\ \A p \in Partitions : There(p) => \E a \in assignment : a[2] = p
  /\ \A a \in assignment :
       /\ There(a[2])
       /\ a[1] \in MemberIds
       /\ a[2][1] \in base.members[a[1]].topics
       /\ \A b \in assignment : a[2] = b[2] => a = b

\* @type: ($group, $computation, Str, Int, $clientStep) => Str;
InstallError(g, c, m, epoch, carried) ==
  LET error == ComputationError(g, c, m, epoch) IN
  IF error # "NONE" THEN error
  ELSE IF ~c.prepared \/ carried.groupEpoch # c.base.epoch THEN "INVALID_ASSIGNMENT"
  ELSE IF carried.error # 0 \/ LegalAgainst(c.base, carried.assignment) THEN "NONE"
  ELSE "INVALID_ASSIGNMENT"

\* E2: the epoch of the target is that of the group from which the target was
\* computed.  Nothing is written for members that have left meanwhile.  An
\* error keeps the target.
\* @type: ($group, $computation, $clientStep) => $group;
Installed(g, c, carried) ==
  LET owner == [p \in Partitions |-> {m \in Members(g) : <<m, p>> \in carried.assignment}] IN
  [g EXCEPT !.assignmentEpoch = c.base.epoch,
            !.target = IF carried.error # 0 THEN g.target
                       ELSE [p \in Partitions |-> IF owner[p] = {} THEN None
                                                  ELSE CHOOSE m \in owner[p] : TRUE]]

\* @type: ($group, $computation, $clientStep) => $computation;
NewsByInstall(g, c, carried) ==
  LET news == [error |-> 0, version |-> IF carried.metadata = "" THEN 0 ELSE 1, metadata |-> carried.metadata] IN
  [Idle(c) EXCEPT !.tried = {},
                  !.told = [m \in MemberIds |->
                    IF m \notin Members(g) THEN NoNews
                    ELSE IF carried.error # 0 THEN [c.told[m] EXCEPT !.error = carried.error]
                    ELSE IF c.base.members[m].epoch = NotInGroup THEN NoNews
                    ELSE news]]

(***************************************************************************)
(* Time and fail-over (A5, P2)                                             *)
(***************************************************************************)

\* The timer starts when the chosen member is told, with that member's
\* rebalance time-out.
\* @type: ($computation) => Bool;
ComputationTimerArmed(c) == c.chosen # None /\ c.notified

\* Another member is chosen; the late member is not fenced.
\* @type: ($group, $computation) => Set($computation);
TooLate(g, c) == Choose([c EXCEPT !.tried = @ \cup {c.chosen}], Eligible(g, c))

\* No record has the chosen member, the group that it got, or the members that
\* were too late.
\* @type: ($computation) => $computation;
ComputationAfterFailOver(c) == [Idle(c) EXCEPT !.tried = {}]
=============================================================================
