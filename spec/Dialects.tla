------------------------------ MODULE Dialects ------------------------------
(***************************************************************************)
(* Where implementations depart from KIP-848's text, as named constants.   *)
(* A dialect is a choice of them; a model picks one in its configuration   *)
(* with `Dialect <- KIP848`.  The coordinator's configuration uses the     *)
(* same names.  Only departures that touch the modelled requirements are   *)
(* here: the wire form of requests is not modelled.                        *)
(***************************************************************************)

(*
  @typeAlias: dialect = {
    FirstGroupEpoch: Int, FencedMemberIsRemoved: Bool, RetrySubsetOf: Str,
    RevokingResetsPreviousEpoch: Bool, RejoinOfLiveMember: Str,
    JoinWithEmptySubscriptionBumps: Bool, AssignorChangeBumps: Bool,
    PendingInResponse: Bool, AssignmentSent: Str, RevocationRestart: Str,
    TargetOnRemoval: Str, TargetMayLag: Bool, MetadataChange: Str,
    UnknownGroupError: Str, LastLeaveAdvancesAssignmentEpoch: Bool
  };
*)
Dialects_aliases == TRUE

\* KIP-848's text, with the errata that the traceability table lists.
\* @type: $dialect;
KIP848 == [
  \* E1: the group epoch after the first join (a group starts at 0).
  FirstGroupEpoch |-> 1,
  \* H5: a wrong member epoch removes the member, which bumps the epoch.
  FencedMemberIsRemoved |-> TRUE,
  \* H6: a retry with the previous epoch is accepted if the reported
  \* partitions are a subset of the "target"; a report that is left out is a
  \* subset of anything.  "assigned": it must be given, a subset of assigned.
  RetrySubsetOf |-> "target",
  \* H6: entering the revocation overwrites the previous epoch.
  RevokingResetsPreviousEpoch |-> FALSE,
  \* H1: epoch 0 from a member that the group has: "replaces" it by a fresh
  \* one, "keeps" it and its assignment, or is "fenced".
  RejoinOfLiveMember |-> "replaces",
  \* E1: joining without subscribing to anything bumps the group epoch.
  JoinWithEmptySubscriptionBumps |-> TRUE,
  \* E1: naming another server side assignor bumps the group epoch.
  AssignorChangeBumps |-> TRUE,
  \* H9: responses carry PendingTopicPartitions.
  PendingInResponse |-> TRUE,
  \* R5: the assignment is sent "until-acknowledged", or "on-change" only (a
  \* join, a full request, or an assignment that changed).
  AssignmentSent |-> "until-acknowledged",
  \* R1: a target that changes while a member revokes "narrow"s what it may
  \* keep; "wait": nothing changes before it has acknowledged; "restore": the
  \* literal intersection with all that it holds, which gives partitions back.
  RevocationRestart |-> "narrow",
  \* E2: a removal computes the next target "at-once" or leaves it to the
  \* "next-heartbeat".
  TargetOnRemoval |-> "at-once",
  \* E2: a heartbeat may leave a due target to a later one.
  TargetMayLag |-> FALSE,
  \* E1: changed partition metadata is noticed "at-once" or by the
  \* "next-heartbeat".
  MetadataChange |-> "at-once",
  \* H5: what a member of a group that does not exist is told.
  UnknownGroupError |-> "UNKNOWN_MEMBER_ID",
  \* E2: the last member to leave takes the assignment epoch along.
  LastLeaveAdvancesAssignmentEpoch |-> TRUE
]

\* R1 read literally: the intersection of *all* that a member holds with its
\* target, also while it revokes.  Shipped because it must fail (R5).
\* @type: $dialect;
KIP848Literal == [KIP848 EXCEPT !.RevocationRestart = "restore"]
=============================================================================
