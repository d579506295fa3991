----------------------------- MODULE MCAdmission ----------------------------
(***************************************************************************)
(* Bounds of the open instance with a coordinator that is not always the   *)
(* group's: 1 member, 1 partition, commits of members and of processes     *)
(* that are none; and what admission must always satisfy, stated without   *)
(* its operators.                                                          *)
(***************************************************************************)
EXTENDS MCOpen, OpenAdmission

OneMember == {"m1"}
OnePartition == {<<"foo", 0>>}
OnlyMoved == {"moved"}
NobodyIsDenied == {{}}
\* @type: Set($request);
NoRefusedRequests == {}
OneOrNone == {[t \in MCTopics |-> n] : n \in 0..1}
OneOffset == {0}
OneEpoch == {1}
MCInactiveStates == {"loading", "moved", "unavailable"}
MCDenials == {{}, {"READ"}, {"DESCRIBE"}, {"DELETE"}}

\* H3: no epoch that a client sends.
MCOddRequest == {[NoRequest EXCEPT !.member = "m1", !.epoch = -9]}

\* A join, which is a rejoin if the sender is a member; a heartbeat that keeps
\* a member alive, and one that is fenced; both ways to leave; an invalid
\* request.
MCRefusedRequests ==
  {[NoRequest EXCEPT !.member = "m1", !.epoch = 0, !.owned = {{}}, !.subscription = {{"foo"}}],
   [NoRequest EXCEPT !.member = "m1", !.epoch = 1],
   [NoRequest EXCEPT !.member = "m1", !.epoch = 7],
   [NoRequest EXCEPT !.member = "m1", !.epoch = -1]} \cup MCOddRequest

AdmissionBoundedNext == AdmissionNext /\ group'.epoch <= MaxEpoch
AdmissionBoundedSpec == AdmissionInit /\ [][AdmissionBoundedNext]_admissionVars

\* Topics that change while the coordinator is away; the member joins, reports
\* nothing and stays.
GrowsNext ==
  /\ AdmissionNext /\ group'.epoch <= MaxEpoch
  /\ step'.action \in {"Join", "CreateTopic", "AddPartitions", "DeleteTopic", "Activate", "Deactivate"}
GrowsSpec == AdmissionInit /\ [][GrowsNext]_admissionVars

\* Invariants.  E1: an active coordinator knows the topics; none has a target
\* that is no longer legal (A4).
ActiveHasNoticed == admission.state = "active" => AllTopicsNoticed
ActiveTargetIsLegal == admission.state = "active" => TargetIsLegal

\* T2: an active coordinator keeps no offsets of a topic that is gone.
ActiveKeepsNoOldOffsets ==
  admission.state = "active" => \A p \in Partitions : topics[p[1]] = -1 => offsets[p] = -1

Heartbeats == {"Join", "Rejoin", "Return", "Heartbeat", "Leave", "LeaveTemporarily"}
IsRequest == step'.action \in Heartbeats \cup {"OffsetCommit", "OffsetFetch", "DeleteGroups"}
RefusedWith == {"GROUP_AUTHORIZATION_FAILED", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
                "COORDINATOR_NOT_AVAILABLE"}

\* Step properties.  H5, D5: a client without the right gets the error of that,
\* whatever the coordinator's state; then comes the error of that state; no
\* other client gets either error.
RefusedExactly ==
  [][IsRequest =>
       LET right == IF step'.action = "OffsetFetch" THEN "DESCRIBE"
                    ELSE IF step'.action = "DeleteGroups" THEN "DELETE" ELSE "READ"
           error == step'.response.error
           may == right \notin admission.denied
       IN /\ (error = "GROUP_AUTHORIZATION_FAILED") = ~may
          /\ (error = "COORDINATOR_LOAD_IN_PROGRESS") = (may /\ admission.state = "loading")
          /\ (error = "NOT_COORDINATOR") = (may /\ admission.state = "moved")
          /\ (error = "COORDINATOR_NOT_AVAILABLE") = (may /\ admission.state = "unavailable")]_admissionVars

\* H5: a client that is refused so gets no other field, and changes nothing.
RefusalsSayAndChangeNothing ==
  [][IsRequest /\ step'.response.error \in RefusedWith =>
       /\ UNCHANGED <<group, topics, offsets, admission>>
       /\ step'.response.assignment = {} /\ step'.response.member = "" /\ step'.response.epoch = 0
       /\ step'.offset \in {0, -1}]_admissionVars

\* D1, H5: the groups of a coordinator that has moved away are not listed, and
\* that is no error; a coordinator that loads or is unavailable answers with
\* its error.
MovedListsNothing ==
  [][step'.action = "ListGroups" =>
       LET error == step'.response.error IN
       /\ (error = "COORDINATOR_LOAD_IN_PROGRESS") = (admission.state = "loading")
       /\ (error = "COORDINATOR_NOT_AVAILABLE") = (admission.state = "unavailable")
       /\ (error = "NONE") = (admission.state \in {"active", "moved"})
       /\ admission.state # "active" => admin'.listed = {}]_admissionVars

\* D1, D5: an active coordinator lists its group to a client with the right to
\* DESCRIBE it.
ListedToWhoMay ==
  [][step'.action = "ListGroups" /\ admission.state = "active" =>
       LET there == group.epoch > 0 \/ \E p \in Partitions : offsets[p] # -1 IN
       (admin'.listed # {}) = (there /\ "DESCRIBE" \notin admission.denied)]_admissionVars

\* D1: a list changes nothing; a deletion takes a group without members, whole.
AdministratorChanges ==
  [][/\ step'.action = "ListGroups" => UNCHANGED <<group, topics, offsets, admission>>
     /\ step'.action = "DeleteGroups" =>
          IF step'.response.error = "NONE"
          THEN /\ \A m \in MemberIds : group.members[m].epoch = NotInGroup
               /\ group'.epoch = 0 /\ \A p \in Partitions : offsets'[p] = -1
          ELSE UNCHANGED <<group, topics, offsets, admission>>]_admissionVars

\* H5, H8: nothing of the group changes as the coordinator ceases to be active,
\* or while it is not.
InactiveIsStill == [][admission'.state # "active" => UNCHANGED <<group, offsets>>]_admissionVars

\* P2, T2: a coordinator that is active again has lost no member, no epoch and
\* nothing that is held; and of the offsets those of deleted topics alone.
ActivatesWithTheLog ==
  [][step'.action = "Activate" =>
       /\ admission'.state = "active"
       /\ group'.metadata = group.metadata => group'.epoch = group.epoch
       /\ \A p \in Partitions : offsets'[p] = IF topics[p[1]] = -1 THEN -1 ELSE offsets[p]
       /\ \A m \in MemberIds :
            /\ group'.members[m].epoch = group.members[m].epoch
            /\ group'.members[m].subscription = group.members[m].subscription
            /\ group'.members[m].assigned \cup group'.members[m].revoking =
               group.members[m].assigned \cup group.members[m].revoking]_admissionVars

\* D5: rights are not the group's, nor the coordinator's.
RightsAreApart ==
  [][/\ step'.action = "ChangeRights" => UNCHANGED <<group, topics, offsets>> /\ admission'.state = admission.state
     /\ admission'.denied # admission.denied => step'.action = "ChangeRights"]_admissionVars

\* E1, H5: a control, which must fail: topics that are noticed at any moment.
NoticedAtOnce == AllTopicsNoticed

\* H3, H5: a control, which must fail: requests that are validated first.
ValidatedFirst ==
  [][step'.action \in Heartbeats /\ step'.request.epoch < Away => step'.response.error = "INVALID_REQUEST"]_admissionVars
=============================================================================
