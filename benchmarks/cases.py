"""The cases by the names under which `measure.in_fresh_process` runs them, each with its measurement."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.groups import (
    CONFIG,
    join,
    leave,
    new_coordinator,
    request,
    stable_group,
    topics_on_wire,
)
from benchmarks.measure import Measured, in_fresh_process, measure
from benchmarks.shapes import Shape, Size, assign, member_id, spec, subscriptions_of, topic_name
from coordinator import Coordinator, SimulatedClock
from coordinator.core.storage import SqliteStorage

STEPS: Final = ("initial", "join", "leave")
ROUNDS: Final = 3


def assignor(shape: list[str], size: list[int], step: str) -> Measured:
    """An assignor alone: the first assignment, or the next one after one member more or less."""
    form, extent = Shape(*shape), Size(*size)
    members = subscriptions_of(form, extent, extent.members + 1)
    joining = member_id(extent.members)
    given = spec({id_: topics for id_, topics in members.items() if id_ != joining}, extent)
    if step == "join":
        given = spec(members, extent, assign(form, given))
    elif step == "leave":
        left = dict(members)
        del left[member_id(extent.members // 2)]
        given = spec(left, extent, assign(form, spec(members, extent)))
    return measure([partial(assign, form, given)] * ROUNDS)


def through_coordinator(shape: list[str], size: list[int], step: str) -> Measured:
    """The request that joins or leaves a stable group, and computes the target that is due then."""
    form, extent = Shape(*shape), Size(*size)
    members = subscriptions_of(form, extent, extent.members + ROUNDS)
    joining = [member_id(extent.members + number) for number in range(ROUNDS)]
    present = {id_: topics for id_, topics in members.items() if id_ not in joining}
    coordinator = stable_group(form.assignor, extent, present, assign(form, spec(present, extent)))
    if step == "leave":
        return measure([partial(leave, coordinator, "g", member_id(number)) for number in range(ROUNDS)])
    return measure(
        [
            partial(join, coordinator, "g", id_, sorted(map(topic_name, members[id_])), form.assignor)
            for id_ in joining
        ]
    )


def heartbeat(members: int, heartbeats: int, senders: int) -> Measured:
    """Heartbeats without news, of so many members in turn; 10 partitions each. The seconds are those of one
    heartbeat."""
    extent = Size(members, max(1, members // 10))
    form = Shape("uniform", "all")
    present = subscriptions_of(form, extent, members)
    assignment = assign(form, spec(present, extent))
    coordinator = stable_group(form.assignor, extent, present, assignment)
    bodies = []
    for id_, partitions in assignment.items():
        topics: dict[str, list[int]] = {}
        for topic, index in sorted(partitions):
            topics.setdefault(topic, []).append(index)
        body = {"groupId": "g", "memberId": id_, "memberEpoch": 1}
        owned = [{"topicId": topic, "partitions": indexes} for topic, indexes in topics.items()]
        request(coordinator, {**body, "topicPartitions": owned})
        bodies.append(body)
    sent = [bodies[number % senders] for number in range(heartbeats)]
    end = coordinator.end
    measured = measure([partial(_send, coordinator, sent)] * ROUNDS)
    if coordinator.end != end:
        raise AssertionError("a heartbeat that should change nothing wrote a record")
    return replace(measured, cpu_s=measured.cpu_s / heartbeats, wall_s=measured.wall_s / heartbeats)


def _send(coordinator: Coordinator, bodies: Sequence[dict[str, Any]]) -> None:
    for body in bodies:
        request(coordinator, body)


def load(log: str, source: str) -> Measured:
    """A coordinator that takes over a log: JSON records ("records") or the storage ("sqlite")."""
    if source == "sqlite":
        return measure([lambda: _open(log)])
    topics, records = json.loads(Path(log).read_text())
    coordinator = Coordinator(clock=SimulatedClock(), config=CONFIG)
    return measure([lambda: coordinator.load(records, topics, {})])


def _open(log: str) -> None:
    storage = SqliteStorage(log)
    Coordinator(clock=SimulatedClock(), config=CONFIG, storage=storage)
    storage.close()


class _Entries:
    """A storage that only keeps its entries in memory."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def read(self) -> Sequence[str]:
        """No entries: the storage of a new coordinator."""
        return ()

    def append(self, entries: Sequence[str]) -> None:
        """Keep the entries."""
        self.entries.extend(entries)

    def rewrite(self, entries: Sequence[str]) -> None:
        """Keep only these entries."""
        self.entries = list(entries)

    def close(self) -> None:
        """Do nothing: there is no file to close."""


def write_logs(folder: Path, groups: int, members: int = 3, partitions: int = 6) -> tuple[Path, Path, int]:
    """The log of so many groups, written by requests of their members, as JSON and in SQLite; its records."""
    entries = _Entries()
    coordinator = new_coordinator(1, partitions, entries)
    for group in range(groups):
        name = f"group-{group:05d}"
        for member in range(members):
            join(coordinator, name, member_id(member), [topic_name(0)], "uniform")
    as_json, as_sqlite = folder / "log.json", folder / "log.sqlite"
    as_json.write_text(json.dumps([topics_on_wire(1, partitions), coordinator.records()]))
    storage = SqliteStorage(str(as_sqlite))
    storage.append(entries.entries)
    storage.close()
    return as_json, as_sqlite, coordinator.end


CASES: Final[dict[str, Callable[..., Measured]]] = {
    "assignor": assignor,
    "coordinator": through_coordinator,
    "heartbeat": heartbeat,
    "load": load,
}


def loads(groups: int) -> tuple[int, dict[str, Measured]]:
    """The records of such a log, and the time that it takes to load from each source."""
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        as_json, as_sqlite, records = write_logs(Path(folder), groups)
        return records, {
            source: in_fresh_process("load", log=str(log), source=source)
            for source, log in (("records", as_json), ("sqlite", as_sqlite))
        }
