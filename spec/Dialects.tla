------------------------------ MODULE Dialects ------------------------------
(***************************************************************************)
(* Where implementations depart from KIP-848's text, as named constants.   *)
(* A dialect is a choice of them; a model picks one in its configuration   *)
(* with `Dialect <- KIP848`.  The coordinator's configuration has the same *)
(* names.  Left out: departures that touch no modelled requirement, since  *)
(* the wire form of requests is not modelled.                              *)
(***************************************************************************)

(*
  @typeAlias: dialect = {
    FirstGroupEpoch: Int, FencedMemberIsRemoved: Bool, RetrySubsetOf: Str,
    PreviousEpochReset: Str, RejoinOfLiveMember: Str, JoinOwns: Str,
    EmptyAssignorName: Str, JoinWithEmptySubscriptionBumps: Bool, AssignorChangeBumps: Str,
    PendingInResponse: Bool, AssignmentSent: Str, RevocationAsked: Str,
    RevocationRestart: Str, AcknowledgedEpoch: Str, RevocationRecorded: Bool, InstanceChecked: Str,
    AwaySession: Str, ReturnLeftOut: Str, ReturnWritten: Str, FullGroupRefuses: Str,
    TargetOnRemoval: Str, TargetMayLag: Bool, MetadataChange: Str,
    UnknownGroupError: Str, OtherKindError: Str, LastLeaveAdvancesAssignmentEpoch: Bool,
    AwayCommits: Bool, PartitionEpochs: Bool, MemberIdAnswered: Str
  };
*)
Dialects_aliases == TRUE

\* KIP-848's text, with the errata that the traceability table lists.
\* @type: $dialect;
KIP848 == [
  \* E1: the group epoch after the first join (a group starts one below).
  FirstGroupEpoch |-> 1,
  \* H5: a wrong member epoch removes the member, which bumps the epoch.
  FencedMemberIsRemoved |-> TRUE,
  \* H6: a retry with the previous epoch is accepted if the reported partitions
  \* are a subset of the "target"; a report that is left out is a subset of any
  \* set.  "assigned": the report must be present, and a subset of the assigned
  \* partitions.
  RetrySubsetOf |-> "target",
  \* H6: the previous epoch is overwritten when the epoch "advances", or by
  \* every "reconciliation" with a target that is not reached yet.
  PreviousEpochReset |-> "advances",
  \* H1: epoch 0 from a member of the group "replaces" the member by a fresh
  \* one, "keeps" the member and its assignment, or is "fenced" if it is no
  \* retry (H6).
  RejoinOfLiveMember |-> "replaces",
  \* H3: the owned partitions of a join are "ignored", or must be "empty".
  JoinOwns |-> "ignored",
  \* H3, H4: a server side assignor without a name is "invalid" in a request,
  \* or "unsupported", like any name of an assignor that the coordinator does
  \* not have.
  EmptyAssignorName |-> "invalid",
  \* E1: a join with an empty subscription bumps the group epoch.
  JoinWithEmptySubscriptionBumps |-> TRUE,
  \* E1: naming another server side assignor bumps the group epoch "always",
  \* "never", or "if-preferred": if that changes the assignor that the group
  \* prefers.
  AssignorChangeBumps |-> "always",
  \* H9: responses carry PendingTopicPartitions.
  PendingInResponse |-> TRUE,
  \* R5: the assignment is sent "until-acknowledged", or "on-change" only (a
  \* join, a full request, or an assignment that changed).
  AssignmentSent |-> "until-acknowledged",
  \* R1: a member is "always" told to revoke and must acknowledge, or only
  \* "if-owned": partitions that its request does not report are released at
  \* once.
  RevocationAsked |-> "always",
  \* R1: a target that changes while a member revokes "narrow"s the partitions
  \* that the member may keep; "unsubscribed": only topics from which the
  \* member itself unsubscribes are revoked, too, all else waits; "waits":
  \* these wait, too; "restore": the literal intersection with all partitions
  \* that the member holds, which gives partitions back.
  RevocationRestart |-> "narrow",
  \* R1: a member that has acknowledged a revocation, and must revoke again at
  \* once, keeps its epoch ("kept"), or moves to the "next" epoch first.
  AcknowledgedEpoch |-> "kept",
  \* P1: a member's record has its previous epoch and the partitions that it
  \* revokes, so that a fail-over keeps them.
  RevocationRecorded |-> FALSE,
  \* S2: any request with an instance id that another member has is
  \* "unreleased". "fenced": only a join is unreleased, also a join of the
  \* member itself; any other request is fenced, or unknown if no member has
  \* the instance id.
  InstanceChecked |-> "unreleased",
  \* S1: leaving for a while has the session "renewed", or it "runs on".  Here
  \* time-outs are untimed; traces are replayed with a clock.
  AwaySession |-> "renewed",
  \* S1: a field that a returning member leaves out is "forgotten", as in any
  \* join, or "kept" as its place had it.
  ReturnLeftOut |-> "forgotten",
  \* P1: the record of a member that returns is written for "what changed", or
  \* as a "whole".
  ReturnWritten |-> "what changed",
  \* H5: a full group refuses "joins"; or all requests of "strangers", whose
  \* member id the group does not have; or those of "newcomers", strangers
  \* whose instance id the group does not have either.
  FullGroupRefuses |-> "joins",
  \* E2: a removal computes the next target "at-once" or leaves it to the
  \* "next-heartbeat".
  TargetOnRemoval |-> "at-once",
  \* E2: a heartbeat may leave a due target to a later heartbeat.
  TargetMayLag |-> FALSE,
  \* E1: changed partition metadata is noticed "at-once" or by the
  \* "next-heartbeat".
  MetadataChange |-> "at-once",
  \* H5: the error for a member of a group that does not exist.
  UnknownGroupError |-> "UNKNOWN_MEMBER_ID",
  \* H5: the error of a join to a group of another kind that cannot become a
  \* consumer group.
  OtherKindError |-> "INVALID_REQUEST",
  \* E2: the last member to leave also sets the assignment epoch to the new
  \* group epoch.
  LastLeaveAdvancesAssignmentEpoch |-> TRUE,
  \* O2, O4: a commit or a fetch may have the member epoch -2 of a static
  \* member that is away.
  AwayCommits |-> FALSE,
  \* O2: every partition has the member epoch at which its member got the
  \* partition; a commit with an older epoch than the member's is accepted if
  \* the epoch is not older than the partition's.
  PartitionEpochs |-> FALSE,
  \* H9: an answer without an error has the member id if the member "joins",
  \* with epoch 0, or "always".  In the specification each answer names its
  \* addressee.
  MemberIdAnswered |-> "joins"
]

\* R1 read literally: the intersection of *all* partitions that a member holds
\* with its target, also while it revokes.  Its model must fail (R5).
\* @type: $dialect;
KIP848Literal == [KIP848 EXCEPT !.RevocationRestart = "restore"]
=============================================================================
