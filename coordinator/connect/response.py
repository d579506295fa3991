"""The responses of the three Connect APIs (W4), by the draft's names; null says absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.connect import wire
from coordinator.connect.model import assignor_name, lost_by, workers_of
from coordinator.connect.records import assignors_to_wire
from coordinator.errors import ErrorCode
from coordinator.fields import Json
from coordinator.model import NO_TARGET, Group, Partition

GONE: Final = -1
"""Member epoch of a worker that PrepareAssignment tells of, but that is not there."""


def heartbeat_response(shared: Json, compute: bool) -> Json:
    """The answer to a consumer group's heartbeat in the draft's form; `compute` says to compute (W1)."""
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
            "version": 0,
            "metadata": "",
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
    """A heartbeat that is refused."""
    refused = _error(code, message)
    return {
        **refused,
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    }


def prepare_error(code: ErrorCode, message: str) -> Json:
    """No group state for this worker."""
    return {**_error(code, message), "groupEpoch": 0, "assignorName": None, "connectors": [], "members": []}


def prepare_response(group: Group, lost: Mapping[Partition, str]) -> Json:
    """PreparedWorkers (W2): every worker with its part of the target, then who has gone with what it lost."""
    members = []
    for name, member in sorted(group.members.items()):
        target = group.targets.get(name, NO_TARGET).partitions
        members.append(
            _prepared(name, member.epoch, assignors_to_wire(member.metadata), wire.to_wire(target))
        )
    members += [
        _prepared(name, GONE, [], wire.to_wire(lost_by(lost, name))) for name in sorted({*lost.values()})
    ]
    return {
        **_error(ErrorCode.NONE, None),
        "groupEpoch": group.epoch,
        "assignorName": assignor_name(workers_of(group)),
        "connectors": [
            {"connectorId": name, "numTasks": image.partitions - 1}
            for name, image in sorted(group.metadata.items())
        ],
        "members": members,
    }


def _prepared(name: str, epoch: int, assignors: list[Json], resources: list[Json]) -> Json:
    return {"memberId": name, "memberEpoch": epoch, "assignors": assignors, "connectorsAndTasks": resources}


def install_response(code: ErrorCode = ErrorCode.NONE, message: str | None = None) -> Json:
    """Whether the target was installed."""
    return _error(code, message)


def _error(code: ErrorCode, message: str | None) -> Json:
    return {"throttleTimeMs": 0, "errorCode": int(code), "errorMessage": message}
