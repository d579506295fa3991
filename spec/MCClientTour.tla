---------------------------- MODULE MCClientTour ----------------------------
(***************************************************************************)
(* An open instance with client-side assignors small enough for every step *)
(* to be replayed: m1 comes first, a session may end only while a member   *)
(* computes, and no member sends an epoch that fences it.                  *)
(***************************************************************************)
EXTENDS MCClient

TourInstalls ==
  {[Carried(epoch, 0, owners \X OnePartition) EXCEPT !.metadata = ""] :
     epoch \in 2..MaxEpoch, owners \in {{}, {"m1"}, {"m2"}, {"m1", "m2"}}}
TourNext ==
  /\ ClientBoundedNext
  /\ step'.action \in {"Join", "Heartbeat", "PrepareAssignment", "InstallAssignment", "ComputationTimeout",
                       "SessionTimeout"}
  /\ step'.branch \notin {"fenced", "unknown", "invalid", "retry"}
  /\ step'.action = "Join" => clientStep'.offers # {} /\ (step'.member = "m1" \/ "m1" \in Members(group))
  /\ step'.action = "Heartbeat" => clientStep'.offers = {}
  /\ step'.action = "SessionTimeout" => step'.member = computation.chosen \/ computation.prepared
TourSpec == ClientInit /\ [][TourNext]_clientVars
=============================================================================
