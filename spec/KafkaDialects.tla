---------------------------- MODULE KafkaDialects ----------------------------
(***************************************************************************)
(* What Apache Kafka's group coordinator does otherwise than KIP-848's     *)
(* text, by version: choices of the constants of Dialects.  Each is what   *)
(* Kafka's own code did, step by step, over the whole state graph of the   *)
(* models MCKafka*; it is not written in any document.                     *)
(*                                                                         *)
(* Left out: regular expressions, which Kafka resolves later and apart;    *)
(* time between two targets (group.consumer.assignment.interval.ms, from   *)
(* 4.3 on), which is 0 here; the wire form of requests; member ids that    *)
(* change their instance id: Kafka looks for the target of such a member   *)
(* under the instance id, where it is not, and leaves it without one.  In  *)
(* 4.0 and 4.1 a topic that a member gives up while it revokes waits, too; *)
(* RevocationRestart cannot say that yet.                                  *)
(***************************************************************************)
EXTENDS Dialects

\* @type: $dialect;
Kafka40 ==
  [KIP848 EXCEPT
     !.FencedMemberIsRemoved = FALSE,
     !.RetrySubsetOf = "assigned",
     !.PreviousEpochReset = "reconciliation",
     !.RejoinOfLiveMember = "fenced",
     !.JoinOwns = "empty",
     !.JoinWithEmptySubscriptionBumps = FALSE,
     !.AssignorChangeBumps = "never",
     !.PendingInResponse = FALSE,
     !.AssignmentSent = "on-change",
     !.RevocationAsked = "if-owned",
     !.RevocationRestart = "unsubscribed",
     !.RevocationRecorded = TRUE,
     !.InstanceChecked = "fenced",
     !.AwaySession = "runs on",
     !.ReturnLeftOut = "kept",
     !.ReturnWritten = "whole",
     !.FullGroupRefuses = "strangers",
     !.TargetOnRemoval = "next-heartbeat",
     !.MetadataChange = "next-heartbeat",
     !.UnknownGroupError = "GROUP_ID_NOT_FOUND",
     !.LastLeaveAdvancesAssignmentEpoch = FALSE]

\* In the responses and states that are compared as 4.0.  What a group has
\* seen of its topics is a record of its own in 4.0, and a hash from 4.1 on.
\* @type: $dialect;
Kafka41 == Kafka40

\* @type: $dialect;
Kafka42 == [Kafka41 EXCEPT !.RejoinOfLiveMember = "keeps"]

\* @type: $dialect;
Kafka43 == [Kafka42 EXCEPT !.FirstGroupEpoch = 2]

\* @type: $dialect;
Kafka44 ==
  [Kafka43 EXCEPT
     !.AssignorChangeBumps = "if-preferred",
     !.FullGroupRefuses = "newcomers",
     !.LastLeaveAdvancesAssignmentEpoch = TRUE]
=============================================================================
