------------------------- MODULE MCMigrationOffsets --------------------------
(***************************************************************************)
(* Bounds of online migration with offsets: those of MCMigrationTour, with *)
(* members that say they own nothing, and one offset.                      *)
(***************************************************************************)
EXTENDS MCMigrationTour, MixedOffsets

OneOffset == {7}

BoundedOffsetNext == OffsetNext /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch
BoundedOffsetSpec == OffsetInit /\ [][BoundedOffsetNext]_offsetVars
=============================================================================
