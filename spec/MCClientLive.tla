---------------------------- MODULE MCClientLive ----------------------------
(***************************************************************************)
(* Bounds of the closed instance with client-side assignors.               *)
(***************************************************************************)
EXTENDS ClosedClient

TwoMembers == {"m1", "m2"}
ThreeMembers == {"m1", "m2", "m3"}
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
MCOrder == [n \in {"m1", "m2", "m3", "x"} |-> IF n = "m1" THEN 1 ELSE IF n = "m2" THEN 2 ELSE IF n = "m3" THEN 3 ELSE 4]
=============================================================================
