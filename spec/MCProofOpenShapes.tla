-------------------------- MODULE MCProofOpenShapes -------------------------
(***************************************************************************)
(* Sizes of the proof that the shapes of OpenShapes last: those of         *)
(* MCProofOpen.                                                            *)
(***************************************************************************)
EXTENDS OpenShapes, MCProofOpen

\* The seeded mutant of the control: a member is given an instance id that no
\* request has.
NameInstance ==
  /\ \E m \in Members(group) : group' = [group EXCEPT !.members[m].instance = "i3"]
  /\ UNCHANGED <<topics, step>>

NamedNext == Next \/ NameInstance
=============================================================================
