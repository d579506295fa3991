------------------------------ MODULE Admission -----------------------------
(***************************************************************************)
(* The checks before a request itself (H5, D5): may this client send the   *)
(* request, and is this the group's coordinator, loaded and available?     *)
(*                                                                         *)
(* Rights come first, then the state of the coordinator, then the content  *)
(* of the request: a client that is refused here learns nothing about the  *)
(* group, and changes nothing.                                             *)
(*                                                                         *)
(* A coordinator that is not active lets no timer expire, and notices no   *)
(* change of topics.  When active again it is a new coordinator that loads *)
(* the log (P2).                                                           *)
(*                                                                         *)
(* An administrator (D1) is a client like others, with one difference: a   *)
(* request to list groups names no group. A client without the right to    *)
(* DESCRIBE any group gets an empty list, and so does a client of a        *)
(* coordinator whose groups have moved away.  Neither is an error.         *)
(*                                                                         *)
(* Left out: clients with different rights (denied operations are denied   *)
(* to all), rights on groups of other names, descriptions, configurations  *)
(* and their rights (tests of the coordinator check these).                *)
(***************************************************************************)
EXTENDS Administration

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

\* D1, H5: the error of a list.  A coordinator that has moved away has no groups.
\* @type: ($admission) => Str;
ListError(a) == IF a.state \in {Active, "moved"} THEN "NONE" ELSE StateErrors[a.state]

\* D1, D5: the groups that are listed, of those that the client may DESCRIBE.
\* @type: ($admission, $group, $partition -> Int) => Set(<<Str, Str>>);
ListedTo(a, g, committed) == IF Admits(a, "DESCRIBE") THEN ListedAs(g, committed) ELSE {}

\* The step of an administrator whose list of groups is empty.
\* @type: (Str, Str) => $step;
RefusedAdminStep(action, error) == [AdminStep(action, error) EXCEPT !.branch = "not-admitted"]

\* The step of a heartbeat of `m` that is refused.  A client without the right,
\* or of another coordinator, gets no other field of the answer (H9).
\* @type: ($group, Str, $request, Str) => $step;
RefusedHeartbeat(g, m, request, error) ==
  [NoStep EXCEPT !.action = ActionOf(g, m, request),
                 !.branch = "not-admitted",
                 !.member = m,
                 !.request = request,
                 !.response = ErrorResponse(error)]
=============================================================================
