"""The response of ConsumerGroupHeartbeat (H9). Every field of the schema is there; null says absent."""

from __future__ import annotations

from coordinator.consumer.model import Partitions, Target
from coordinator.consumer.request import HeartbeatRequest
from coordinator.core import wire
from coordinator.core.dialect import Dialect
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json


def answered_member_id(dialect: Dialect, request: HeartbeatRequest) -> str | None:
    """MemberIdAnswered (H9): the member id, in the answer to a join alone or in each."""
    return request.member_id if request.member_epoch == 0 or dialect.MemberIdAnswered == "always" else None


def heartbeat_response(
    member_id: str | None, member_epoch: int, interval_ms: int, computes: bool, assignment: Json | None
) -> Json:
    """The response of an accepted join or heartbeat; `assignment` is null where the member has it already
    (R5). `computes` tells the member to compute the target (A5)."""
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": member_id,
        "memberEpoch": member_epoch,
        "shouldComputeAssignment": computes,
        "heartbeatIntervalMs": interval_ms,
        "assignment": assignment,
    }


def leave_response(member_id: str | None, member_epoch: int) -> Json:
    """H2: the member has left, for good (-1) or for a while (-2)."""
    return heartbeat_response(member_id, member_epoch, 0, False, None)


def error_response(code: ErrorCode, message: str) -> Json:
    """An error and nothing else: member id and assignment are null, the member epoch is 0."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(code),
        "errorMessage": message,
        "memberId": None,
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def assignment_to_wire(assigned: Partitions, pending: Partitions, target: Target) -> Json:
    """The field Assignment: the partitions that the member may use, and those of its target that others have
    not released yet (R3); with the error and the metadata of the assignor that computed the target."""
    return {
        "error": target.error,
        "assignedTopicPartitions": wire.to_wire(assigned),
        "pendingTopicPartitions": wire.to_wire(pending),
        "metadataVersion": target.metadata_version,
        "metadataBytes": target.metadata_bytes,
    }
