----------------------------- MODULE MCProofOpen ----------------------------
(***************************************************************************)
(* Sizes of the proof of the coordinator alone.  Epochs are unbounded.     *)
(***************************************************************************)
EXTENDS OpenInvariant

Members2 == {"m1", "m2"}
Members3 == {"m1", "m2", "m3"}
OneTopic == {"foo"}
NameOfFoo == [t \in OneTopic |-> t]
Partitions2 == {<<"foo", 0>>, <<"foo", 1>>}
Partitions3 == {<<"foo", 0>>, <<"foo", 1>>, <<"foo", 2>>}
AnyEpoch == Int
AnySubscription == {{}, OneTopic}
Uniform1 == {"uniform"}
TwoInstances == {"i1", "i2"}
AnyCount == {[t \in OneTopic |-> n] : n \in 0..2}

\* The seeded mutant of the controls: all of a target is handed out at once.
HandOutAtOnce ==
  /\ \E m \in Members(group) :
       group' = [group EXCEPT !.members[m].assigned = TargetOf(group, m), !.members[m].revoking = {}]
  /\ UNCHANGED <<topics, step>>

MutantNext == Next \/ HandOutAtOnce
=============================================================================
