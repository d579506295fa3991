------------------------------ MODULE Admission -----------------------------
(***************************************************************************)
(* The checks before a request itself (H5, D5): may this client do it, and *)
(* is this the group's coordinator, loaded and available?                  *)
(*                                                                         *)
(* Rights come first, then the state of the coordinator, then what the     *)
(* request says: who is refused here learns nothing of the group, and      *)
(* changes nothing.                                                        *)
(*                                                                         *)
(* A coordinator that is not active lets no timer run out, and notices no  *)
(* change of topics.  When active again it is a new coordinator that loads *)
(* the log (P2).                                                           *)
(*                                                                         *)
(* Left out: clients with different rights (denied operations are denied   *)
(* to all), rights on groups of other names, DESCRIBE and ALTER_CONFIGS of *)
(* an administrator (tests of the coordinator check these).                *)
(***************************************************************************)
EXTENDS OpenOffsets

(*
  State of the coordinator, and the operations that no client may do.
  @typeAlias: admission = {state: Str, denied: Set(Str)};
*)
Admission_aliases == TRUE

Active == "active"

\* @type: $admission;
AdmitsAll == [state |-> Active, denied |-> {}]

\* H5: an error for each state of a coordinator that is not active.
\* @type: Str -> Str;
StateErrors ==
  [state \in {"loading", "moved", "unavailable"} |->
     IF state = "loading" THEN "COORDINATOR_LOAD_IN_PROGRESS"
     ELSE IF state = "moved" THEN "NOT_COORDINATOR"
     ELSE "COORDINATOR_NOT_AVAILABLE"]

\* H5: the error of a request that needs the right to `operation`.
\* @type: ($admission, Str) => Str;
AdmissionError(a, operation) ==
  IF operation \in a.denied THEN "GROUP_AUTHORIZATION_FAILED"
  ELSE IF a.state = Active THEN "NONE"
  ELSE StateErrors[a.state]

\* @type: ($admission, Str) => Bool;
Admits(a, operation) == AdmissionError(a, operation) = "NONE"

\* The step of a heartbeat of `m` that is refused.  A client that may not, or
\* that asks another coordinator, is told nothing else (H9).
\* @type: ($group, Str, $request, Str) => $step;
RefusedHeartbeat(g, m, request, error) ==
  [NoStep EXCEPT !.action = ActionOf(g, m, request),
                 !.branch = "not-admitted",
                 !.member = m,
                 !.request = request,
                 !.response = ErrorResponse(error)]
=============================================================================
