--------------------------- MODULE OpenAdmission ----------------------------
(***************************************************************************)
(* The open instance whose coordinator may stop being the group's, at any  *)
(* moment, and whose clients may lose rights. One of the clients is an     *)
(* administrator, which lists and deletes groups.                          *)
(***************************************************************************)
EXTENDS Admission

CONSTANTS
  \* The states that the coordinator may be in, besides active.
  \* @type: Set(Str);
  InactiveStates,
  \* The sets of operations that may be denied.
  \* @type: Set(Set(Str));
  Denials,
  \* The heartbeats that are sent to a coordinator that refuses all: they are
  \* answered alike, so a few are enough.
  \* @type: Set($request);
  RefusedRequests

VARIABLES
  \* @type: $admission;
  admission,
  \* The administrator's last request with its answer; not part of the state.
  \* @type: $admin;
  admin

admissionVars == <<offsetVars, admission, admin>>
admissionView == <<offsetView, admission>>

AdmissionInit == OffsetInit /\ admission = AdmitsAll /\ admin = NoAdmin

IsActive == admission.state = Active

\* Topics change in the cluster, whatever the coordinator's state.
TopicsChange == CreateTopic \/ AddPartitions \/ DeleteTopic

TimersRunOut == SessionTimeout \/ RebalanceTimeout \/ DeleteGroup

\* H5: heartbeats of clients with the right to READ the group, while the
\* coordinator is active.
AdmittedHeartbeat ==
  /\ Admits(admission, "READ")
  /\ JoinRequest \/ HeartbeatRequest \/ LeaveRequest \/ OddRequest
  /\ offsets' = Surviving(offsets, group, group', topics')
  /\ UNCHANGED admission

\* O1, D5: to commit is to READ the group, to fetch is to DESCRIBE the group.
AdmittedOffsets ==
  /\ \/ Admits(admission, "READ") /\ OffsetCommit
     \/ Admits(admission, "DESCRIBE") /\ OffsetFetch
  /\ UNCHANGED admission

\* H5: other heartbeats are refused, valid or not.
NotAdmittedHeartbeat ==
  /\ ~Admits(admission, "READ")
  /\ \E request \in RefusedRequests :
       step' = RefusedHeartbeat(group, request.member, request, AdmissionError(admission, "READ"))
  /\ UNCHANGED <<group, topics, offsets, admission>>

\* O1, H5: a client without the right to commit or fetch is refused before its
\* member epoch is looked at.
\* @type: (Str, Str) => Bool;
NotAdmitted(action, operation) ==
  /\ ~Admits(admission, operation)
  /\ \E m \in MemberIds, p \in Partitions :
       step' = [OffsetStep(action, m, 1, p, 0, AdmissionError(admission, operation))
                  EXCEPT !.branch = "not-admitted"]
  /\ UNCHANGED <<group, topics, offsets, admission>>

NotAdmittedOffsets == NotAdmitted("OffsetCommit", "READ") \/ NotAdmitted("OffsetFetch", "DESCRIBE")

\* D1, D5, H5: a list is answered in every state, and says so by its error.
AnyListGroups ==
  /\ admin' = [NoAdmin EXCEPT !.listed = ListedTo(admission, group, offsets)]
  /\ step' = IF Admits(admission, "DESCRIBE") THEN AdminStep("ListGroups", "NONE")
             ELSE RefusedAdminStep("ListGroups", ListError(admission))
  /\ UNCHANGED <<group, topics, offsets, admission>>

\* D1, D5, H5: a client with the right to DELETE the group deletes it, at an
\* active coordinator; other clients do not learn whether the group exists, or
\* whether it has members.
AnyDeleteGroups ==
  /\ admin' = NoAdmin
  /\ UNCHANGED admission
  /\ IF Admits(admission, "DELETE") THEN DeleteGroups
     ELSE /\ step' = RefusedAdminStep("DeleteGroups", AdmissionError(admission, "DELETE"))
          /\ UNCHANGED <<group, topics, offsets>>

\* H8, R4, E5, E1, P2: steps that happen by themselves, at an active
\* coordinator.
Happens ==
  /\ IsActive
  /\ TimersRunOut \/ TopicsChange \/ FailOver
  /\ offsets' = Surviving(offsets, group, group', topics')
  /\ UNCHANGED admission

\* E1: topics change, and a coordinator that is not active does not notice.
\* @type: (Str, Str, Int) => Bool;
ChangeUnnoticed(action, t, partitions) ==
  /\ topics' = [topics EXCEPT ![t] = partitions]
  /\ step' = EventStep(action, None, t, partitions)

Unnoticed ==
  /\ ~IsActive
  /\ \/ \E p \in Partitions :
          MayBeCreated(topics, p[1]) /\ ChangeUnnoticed("CreateTopic", p[1], p[2] + 1)
     \/ \E p \in Partitions :
          0 < topics[p[1]] /\ topics[p[1]] <= p[2] /\ ChangeUnnoticed("AddPartitions", p[1], p[2] + 1)
     \/ \E t \in Topics : topics[t] > 0 /\ ChangeUnnoticed("DeleteTopic", t, -1)
  /\ UNCHANGED <<group, offsets, admission>>

\* H5: the coordinator begins to load, moves away, or is unavailable.
Deactivate ==
  /\ \E state \in InactiveStates \ {admission.state} : admission' = [admission EXCEPT !.state = state]
  /\ step' = EventStep("Deactivate", None, "", 0)
  /\ UNCHANGED <<group, topics, offsets>>

\* P2, H5: the coordinator is active again: a new one that has loaded the log
\* notices the changes since (E1), and deletes the offsets of deleted topics
\* (T2).
Activate ==
  /\ ~IsActive
  /\ admission' = [admission EXCEPT !.state = Active]
  /\ UNCHANGED topics
  /\ IF ~Exists(group) THEN group' = group /\ step' = EventStep("Activate", None, "", 0)
     ELSE LET Install(installed) ==
                group' = DeriveRevocations(installed) /\ step' = EventStep("Activate", None, "", 0)
          IN \E loaded \in {NoticeTopics(AfterFailOver(group), topics)} :
             \E now \in ComputesNow("failover", loaded) : UpdateTarget(loaded, now, Install)
  /\ offsets' = Surviving(offsets, group, group', topics)

\* D5: rights are taken and given, which is no matter of the coordinator's.
ChangeRights ==
  /\ \E denied \in Denials \ {admission.denied} : admission' = [admission EXCEPT !.denied = denied]
  /\ step' = EventStep("ChangeRights", None, "", 0)
  /\ UNCHANGED <<group, topics, offsets>>

\* Steps of everybody but the administrator.
AnyoneElse ==
  \/ AdmittedHeartbeat \/ AdmittedOffsets
  \/ NotAdmittedHeartbeat \/ NotAdmittedOffsets
  \/ Happens \/ Unnoticed
  \/ Deactivate \/ Activate \/ ChangeRights

AdmissionNext == (AnyoneElse /\ admin' = NoAdmin) \/ AnyListGroups \/ AnyDeleteGroups
=============================================================================
