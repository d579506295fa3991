"""A member's state machine under a schedule on a simulated clock, with the coordinator in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from harness.clients.draw import TOPICS
from harness.clients.front import GROUP, Front
from harness.clients.judge import Judged, judge
from harness.clients.timeline import FIND, Event, Partitions, Setup
from harness.simulate.groups.parts import Cluster, Consumer, Machine, Parts
from harness.targets.base import Json

_NAMES: Final = {"on_partitions_revoked": "revoked", "on_partitions_assigned": "assigned"} | {
    "on_partitions_lost": "lost",
    "on_commit_complete": "committed",
}
_CLIENT: Final = {"id": "client", "host": "/127.0.0.1"}
_SETTLE_INTERVALS: Final = 12
Make = Callable[[Consumer], Machine]
"""A function that makes the member of a process."""


def topic_ids() -> dict[str, str]:
    """Topic id -> name of the topics of a schedule."""
    return {str(UUID(int=number)): name for number, name in enumerate(TOPICS, 1)}


@dataclass(slots=True)
class _Answer:
    due_ms: int
    number: int
    correlation: int
    body: Json | None


@dataclass(slots=True)
class Simulation:
    """One run. Times are in milliseconds of the simulated clock."""

    cluster: Cluster
    make: Make
    setup: Setup
    now_ms: int = 0
    names: dict[str, str] = field(default_factory=topic_ids)
    front: Front = field(init=False)
    _member: Machine | None = None
    _answer: _Answer | None = None
    _running: bool = False
    _partitions: dict[str, int] = field(default_factory=lambda: dict(TOPICS))
    _tick_ms: int = 0
    _processes: int = 0
    _fetched: Partitions = frozenset()

    def __post_init__(self) -> None:
        self.front = Front(self.cluster, self.names, lambda: self.now_ms)
        self._set_topics()

    def _set_topics(self) -> None:
        ids = {name: topic_id for topic_id, name in self.names.items()}
        self.cluster.set_topics(
            [{"name": name, "id": ids[name], "partitions": n} for name, n in self._partitions.items()], []
        )

    def run(self, steps: Sequence[Json]) -> None:
        """Do the steps, end the faults, wait until all activity has ended, and close."""
        for step in steps:
            self._do(step)
        self.front.faults.clear()
        for _ in range(_SETTLE_INTERVALS):
            self._wait(self.setup.interval_ms // 2, released=True)
        self._wait(self.setup.interval_ms * _SETTLE_INTERVALS, released=True)
        self._note("settled")
        if self._member is not None:
            self._do({"do": "close"})
            self._wait(self.setup.window_ms, released=True)

    def _do(self, step: Json) -> None:
        member = self._member
        if step["do"] == "start" and member is not None:
            return
        if member is None and step["do"] in ("subscribe", "close", "crash"):
            return
        over = member is not None and (member.closed or member.state.value == "FATAL")
        if over and step["do"] in ("subscribe", "commit", "consume"):
            return
        if member is not None and member.closed and step["do"] == "close":
            return
        if step["do"] != "commit":
            self.front.note(Event(self.now_ms, "did", body=step))
        match step["do"]:
            case "wait":
                self._wait(step["ms"])
            case "release":
                self._release()
            case "ghost":
                self.front.ghost(step["who"])
            case "remove":
                self.front.remove()
            case "grow":
                self._partitions["foo"] += 1
                self._set_topics()
            case "refuse" | "lose" | "hold" | "stale" | "unreleased":
                self.front.faults.append(step)
            case _:
                self._application(step)
        self._pump()

    def _application(self, step: Json) -> None:
        match step["do"]:
            case "start":
                self._start(step["topics"])
            case "crash":
                self._member = self._answer = None
                self._running, self._fetched = False, frozenset()
                self._start(["bar", "foo"])
                self.front.note(Event(self.now_ms, "did", body={"do": "start", "topics": ["bar", "foo"]}))
        member = self._member
        if member is None:
            return
        match step["do"]:
            case "subscribe":
                member.subscribe(step["topics"], now_ms=self.now_ms)
            case "commit" if member.owned and member.offsets.positions:
                self.front.note(Event(self.now_ms, "did", body=step))
                member.commit()
            case "consume":
                self._consume(member)
            case "close":
                member.close(self.now_ms)

    def _start(self, topics: Sequence[str]) -> None:
        self._processes += 1
        consumer = Consumer(
            GROUP, instance=self.setup.instance, auto_commit=self.setup.auto_commit, max_poll_ms=600_000
        )
        self._member = self.make(consumer)
        self._member.subscribe(topics, now_ms=self.now_ms)

    def _consume(self, member: Machine) -> None:
        """The application reads 5 records of each partition that it may fetch."""
        for partition in sorted(member.fetchable):
            member.set_position(partition, member.offsets.positions[partition] + 5)
        read = {self._shown([one]): member.offsets.positions[one] for one in sorted(member.fetchable)}
        offsets = {next(iter(name)): offset for name, offset in read.items()}
        self.front.note(Event(self.now_ms, "position", offsets=offsets))

    def _shown(self, partitions: Any) -> Partitions:
        return frozenset(f"{self.names[topic]}-{index}" for topic, index in partitions)

    def _note(self, kind: str, **fields: Any) -> None:
        self.front.note(Event(self.now_ms, kind, **fields))

    def _release(self) -> None:
        if self._running and self._member is not None:
            self._running = False
            last = next(one for one in reversed(self.front.timeline) if one.kind == "callback")
            self._note("released", name=last.name, partitions=last.partitions)
            self._member.callback_done(self.now_ms)

    def _wait(self, ms: int, released: bool = False) -> None:
        """Let time pass; `released`: callbacks end at once."""
        end_ms = self.now_ms + ms
        while True:
            if released:
                self._release()
            self._pump()
            if released and self._running:
                continue
            if self.now_ms >= end_ms:
                return
            self._to(min(self._next_ms(), end_ms))

    def _next_ms(self) -> int:
        times = [self._tick_ms]
        if self._answer is not None:
            times.append(self._answer.due_ms)
        if self._member is not None and (due := self._member.next_deadline_ms()) is not None:
            times.append(due)
        return max(self.now_ms + 1, min(times))

    def _to(self, then_ms: int) -> None:
        self.cluster.advance(then_ms - self.now_ms, lambda: None)
        self.now_ms = then_ms
        if then_ms >= self._tick_ms:
            self._tick_ms = then_ms + self.setup.interval_ms // 2
            self.front.tick()

    def _pump(self) -> None:
        """Deliver due messages, let the application poll, send due requests; until nothing happens."""
        while self._member is not None and self._pump_once(self._member):
            pass

    def _pump_once(self, member: Machine) -> bool:
        answer, active = self._answer, False
        if answer is not None and answer.due_ms <= self.now_ms:
            self._answer, active = None, True
            self.front.answered(answer.number, answer.body)
            if answer.body is None:
                member.failed(answer.correlation, self.now_ms, disconnected=True)
            else:
                member.answered(answer.correlation, answer.body, self.now_ms)
        if not self._running:
            active = self._poll(member) or active
        fetchable = self._shown(member.fetchable)
        if fetchable != self._fetched or (active and fetchable):
            self._fetched = fetchable
            self._note("fetch", partitions=fetchable)
        request = member.take_request(self.now_ms)
        if request is not None:
            self._send(request.api, request.version, request.correlation, request.body)
            active = True
        if member.closed and member.state.value in ("UNSUBSCRIBED", "FATAL"):
            self._note("closed")
            self._member = None
            return False
        return active

    def _poll(self, member: Machine) -> bool:
        member.poll(self.now_ms)
        callback: Any = member.next_callback(self.now_ms)
        error = getattr(member, "take_error", lambda: None)()
        if error is not None:
            self._note("error", name=str(error))
        if callback is None:
            return False
        name = _NAMES[callback.name.value]
        if name == "committed":
            self._note("committed", error=callback.error)
            member.callback_done(self.now_ms)
            return True
        self._running = True
        self._note("callback", name=name, partitions=self._shown(callback.partitions))
        return True

    def _send(self, api: str, version: int, correlation: int, body: Json) -> None:
        number = self.front.arrived(api, body, self._processes)
        if api == FIND:
            key = body["coordinatorKeys"][0]
            answer: Json | None = {"coordinators": [{"key": key, "errorCode": 0, "errorMessage": None}]}
            held_ms = 0
        else:
            answer, held_ms = self.front.handle(api, version, _CLIENT, body)
        self._answer = _Answer(self.now_ms + 1 + held_ms, number, correlation, answer)


def simulate(parts: Parts, make: Make, setup: Setup, steps: Sequence[Json]) -> tuple[Judged, list[Event]]:
    """Judge the member that `make` makes under a schedule; the timeline, too."""
    simulation = Simulation(parts.cluster(setup.session_ms, setup.interval_ms), make, setup)
    simulation.run(steps)
    timeline = simulation.front.timeline
    return judge(timeline, setup, simulation.names), timeline
