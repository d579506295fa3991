---------------------------- MODULE KafkaDialects ----------------------------
(***************************************************************************)
(* Departures of Apache Kafka's group coordinator from KIP-848's text, by  *)
(* version: choices of the constants of Dialects.  Each was observed in    *)
(* Kafka's own code, step by step, over the whole state graph of the       *)
(* models MCKafka*; no document describes them.                            *)
(*                                                                         *)
(* Left out: the wire form of requests, and the departures of the list     *)
(* below.                                                                  *)
(***************************************************************************)
EXTENDS Dialects

(***************************************************************************)
(* Departures without a constant.  No schedule or trace that is compared   *)
(* with Kafka shows them.  "In the models" is followed by what the models  *)
(* have of a departure; a departure without these words is not known to be *)
(* safe and live.                                                          *)
(***************************************************************************)
\* RegexResolution (since kafka-4.0) T1: a regular expression is resolved in
\*   the background, and bumps the group epoch only then.  In the models:
\*   MCKafka44Regex, MCKafka44RegexLive.
\* AssignorFailure (since kafka-4.0) E2: the request that runs an assignor
\*   fails if the assignor fails; in the text the target is kept.  In the
\*   models: the request is lost (LoseRequest), or its target comes late
\*   (MCKafka43Lags).
\* InstanceChange (since kafka-4.0) S1: the assignor does not see the target
\*   of a member that changes its instance id, since it looks for the target
\*   under the new id.  In the models: an assignor may return any legal
\*   target.
\* AwayWhileRevoking (since kafka-4.0) P2: a fail-over arms the rebalance
\*   timer of a static member that left for a while in the middle of a
\*   revocation, and that timer removes the member.  In the models: the
\*   member's session may end at any time, which does the same.
\* EmptyGroupCommits (since kafka-4.0) O2: in a group without members, a
\*   classic group, too, a commit with any epoch or generation below 0 is
\*   accepted, with any member id and instance id; where there is no group,
\*   the commit creates a classic group.  In the models: commits without a
\*   member id (OpenOffsets) write the same offsets.
\* UnknownGroupFetch (since kafka-4.0) O4: a member's fetch from a group that
\*   does not exist returns no committed offset, and no error.  In the models:
\*   a fetch without a member (OpenOffsets) has this answer.
\* EpochOfNobody (since kafka-4.1) O2: a fetch with a member epoch and no member id
\*   is answered with UNKNOWN_SERVER_ERROR.  In the models: MCKafka42StaticOffsets
\*   refuses that fetch, too, with UNKNOWN_MEMBER_ID.
\* AssignmentInterval (since kafka-4.3) E2: an interval
\*   (group.consumer.assignment.interval.ms) passes between two targets; it is
\*   0 in all comparisons; the first target of a group is computed at once.
\*   In the models: TargetMayLag in MCKafka43Lags, MCKafka43LagsOpen,
\*   MCKafka43LagsLive and those of 4.4.
\* GenerationUnrecorded (since kafka-4.0) C2: a generation is in the log with its
\*   assignment only.  In the models: GenerationRecorded in MCClassicKafkaLive,
\*   MCKafka42Migration and those of other versions, as all that follows.
\* SynchronizationGoesOn (since kafka-4.0) C2: while members wait for their
\*   assignment, a join without changed fields is answered with the
\*   generation; in the proposal all members must rejoin.  In the models:
\*   GenerationRecorded.
\* RebalanceTold (since kafka-4.0) M3: the time in which a member of the
\*   classic protocol must rejoin begins when an answer tells the member to;
\*   in the text it begins when the member must.  In the models:
\*   WaitsForRejoin in MCKafka42Migration.
\* SyncRefused (since kafka-4.0) M2: a SyncGroup of a member that is behind
\*   its target, and has nothing to give up, is answered with
\*   REBALANCE_IN_PROGRESS; in the text the answer has the partitions that the
\*   member may use.  In the models: KafkaSyncMixed in MCKafka42Migration.
\* JoinGeneration (since kafka-4.0) M2: a JoinGroup to a consumer group is
\*   accepted with any generation, and also from a member of the consumer
\*   protocol.  In the models: JoinFrom in MCKafka42Migration.
\* ProtocolsMix (since kafka-4.0) M2: a LeaveGroup removes a member of the
\*   consumer protocol, and a heartbeat of the consumer protocol turns a
\*   member of the classic protocol into a member of its own.  In the models:
\*   KafkaLeaveMixed, KafkaHandled in MCKafka42Migration.
\* ClaimsIgnored (since kafka-4.0) M1: when a group is converted, its members
\*   hold their last assignment, and their claims do not count; members
\*   without a generation are taken over, too.  In the models: KafkaUpgraded
\*   in MCKafka42Migration; MCKafka42MigrationClaims must fail (R7).
\* TargetBroughtBack (since kafka-4.0) M1: when a group is converted back, its
\*   members are assigned their target, and keep the claims of their last
\*   request.  In the models: KafkaDowngraded in MCKafka42Migration;
\*   MCKafka42MigrationBack must fail (R7).
\* EmptyForgotten (since kafka-4.0) E4: nothing is left of an empty group when
\*   it is converted, not even its epoch.  In the models:
\*   EpochsGoBackFromEmpty in MCKafka42Migration.
\* FirstDelayFails (since kafka-4.0) M1: a join that would convert a group in the
\*   first delay of its members is answered with UNKNOWN_SERVER_ERROR.
\* TimeoutsOutlive (since kafka-4.0) M2: time-outs of members of the classic
\*   protocol go on when their group is converted back, and remove the members
\*   if the group is converted again.
\* PlaceOfTheLast (since kafka-4.0) M1: when a JoinGroup takes the place (S1)
\*   of the last member of the consumer protocol, the group is converted back
\*   without a rebalance; in the text its members rejoin.
\* LateAnswers (since kafka-4.0) C1: a request is not answered if a later
\*   request of its member replaces it, and neither is a SyncGroup of a member
\*   that is removed.  In the models: IsAnswered in MCKafka42Migration.

\* @type: $dialect;
Kafka40 ==
  [KIP848 EXCEPT
     !.FencedMemberIsRemoved = FALSE,
     !.RetrySubsetOf = "assigned",
     !.PreviousEpochReset = "reconciliation",
     !.RejoinOfLiveMember = "fenced",
     !.JoinOwns = "empty",
     !.EmptyAssignorName = "unsupported",
     !.JoinWithEmptySubscriptionBumps = FALSE,
     !.AssignorChangeBumps = "never",
     !.PendingInResponse = FALSE,
     !.AssignmentSent = "on-change",
     !.RevocationAsked = "if-owned",
     !.RevocationRestart = "waits",
     !.AcknowledgedEpoch = "next",
     !.RevocationRecorded = TRUE,
     !.InstanceChecked = "fenced",
     !.AwaySession = "runs on",
     !.ReturnLeftOut = "kept",
     !.ReturnWritten = "whole",
     !.FullGroupRefuses = "strangers",
     !.TargetOnRemoval = "next-heartbeat",
     !.MetadataChange = "next-heartbeat",
     !.UnknownGroupError = "GROUP_ID_NOT_FOUND",
     !.OtherKindError = "GROUP_ID_NOT_FOUND",
     !.LastLeaveAdvancesAssignmentEpoch = FALSE,
     !.AwayCommits = TRUE,
     !.MemberIdAnswered = "always"]

\* Like 4.0 in all responses and states that are compared.  The topics of a
\* group are a record of their own in 4.0, and a hash from 4.1 on.
\* @type: $dialect;
Kafka41 == Kafka40

\* @type: $dialect;
Kafka42 ==
  [Kafka41 EXCEPT
     !.RejoinOfLiveMember = "keeps",
     !.RevocationRestart = "unsubscribed",
     !.AcknowledgedEpoch = "kept"]

\* @type: $dialect;
Kafka43 == [Kafka42 EXCEPT !.FirstGroupEpoch = 2, !.PartitionEpochs = TRUE]

\* @type: $dialect;
Kafka44 ==
  [Kafka43 EXCEPT
     !.AssignorChangeBumps = "if-preferred",
     !.FullGroupRefuses = "newcomers",
     !.LastLeaveAdvancesAssignmentEpoch = TRUE]
=============================================================================
