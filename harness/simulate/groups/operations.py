"""Requests and answers of a simulated coordinator, as operations of the line protocol.

With the group after each operation they are the coordinator's side of a simulation, a log that `conform
validate` reads. While the coordinator is down its clock stands still, and it refuses every request (H5); a
log that refuses records is the operation `commit` (P3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from harness.simulate.groups.parts import Cluster, Consumer, Machine, Parts
from harness.simulate.groups.run import play
from harness.simulate.groups.schedule import Schedule
from harness.targets.base import Json
from harness.targets.recording import Note

HELLO: Final = {
    "name": "python, simulated",
    "dialect": "kip-848",
    "apis": {},
    "controls": ["advance", "commit", "describe", "fire", "restart", "topics"],
    "unobserved": [],
}
REFUSED: Final = {"error": "the log took no records"}


def operations_of(parts: Parts, schedule: Schedule, settles: bool = False) -> list[Json]:
    """The operations of a schedule, up to its violation, if it has one: without answers, and without requests
    to a coordinator that was down."""
    operations: list[Json] = []
    noted = Noted(parts, lambda operation, answer: operations.append(operation), whole=False)
    play(noted, schedule.settings, schedule.events, settles)
    return operations


class Noted:
    """Parts whose coordinator's operations are noted as they come. A `whole` log also has the coordinator's
    hello, requests that it refuses because it is down, and each group after an operation that may have
    changed it."""

    def __init__(self, parts: Parts, note: Note, whole: bool = True) -> None:
        self._parts = parts
        self._note = note
        self._whole = whole

    def cluster(self, session_ms: int, heartbeat_ms: int) -> Cluster:
        """A new coordinator."""
        return _Noting(self._parts.cluster(session_ms, heartbeat_ms), self._note, self._whole)

    def member(self, consumer: Consumer) -> Machine:
        """A new member."""
        return self._parts.member(consumer)


class _Noting:
    """The methods are those of `harness.simulate.groups.parts.Cluster`."""

    def __init__(self, cluster: Cluster, note: Note, whole: bool) -> None:
        self._cluster = cluster
        self._note = note
        self._whole = whole
        self._groups: list[str] = []
        """The groups that a request named."""
        self._active = True
        self.group = cluster.group
        self.group_state = cluster.group_state
        self.durable = cluster.durable
        self.describe = cluster.describe
        if whole:
            note({"op": "hello"}, HELLO)
            note({"op": "load", "records": [], "topics": [], "volatile": {"clockMs": 0}}, {})

    def request(self, api: str, version: int, client: Json, body: Json) -> Json:
        """Noted with its response."""
        answer = self._cluster.request(api, version, client, body)
        if self._active or self._whole:
            operation = {"api": api, "version": version, "client": client, "body": body}
            self._note({"op": "request", **operation}, {"body": answer})
            if group := body.get("groupId"):
                self._groups += [] if group in self._groups else [group]
                self._describe([group])
        return answer

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        """Noted."""
        done = self._cluster.set_topics(upsert, delete)
        operation = {"op": "topics", "upsert": list(upsert), "delete": list(delete)}
        self._note(operation, {} if done else REFUSED)
        self._describe(self._groups)
        return done

    def advance(self, ms: int, stepped: Callable[[], None]) -> list[Json]:
        """Noted; while the coordinator is down no timer runs out, and the next one starts all timers anew."""
        fired = self._cluster.advance(ms, stepped)
        if self._active:
            self._note({"op": "advance", "ms": ms}, {"fired": fired})
            self._describe(self._groups if fired else ())
        return fired

    def delete_group(self, group: str) -> bool:
        """Noted."""
        done = self._cluster.delete_group(group)
        timer = {"timer": "group", "group": group, "member": ""}
        self._note({"op": "fire", **timer}, {"fired": [timer]} if done else REFUSED)
        self._describe([group])
        return done

    def set_state(self, state: str) -> None:
        """A fail-over is a restart from the log."""
        self._cluster.set_state(state)
        if state == "active" and not self._active:
            self._note({"op": "restart"}, {})
            self._describe(self._groups)
        self._active = state == "active"

    def fail_appends(self, failing: bool) -> None:
        """Noted."""
        self._cluster.fail_appends(failing)
        self._note({"op": "commit", "mode": "fail" if failing else "auto"}, {})

    def _describe(self, groups: Sequence[str]) -> None:
        for group in groups if self._whole else ():
            self._note({"op": "describe", "group": group}, {"group": self._cluster.describe(group)})
