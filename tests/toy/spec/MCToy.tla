-------------------------------- MODULE MCToy -------------------------------
(***************************************************************************)
(* Bounds of the toy protocol: 2 members, epochs up to MaxEpoch.           *)
(***************************************************************************)
EXTENDS Toy

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"m1", "m2"}
MCEpochs == -1..MaxEpoch
BoundedNext == Next /\ toy'.epoch <= MaxEpoch
BoundedSpec == Init /\ [][BoundedNext]_vars
view == toy
=============================================================================
