"""A driver of one Connect group of a coordinator. Connectors and tasks are "A" and "A-1"."""

from __future__ import annotations

from typing import Any

from coordinator import Coordinator, SimulatedClock

HEARTBEAT = "ConnectGroupHeartbeat"
PREPARE = "ConnectGroupPrepareAssignment"
INSTALL = "ConnectGroupInstallAssignment"
OFFER = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
IDS = {"A": "00000000-0000-4000-8000-00000000000a", "B": "00000000-0000-4000-8000-00000000000b"}

Json = dict[str, Any]


def resources(*names: str) -> list[Json]:
    """Connectors and tasks in their form on the wire."""
    if not names:
        return []
    tasks = [name.partition("-")[::2] for name in names if "-" in name]
    return [
        {
            "connectors": [name for name in names if "-" not in name],
            "tasks": [{"connectorId": name, "taskId": int(number)} for name, number in tasks],
        }
    ]


def named(given: list[Json]) -> str:
    """Connectors and tasks in one text: "A A-1"."""
    tasks = [f"{task['connectorId']}-{task['taskId']}" for one in given for task in one["tasks"]]
    return " ".join(sorted([name for one in given for name in one["connectors"]] + tasks))


class ConnectGroup:
    """A coordinator with the connector A of two tasks, and the group "g"."""

    def __init__(self, **options: Any) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(**{"clock": self.clock, **options})
        self.connector("A", 2)

    def connector(self, name: str, tasks: int) -> None:
        self.coordinator.upsert_topic(name, IDS[name], tasks + 1)

    def request(self, api: str, **body: Any) -> Json:
        client = {"id": "c", "host": "/h"}
        return self.coordinator.request(api, 0, client, {"groupId": "g", **body})

    def join(self, worker: str, owns: str = "", timeout_ms: int = 60_000, **body: Any) -> Json:
        full = {
            "rebalanceTimeoutMs": timeout_ms,
            "connectorsAndTasks": resources(*owns.split()),
            "clientAssignors": [OFFER],
        }
        return self.request(HEARTBEAT, **{"memberId": worker, "memberEpoch": 0, **full, **body})

    def beat(self, worker: str, epoch: int, owns: str | None = None, **body: Any) -> Json:
        reported = {} if owns is None else {"connectorsAndTasks": resources(*owns.split())}
        return self.request(HEARTBEAT, memberId=worker, memberEpoch=epoch, **reported, **body)

    def prepare(self, worker: str, epoch: int, **body: Any) -> Json:
        return self.request(PREPARE, **{"memberId": worker, "memberEpoch": epoch, **body})

    def install(self, worker: str, epoch: int, group_epoch: int, error: int = 0, **given: str) -> Json:
        parts = [
            {"memberId": name, "connectorsAndTasks": resources(*of_worker.split())}
            for name, of_worker in given.items()
        ]
        carried = {"groupEpoch": group_epoch, "error": error, "members": parts}
        return self.request(INSTALL, memberId=worker, memberEpoch=epoch, **carried)

    def rebalance(self, **given: str) -> None:
        """The chosen worker prepares and installs a target for the group's epoch."""
        chosen, epoch = self.group()["chosen"], self.group()["groupEpoch"]
        own = self.member(chosen)["memberEpoch"]
        assert self.prepare(chosen, own)["errorCode"] == 0
        assert self.install(chosen, own, epoch, **given)["errorCode"] == 0

    def group(self) -> Json:
        return self.coordinator.describe("g")

    def member(self, worker: str) -> Json:
        return next(one for one in self.group()["members"] if one["memberId"] == worker)

    def timers(self) -> dict[str, int]:
        """The timers, with the milliseconds until each runs out."""
        now_ms = self.coordinator.clock.now_ms()
        armed = self.group()["timers"]
        return {f"{one['timer']} {one['member']}".strip(): one["deadlineMs"] - now_ms for one in armed}

    def written(self, since: int) -> list[str]:
        """Types and workers of the records from there on; tombstones have a - before them."""
        return [
            f"{'' if one['value'] else '-'}{one['key']['type'].removeprefix('ConnectGroup')} "
            f"{one['key'].get('memberId', '')}".strip()
            for one in self.coordinator.records(since)
        ]
