------------------------------ MODULE MCStatic ------------------------------
(***************************************************************************)
(* Bounds of an open instance with a static member and fail-overs: one     *)
(* instance id that any of 2 member ids may name, one topic.               *)
(***************************************************************************)
EXTENDS MCOpen

OneInstance == {"i1"}
OnlyFoo == {{"foo"}}
GrowingFoo == {[t \in MCTopics |-> n] : n \in 1..1}
=============================================================================
