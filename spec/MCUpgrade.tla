------------------------------ MODULE MCUpgrade -----------------------------
(***************************************************************************)
(* Bounds of the upgrade from eager to cooperative (C4): both processes are*)
(* bounced, at any moment, and any `Budget` disturbances happen beside it. *)
(***************************************************************************)
EXTENDS MCCooperative

AllOld == [m \in TwoMembers |-> "old"]
\* The two rolling bounces, and back.
Upgrade == [c \in Configs |-> IF c = "old" THEN "both" ELSE "new"]
Downgrade == [c \in Configs |-> IF c = "new" THEN "both" ELSE "old"]
\* One bounce, without the assignors in between.
Straight == [c \in Configs |-> "new"]
\* One bounce of an assignor that has one name, eager or cooperative.
\* @type: Str -> Seq(Str);
OneName == [c \in Configs |-> <<"sticky">>]
=============================================================================
