---------------------------- MODULE MCProofClosed ---------------------------
(***************************************************************************)
(* Sizes of the proof of the coordinator with its members and network.     *)
(* Epochs and the number of disturbances are unbounded.                    *)
(***************************************************************************)
EXTENDS ClosedInvariant

Members2 == {"m1", "m2"}
Members3 == {"m1", "m2", "m3"}
OneTopic == {"foo"}
Partitions2 == {<<"foo", 0>>, <<"foo", 1>>}
Partitions3 == {<<"foo", 0>>, <<"foo", 1>>, <<"foo", 2>>}
AnySubscription == {{}, OneTopic}
AnyCount == {[t \in OneTopic |-> n] : n \in 0..2}
=============================================================================
