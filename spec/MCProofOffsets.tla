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
=============================================================================
