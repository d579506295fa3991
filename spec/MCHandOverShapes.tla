-------------------------- MODULE MCHandOverShapes --------------------------
(***************************************************************************)
(* Bounds of a closed instance with offsets on which TLC checks the        *)
(* invariant of the proof of committed offsets (OffsetsInvariant): each    *)
(* reachable state has the conditions and the shapes from which the proof  *)
(* starts its step.                                                        *)
(***************************************************************************)
EXTENDS MCHandOver, OffsetsInvariant
=============================================================================
