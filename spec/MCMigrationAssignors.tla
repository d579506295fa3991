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
MCOrder == [n \in ThreeMembers \cup {"range", "mine"} |->
  IF n = "a" THEN 1 ELSE IF n = "b" THEN 2 ELSE IF n = "c" THEN 3 ELSE IF n = "range" THEN 4 ELSE 5]
NobodyOrB == {{}, {"b"}}

BoundedAssignorNext == AssignorNext /\ consumer'.epoch <= MaxEpoch
BoundedAssignorSpec == AssignorInit /\ [][BoundedAssignorNext]_assignorVars
=============================================================================
