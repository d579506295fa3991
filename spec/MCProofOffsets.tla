--------------------------- MODULE MCProofOffsets ---------------------------
(***************************************************************************)
(* Sizes of the proof that accepted commits are those of the holder.       *)
(***************************************************************************)
EXTENDS OffsetsInvariant

Members2 == {"m1", "m2"}
OneTopic == {"foo"}
NameOfFoo == [t \in OneTopic |-> t]
Dynamic2 == [m \in Members2 |-> ""]
Partitions1 == {<<"foo", 0>>}
Partitions2 == {<<"foo", 0>>, <<"foo", 1>>}
AnySubscription == {{}, OneTopic}
AnyCount == {[t \in OneTopic |-> n] : n \in 0..2}

\* The seeded mutant of the control: a late commit names a partition that is not
\* there.
StrayCommit ==
  /\ \E commit \in lateCommits : lateCommits' = {[commit EXCEPT !.partition = <<"bar", 0>>]}
  /\ UNCHANGED <<groupVars, budget, step, offsets, positions, processed, stopped>>

StrayNext == OffsetNext \/ StrayCommit
=============================================================================
