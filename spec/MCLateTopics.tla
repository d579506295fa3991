---------------------------- MODULE MCLateTopics ----------------------------
(***************************************************************************)
(* Late requests with topics that change (T2, R9): a process dies with a   *)
(* request on the way, while a topic is deleted and created again under    *)
(* its name.  The request arrives before, between or after both changes,   *)
(* and before or after the next process with the member id has joined, or  *)
(* never.  No other disturbance happens.                                   *)
(***************************************************************************)
EXTENDS MCTopicIdsClosed

\* CrashSending uses two disturbances of the budget, each change of a topic
\* one. The members are alike, so one of them is enough.
LateTopicsNext ==
  /\ Next
  /\ budget - budget' = 1 => topics' # topics
  /\ \A request \in late' : request.member = "m1"
LateTopicsSpec == Init /\ [][LateTopicsNext]_vars
=============================================================================
