"""The responses of the three Connect APIs (W4), by the draft's names; null says absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.connect import wire
from coordinator.connect.model import assignor_name, lost_by, workers_of
from coordinator.consumer.model import NO_TARGET, Group, MemberMetadata, Partition
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json

GONE: Final = -1
"""The member epoch, in PrepareAssignment's answer, of a worker that is not in the group any more."""


def heartbeat_response(shared: Json, compute: bool) -> Json:
    """The answer of a consumer group's heartbeat in the draft's form; `compute` tells the worker to compute
    (W1)."""
    assignment = shared["assignment"]
    if assignment is not None:
        assigned = frozenset(
            (entry["topicId"], number)
            for entry in assignment["assignedTopicPartitions"]
            for number in entry["partitions"]
        )
        assignment = {
            "error": assignment["error"],
            "connectorsAndTasks": wire.to_wire(assigned),
            "version": assignment["metadataVersion"],
            "metadata": assignment["metadataBytes"],
        }
    return {
        "throttleTimeMs": 0,
        "errorCode": shared["errorCode"],
        "errorMessage": shared["errorMessage"],
        "memberEpoch": shared["memberEpoch"],
        "shouldComputeAssignment": compute,
        "heartbeatIntervalMs": shared["heartbeatIntervalMs"],
        "assignment": assignment,
    }


def heartbeat_error(code: ErrorCode, message: str) -> Json:
    """The response of a heartbeat that is refused."""
    refused = _error(code, message)
    return {
        **refused,
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def prepare_error(code: ErrorCode, message: str) -> Json:
    """The response with an error, and without the group's state."""
    return {**_error(code, message), "groupEpoch": 0, "assignorName": None, "connectors": [], "members": []}


def prepare_response(group: Group, lost: Mapping[Partition, str]) -> Json:
    """PreparedWorkers (W2): every worker with its part of the target, then workers that have gone with their
    lost work."""
    workers = workers_of(group)
    name = assignor_name(workers)
    members = [
        {
            "memberId": worker,
            "memberEpoch": group.members[worker].epoch,
            "instanceId": metadata.instance_id,
            "assignor": _selected(metadata, name),
            "connectorsAndTasks": wire.to_wire(group.targets.get(worker, NO_TARGET).partitions),
        }
        for worker, metadata in sorted(workers.items())
    ]
    members += [
        {
            "memberId": worker,
            "memberEpoch": GONE,
            "instanceId": None,
            "assignor": None,
            "connectorsAndTasks": wire.to_wire(lost_by(lost, worker)),
        }
        for worker in sorted({*lost.values()})
    ]
    return {
        **_error(ErrorCode.NONE, None),
        "groupEpoch": group.epoch,
        "assignorName": name,
        "connectors": [
            {"connectorId": connector, "numTasks": image.partitions - 1}
            for connector, image in sorted(group.metadata.items())
        ],
        "members": members,
    }


def _selected(metadata: MemberMetadata, name: str | None) -> Json | None:
    """A worker's entry for the selected assignor; None if the workers have no assignor in common."""
    offer = next((one for one in metadata.client_assignors if one.name == name), None)
    if offer is None:
        return None
    return {"version": offer.metadata_version, "reason": offer.reason, "metadata": offer.metadata_bytes}


def install_response(code: ErrorCode = ErrorCode.NONE, message: str | None = None) -> Json:
    """The response of an install: success, or an error."""
    return _error(code, message)


def _error(code: ErrorCode, message: str | None) -> Json:
    return {"throttleTimeMs": 0, "errorCode": int(code), "errorMessage": message}
