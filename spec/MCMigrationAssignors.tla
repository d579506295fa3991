------------------------ MODULE MCMigrationAssignors -------------------------
(***************************************************************************)
(* Bounds of online migration with client-side assignors: 3 members, 1     *)
(* partition, and offers of the name that members of the classic protocol  *)
(* have, which read version -1 or do not, or of another name.              *)
(***************************************************************************)
EXTENDS MCMigrationTour, MixedAssignors

\* @type: (Str, Int) => Seq($offer);
OneOffer(name, min) == <<[name |-> name, min |-> min, max |-> 2, version |-> 1, reason |-> 0, metadata |-> "YQ=="]>>
MCOffers == {OneOffer("range", -1), OneOffer("range", 0), OneOffer("mine", 0)}
\* Versions of one assignor that do not overlap with those of the other (A8).
\* @type: $offer;
LaterOffer == [name |-> "range", min |-> 3, max |-> 4, version |-> 3, reason |-> 0, metadata |-> "YQ=="]
ApartOffers == {OneOffer("range", -1), <<LaterOffer>>}
MCOrder == [n \in ThreeMembers \cup {"range", "mine"} |->
  IF n = "a" THEN 1 ELSE IF n = "b" THEN 2 ELSE IF n = "c" THEN 3 ELSE IF n = "range" THEN 4 ELSE 5]
Nobody == {{}}
NobodyOrB == {{}, {"b"}}

BoundedAssignorNext == AssignorNext /\ consumer'.epoch <= MaxEpoch
BoundedAssignorSpec == AssignorInit /\ [][BoundedAssignorNext]_assignorVars

\* Joins with offers alone.
ApartNext == OfferingJoin /\ consumer'.epoch <= MaxEpoch
ApartSpec == AssignorInit /\ [][ApartNext]_assignorVars

\* A8, M4: a member of the consumer protocol that offers no version which another
\* such member reads is refused, and nothing changes; each other offer is not
\* refused for that.
ApartIsRefused ==
  [][\A offers \in clientStep'.offers :
       LET others == IF IsClassic THEN {} ELSE Members(consumer) \ (ClassicMembers(Mixed) \cup {step'.member})
           apart == \E n \in others : (offers = <<LaterOffer>>) # (computation.offers[n] = <<LaterOffer>>)
       IN /\ (step'.response.error = "UNSUPPORTED_ASSIGNOR") = apart
          /\ apart => UNCHANGED assignorView]_assignorVars
=============================================================================
