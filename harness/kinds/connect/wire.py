"""Names and forms of Connect groups on the wire (W4): connectors, tasks, assignors, bodies of requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from harness.kinds.connect.state import ASSIGNOR, EVERYBODYS, ConnectState, Names
from harness.kinds.fields import Partition
from harness.kinds.rows import Forms
from harness.replay import wire
from harness.targets.base import Json

HEARTBEAT: Final = "ConnectGroupHeartbeat"
PREPARE: Final = "ConnectGroupPrepareAssignment"
INSTALL: Final = "ConnectGroupInstallAssignment"


def resources(partitions: Iterable[Partition]) -> list[Json]:
    """The normal form of a set of connectors and tasks: the connector is number 0 of its tasks."""
    every = sorted(partitions)
    if not every:
        return []
    tasks = [{"connectorId": name, "taskId": number} for name, number in every if number]
    return [{"connectors": [name for name, number in every if not number], "tasks": tasks}]


def connectors(counts: Mapping[str, int]) -> list[Json]:
    """[{"connectorId", "numTasks"}] by id; the specification counts the connector among its tasks."""
    return [
        {"connectorId": name, "numTasks": count - 1} for name, count in sorted(counts.items()) if count > 0
    ]


SHOWN: Final[Forms] = {"partitions": resources, "sizes": connectors, "texts": sorted}
"""The forms of a Connect group's fields in JSON, by the names of `harness.kinds.rows`."""


def assignors(reason: int, versions: tuple[int, int] = EVERYBODYS, names: Names = (ASSIGNOR,)) -> list[Json]:
    """The assignors of a worker, its reason (W2), and metadata of the first version that it reads (W1)."""
    least, most = versions
    offer = {"minimumVersion": least, "maximumVersion": most, "version": least}
    return [{"name": name, **offer, "reason": reason, "metadata": ""} for name in names]


def assignors_of(state: ConnectState, worker: str) -> list[Json]:
    """The assignors of a worker of the group, as the worker has given them."""
    return assignors(state.work.reasons.get(worker, 0), state.versions_of(worker), state.names_of(worker))


def selected(reason: int, versions: tuple[int, int]) -> Json:
    """The offer of the selected assignor, in the form of PrepareAssignment's answer."""
    (offered,) = assignors(reason, versions)  # all offers of a worker differ only in their names
    return {name: offered[name] for name in ("version", "reason", "metadata")}


def heartbeat(after: ConnectState) -> Json:
    """The body of a ConnectGroupHeartbeat; a join has all fields, its reason too."""
    request = after.step.request
    names = after.names_offered if request.assignor is None else None
    versions = after.versions_of(request.member)
    return {
        "groupId": wire.GROUP,
        "memberId": request.member,
        "memberEpoch": request.epoch,
        "instanceId": request.instance,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS if request.epoch == 0 else -1,
        "serverAssignor": request.assignor,
        "clientAssignors": None if names is None else assignors(after.call.reason or 0, versions, names),
        "connectorsAndTasks": None if request.owned is None else resources(request.owned),
    }


def prepare(after: ConnectState) -> Json:
    """The body of a ConnectGroupPrepareAssignment."""
    request = after.step.request
    return {"groupId": wire.GROUP, "memberId": request.member, "memberEpoch": request.epoch}


def install(after: ConnectState) -> Json:
    """The body of a ConnectGroupInstallAssignment; a resource that is given twice appears twice."""
    given = [*after.call.target.items()]
    again = {who: partitions & after.call.twice for who, partitions in given}
    given += [(who, partitions) for who, partitions in again.items() if partitions]
    return {
        **prepare(after),
        "groupEpoch": after.call.group_epoch,
        "error": 0,
        "members": [
            {"memberId": who, "connectorsAndTasks": resources(partitions), "version": 0, "metadata": ""}
            for who, partitions in given
        ],
    }
