"""What a simulated coordinator was asked to do, as operations of the line protocol.

Requests that the coordinator refused because it was down, and a log that refused records, are no behaviour of
the specification: the former are left out, the latter are the operation `commit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.simulate.groups.parts import Cluster, Consumer, Machine, Parts
from harness.simulate.groups.run import play
from harness.simulate.groups.schedule import Schedule
from harness.targets.base import Json


def operations_of(parts: Parts, schedule: Schedule, settles: bool = False) -> list[Json]:
    """The operations of a schedule, until it shows a violation, if it does."""
    noted = _Noted(parts)
    play(noted, schedule.settings, schedule.events, settles)
    return noted.operations


class _Noted:
    """Parts whose coordinator writes down what it is asked."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.operations: list[Json] = []

    def cluster(self, session_ms: int, heartbeat_ms: int) -> Cluster:
        """A new coordinator."""
        return _Noting(self._parts.cluster(session_ms, heartbeat_ms), self.operations)

    def member(self, consumer: Consumer) -> Machine:
        """A new member."""
        return self._parts.member(consumer)


class _Noting:
    """The methods are those of `harness.simulate.groups.parts.Cluster`."""

    def __init__(self, cluster: Cluster, operations: list[Json]) -> None:
        self._cluster = cluster
        self._operations = operations
        self._active = True
        self.group = cluster.group
        self.group_state = cluster.group_state
        self.durable = cluster.durable

    def request(self, api: str, version: int, client: Json, body: Json) -> Json:
        """Noted unless the coordinator is down."""
        if self._active:
            asked = {"api": api, "version": version, "client": client, "body": body}
            self._operations.append({"op": "request", **asked})
        return self._cluster.request(api, version, client, body)

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        """Noted."""
        self._operations.append({"op": "topics", "upsert": list(upsert), "delete": list(delete)})
        return self._cluster.set_topics(upsert, delete)

    def advance(self, ms: int, stepped: Callable[[], None]) -> list[Json]:
        """Noted; while the coordinator is down nobody's time runs out, and the next one starts all anew."""
        if self._active:
            self._operations.append({"op": "advance", "ms": ms})
        return self._cluster.advance(ms, stepped)

    def delete_group(self, group: str) -> bool:
        """Noted."""
        self._operations.append({"op": "fire", "timer": "group", "group": group, "member": ""})
        return self._cluster.delete_group(group)

    def set_state(self, state: str) -> None:
        """A fail-over is a restart from the log."""
        if state == "active" and not self._active:
            self._operations.append({"op": "restart"})
        self._active = state == "active"
        self._cluster.set_state(state)

    def fail_appends(self, failing: bool) -> None:
        """Noted."""
        self._operations.append({"op": "commit", "mode": "fail" if failing else "auto"})
        self._cluster.fail_appends(failing)
