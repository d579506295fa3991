---------------------------- MODULE MCProofClosed ---------------------------
(***************************************************************************)
(* Sizes of the proof of the coordinator with its members and network.     *)
(* Epochs and the number of disturbances are unbounded.                    *)
(***************************************************************************)
EXTENDS ClosedInvariant

Members2 == {"m1", "m2"}
Members3 == {"m1", "m2", "m3"}
OneTopic == {"foo"}
NameOfFoo == [t \in OneTopic |-> t]
\* No member is static; or both are processes of one static member; or m1 and
\* m3.
Dynamic2 == [m \in Members2 |-> ""]
Dynamic3 == [m \in Members3 |-> ""]
BothStatic == [m \in Members2 |-> "i1"]
OneStatic == [m \in Members3 |-> IF m = "m2" THEN "" ELSE "i1"]
Partitions2 == {<<"foo", 0>>, <<"foo", 1>>}
Partitions3 == {<<"foo", 0>>, <<"foo", 1>>, <<"foo", 2>>}
AnySubscription == {{}, OneTopic}
AnyCount == {[t \in OneTopic |-> n] : n \in 0..2}
=============================================================================
