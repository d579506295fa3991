---------------------------- MODULE MCProofShapes ---------------------------
(***************************************************************************)
(* Sizes of the closed proof of the coordinator with its members and       *)
(* network: those of MCProofClosed.                                        *)
(***************************************************************************)
EXTENDS ClosedShapes, MCProofClosed

\* The seeded mutant of the control: an answer with an error names its member,
\* which ClosedInvariant's AnyResponses generates and the coordinator never says.
NameInError ==
  /\ \E m \in MemberIds : \E response \in responses[m] :
       /\ response.error # "NONE"
       /\ responses' = [responses EXCEPT ![m] = {[response EXCEPT !.member = m]}]
  /\ UNCHANGED <<group, topics, clients, late, zombies, budget, step>>

NamedNext == Next \/ NameInError
=============================================================================
