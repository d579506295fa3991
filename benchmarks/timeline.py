"""A group of processes beside their coordinator on one simulated clock: messages arrive after a delay, and
the owners of partitions are followed from moment to moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

from benchmarks.processes import GROUP, HEARTBEAT_MS, TOPIC, Process
from coordinator import Config, Coordinator, SimulatedClock
from harness.errors import ENGINE_FAILED, ConformError

NETWORK_MS: Final = 5
"""The delay of a message from a process to the coordinator, and back."""
_TOPIC_ID: Final = "00000000-0000-0000-0000-000000000001"
_CONFIG: Final = Config(
    heartbeat_interval_ms=HEARTBEAT_MS, min_heartbeat_interval_ms=HEARTBEAT_MS, max_batch_bytes=2**30
)
_STEP_MS: Final = 10
"""The step in which timers of the coordinator are followed while requests wait for them."""


class Ownership:
    """Owners of partitions, the times since which a partition has none, and the cost of that."""

    def __init__(self, partitions: int) -> None:
        self._owners: list[str | None] = [None] * partitions
        self._last: list[str | None] = [None] * partitions
        self._since_ms = [0] * partitions
        self.free = partitions
        """Partitions that no process works on."""
        self.begin(0)

    def begin(self, now_ms: int) -> None:
        """Start to count now."""
        self.moved = self.stopped = self.idle_ms = self.longest_ms = 0
        self.last_ms = now_ms

    def follow(self, name: str, before: frozenset[int], after: frozenset[int], now_ms: int) -> None:
        """Follow a change of the partitions that a process works on. ConformError where another process works
        on them, too (C4, R7)."""
        for index in before - after:
            self._owners[index], self._since_ms[index] = None, now_ms
            self.stopped += 1
            self.free += 1
        for index in after - before:
            if self._owners[index] is not None:
                both = f"{self._owners[index]} and {name}"
                raise ConformError(f"{both} own partition {index} at {now_ms} ms.", ENGINE_FAILED)
            gap_ms = now_ms - self._since_ms[index]
            self.moved += self._last[index] != name
            self.idle_ms += gap_ms
            self.longest_ms = max(self.longest_ms, gap_ms)
            self._owners[index] = self._last[index] = name
            self.free -= 1
        if before != after:
            self.last_ms = now_ms


class Timeline:
    """The group "g" of one topic with so many partitions, and the events to come with their times."""

    def __init__(self, partitions: int) -> None:
        self._clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self._clock, config=_CONFIG)
        self.coordinator.set_topics([{"name": TOPIC, "id": _TOPIC_ID, "partitions": partitions}], [])
        self.processes: dict[str, Process] = {}
        self.ownership = Ownership(partitions)
        self._owned: dict[str, frozenset[int]] = {}
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._waiting: dict[int, tuple[Process, int]] = {}

    @property
    def now_ms(self) -> int:
        """The simulated time."""
        return self._clock.now_ms()

    @property
    def round(self) -> int:
        """The generation of a classic group, the group epoch of a consumer group."""
        classic = self.coordinator.others.classic.groups.get(GROUP)
        return classic.generation if classic else int(self.coordinator.describe(GROUP)["groupEpoch"])

    def start(self, process: Process) -> None:
        """A process starts."""
        self.processes[process.name] = process
        self._poll(process)

    def leave(self, name: str) -> None:
        """A process leaves at once, and ends."""
        process = self.processes.pop(name)
        process.leave(self.now_ms)
        self._follow(process)
        self._send(process)
        self._owned.pop(name, None)

    @property
    def settled(self) -> bool:
        """Tell if each partition has a process that works on it, and no process is told to change that."""
        return (
            not self.ownership.free
            and not self._waiting
            and all(process.rests for process in self.processes.values())
            and self.coordinator.describe(GROUP)["state"] == "Stable"
        )

    def run(self, until_ms: int, stop: Callable[[], bool] = lambda: False) -> bool:
        """Let everything happen until that time, or until `stop`; tell if it stopped."""
        while not stop():
            next_ms = self._events[0][0] if self._events else until_ms
            if self._waiting:
                next_ms = min(next_ms, self.now_ms + _STEP_MS)
            if next_ms >= until_ms:
                self._advance(until_ms)
                return stop()
            self._advance(next_ms)
            while self._events and self._events[0][0] <= next_ms:
                heappop(self._events)[2]()
        return True

    def _advance(self, to_ms: int) -> None:
        self.coordinator.advance(to_ms - self.now_ms)
        self._deliver(self.coordinator.others.take_completed())

    def _at(self, ms: int, event: Callable[[], None]) -> None:
        heappush(self._events, (ms, next(self._order), event))

    def _deliver(self, completed: Iterable[dict[str, Any]]) -> None:
        """Send the answers to requests that waited."""
        for one in completed:
            process, correlation = self._waiting.pop(one["id"])
            self._answer(process, correlation, one["body"])

    def _answer(self, process: Process, correlation: int, body: dict[str, Any]) -> None:
        def arrives() -> None:
            process.member.answered(correlation, body, self.now_ms)
            self._go_on(process)

        self._at(self.now_ms + NETWORK_MS, arrives)

    def _send(self, process: Process) -> None:
        request = process.member.take_request(self.now_ms)
        if request is not None:
            name, client = next(self._order), {"id": process.name, "host": "/127.0.0.1"}

            def arrives() -> None:
                body = self.coordinator.request(request.api, request.version, client, request.body, name)
                if body:
                    self._answer(process, request.correlation, body)
                else:
                    self._waiting[name] = process, request.correlation
                self._deliver(self.coordinator.others.take_completed())

            self._at(self.now_ms + NETWORK_MS, arrives)
        self._wake(process)

    def _wake(self, process: Process) -> None:
        """Send the process's own due requests."""
        due_ms = process.member.next_deadline_ms()
        if due_ms is None or process.wakes_at_ms == due_ms:
            return
        process.wakes_at_ms = due_ms

        def wakes() -> None:
            if process.wakes_at_ms == due_ms and self.processes.get(process.name) is process:
                process.wakes_at_ms = None
                self._go_on(process)

        if due_ms > self.now_ms:
            self._at(due_ms, wakes)

    def _go_on(self, process: Process) -> None:
        """React to an answer: heartbeats go out at once, other requests at the next poll."""
        if not process.waits_for_poll:
            self._send(process)
        if not process.polls:
            process.polls = True
            self._at(process.next_poll_ms(self.now_ms), lambda: self._poll(process))

    def _poll(self, process: Process) -> None:
        process.polls = False
        if self.processes.get(process.name) is process:
            process.poll(self.now_ms)
            self._follow(process)
            self._send(process)

    def _follow(self, process: Process) -> None:
        before, after = self._owned.get(process.name, frozenset()), process.owned
        self._owned[process.name] = after
        self.ownership.follow(process.name, before, after, self.now_ms)
