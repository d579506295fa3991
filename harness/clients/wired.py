"""An agent under a schedule, in real time, with a coordinator on a socket: one run and its timeline.

Times of a schedule are those of the simulated clock; here they take `PACE` times as long, and twice that
where all times are doubled. The time that a process needs to start, to be drained and to end is not
counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from harness.clients.agent import Agent, AgentFailed
from harness.clients.draw import TOPICS
from harness.clients.front import GROUP, Front
from harness.clients.judge import Judged, judge
from harness.clients.simulated import topic_ids
from harness.clients.timeline import ABILITIES, CALLBACKS, HEARTBEAT, Event, Partitions, Setup
from harness.errors import ENGINE_FAILED
from harness.targets.base import Json

PACE: Final = 0.3
_SLACK_MS: Final = 1_500
_SESSION_MS: Final = 6_000
_START_S: Final = 30.0
_CALLBACKS: Final = frozenset({"assigned", "revoked", "lost"})
_SETTLE_INTERVALS: Final = 6
_LONGEST_SETTLE_S: Final = 15.0


class Served(Protocol):
    """A coordinator on a socket of this machine."""

    port: int
    front: Front

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def drained(self, longest_s: float) -> None: ...
    def grow(self, topic: str) -> None: ...


Serve = Callable[
    [Setup, dict[str, str], dict[str, int], Callable[[], int], Callable[[Partitions], None]], Served
]
"""A function that makes one: setup, names of topics by id, partitions by topic, the time in ms, and the
listener of fetches."""


def on_wire(setup: Setup, times: float = 1.0) -> Setup:
    """The configuration with the times of sockets."""
    pace = PACE * times
    return replace(
        setup,
        interval_ms=round(setup.interval_ms * pace),
        session_ms=round(_SESSION_MS * times),
        slack_ms=round(_SLACK_MS * times),
        wire=True,
    )


@dataclass
class WiredRun:
    """One run of an agent. `wanted`: end as soon as this rule is broken; `times`: the factor of all times."""

    serve: Serve
    command: Sequence[str]
    setup: Setup
    times: float = 1.0
    wanted: str | None = None
    names: dict[str, str] = field(default_factory=topic_ids)
    _agent: Agent | None = None
    _running: Event | None = None
    _changed: dict[str, int] = field(default_factory=dict)
    _fetched: Partitions = frozenset()
    _released: bool = False
    _closed: bool = False
    _ended_well: bool = False
    _fatal: bool = False
    _read: int = 0
    _commits: int = 0
    _uses: frozenset[str] = ABILITIES

    def __post_init__(self) -> None:
        self._began = time.monotonic()
        self.wired = on_wire(self.setup, self.times)
        self._served = self.serve(self.wired, self.names, dict(TOPICS), self._now_ms, self._saw_fetch)
        self.front = self._served.front

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._began) * 1000)

    async def run(self, steps: Sequence[Json]) -> Judged:
        """Do the steps, end the faults, wait until all activity has ended, and close. AgentFailed."""
        await self._served.start()
        ticks = asyncio.create_task(self._tick())
        try:
            for step in steps:
                await self._do(step)
                if self._shows():
                    return self._judged()
            await self._settle()
            if self._agent is not None:
                await self._do({"do": "close"})
                await self._until(lambda: self._agent is None, 2 * self.wired.window_ms / 1000)
            return self._judged()
        finally:
            ticks.cancel()
            if self._agent is not None:
                await self._agent.end()
            await self._served.stop()

    def _judged(self, *more: Event) -> Judged:
        return judge([*self.front.timeline, *more], self.wired, self.names, self._uses)

    def _shows(self) -> bool:
        return self.wanted is not None and self.wanted in self._judged().broken()

    async def _tick(self) -> None:
        """Let the other members go on; note the times at which this machine was too busy to run even this."""
        while True:
            due_ms = self._now_ms() + self.wired.interval_ms // 2
            await asyncio.sleep(self.wired.interval_ms / 2000)
            if self._now_ms() - due_ms > self.wired.interval_ms // 2:
                self._note("stalled")
            self.front.tick()

    def _note(self, kind: str, **fields: Any) -> None:
        self.front.note(Event(self._now_ms(), kind, **fields))

    # Steps

    async def _do(self, step: Json) -> None:
        kind = step["do"]
        if (self._agent is None) != (kind == "start") and kind in _APPLICATION:
            return
        if self._closed and kind == "close":
            return
        if (self._closed or self._fatal) and kind in ("subscribe", "commit"):
            return
        if _NEEDS.get(kind, kind) in ABILITIES - self._uses:
            return
        if kind != "crash":
            self._note("did", body=step)
        match kind:
            case "wait":
                await self._pass(step["ms"] * PACE * self.times / 1000)
            case "release":
                await self._until(lambda: self._running is not None, self.wired.interval_ms / 1000)
                self._release()
            case "ghost":
                self.front.ghost(step["who"])
            case "remove":
                self.front.remove()
            case "grow":
                self._served.grow("foo")
            case "hold":
                self.front.faults.append({**step, "ms": round(step["ms"] * PACE * self.times)})
            case "refuse" | "lose" | "stale" | "unreleased":
                self.front.faults.append(step)
            case "start":
                await self._start(step["topics"])
            case "crash":
                await self._crash()
            case "consume":
                read = self._read
                await self._until(lambda: self._read > read, self.wired.interval_ms / 1000)
            case "commit":
                commits = self._commits
                self._tell(**step)
                await self._until(lambda: self._commits > commits, self.wired.interval_ms / 1000)
            case _:
                self._tell(**step)

    async def _start(self, topics: Sequence[str]) -> None:
        self._agent = Agent(self.command, self._hear)
        self._closed = self._fatal = self._ended_well = False
        await self._agent.start()
        known = len(self.front.timeline)
        self._tell(
            do="subscribe",
            bootstrap=f"127.0.0.1:{self._served.port}",
            group=GROUP,
            instance=self.setup.instance,
            autoCommit=self.setup.auto_commit,
            topics=list(topics),
        )
        if not await self._until(lambda: self._heartbeat_since(known), _START_S):
            sentence = f"The agent sent no heartbeat within {_START_S:.0f} s of its start."
            raise AgentFailed(f"{sentence} {self._agent.last_errors()}".strip(), ENGINE_FAILED)

    def _heartbeat_since(self, known: int) -> bool:
        return any(one.api == HEARTBEAT for one in self.front.timeline[known:])

    async def _crash(self) -> None:
        """Kill the process; all its output is read before it counts as gone."""
        assert self._agent is not None
        self._tell(do="crash")
        await self._agent.end()
        await self._served.drained(self.wired.window_ms / 1000)
        self._agent = self._running = None
        self._note("did", body={"do": "crash"})
        self._note("did", body={"do": "start", "topics": ["bar", "foo"]})
        await self._start(["bar", "foo"])

    def _tell(self, **command: Any) -> None:
        assert self._agent is not None
        if command["do"] == "close":
            self._closed = True
        self._agent.tell(**command)

    def _release(self) -> None:
        """Release a callback. The release is noted before it is sent: all events received before it happened
        in the callback."""
        if self._running is not None:
            event, self._running = self._running, None
            self._note("released", name=event.name, partitions=event.partitions)
            self._changed |= dict.fromkeys(event.partitions, self._now_ms())
            self._tell(do="release")

    # Time

    async def _pass(self, seconds: float) -> None:
        await self._until(lambda: False, seconds)

    async def _until(self, done: Callable[[], bool], longest_s: float) -> bool:
        """Let time pass until the condition holds; tell if it does."""
        end = time.monotonic() + longest_s
        while not done():
            await self._look()
            if self._released:
                self._release()
            if time.monotonic() >= end:
                return done()
            await asyncio.sleep(min(0.01, max(end - time.monotonic(), 0)))
        return True

    async def _look(self) -> None:
        """Check if the agent has ended, as it does after `closed`."""
        agent = self._agent
        if agent is None:
            return
        if agent.failure is not None:
            raise agent.failure
        if agent.ended:
            await agent.end()
            await self._served.drained(self.wired.window_ms / 1000)
            if not self._ended_well:
                raise AgentFailed(
                    f"The agent ended without being told to. {agent.last_errors()}", ENGINE_FAILED
                )
            self._note("closed")
            self._agent = self._running = None

    async def _settle(self) -> None:
        """End the faults; wait for some intervals, and longer only while the client is not where it must
        be."""
        self.front.faults.clear()
        self._released = True
        interval_s = self.wired.interval_ms / 1000
        await self._pass(_SETTLE_INTERVALS * interval_s)
        end = time.monotonic() + _LONGEST_SETTLE_S * self.times
        while time.monotonic() < end and not self._shows():
            due = len(self._judged(Event(self._now_ms(), "settled")).breaches)
            if self._running is None and due == len(self._judged().breaches):
                break
            await self._pass(interval_s)
        self._note("settled")

    # Received events

    def _hear(self, event: Json) -> None:
        name = event["event"]
        if name == "uses":
            self._uses = frozenset(event["uses"])
            if (unknown := self._uses - ABILITIES) and self._agent is not None:
                known = ", ".join(sorted(ABILITIES))
                sentence = f"The agent uses {', '.join(sorted(unknown))}; the words are {known}."
                self._agent.failure = AgentFailed(sentence, ENGINE_FAILED)
        if name in _CALLBACKS:
            partitions = frozenset(event["partitions"])
            if not partitions:  # librdkafka announces these, too; they cannot break a rule
                self._tell(do="release")
                return
            self._running = Event(self._now_ms(), "callback", name=name, partitions=partitions)
            self._changed |= dict.fromkeys(partitions, self._now_ms())
            self.front.note(self._running)
        elif name == "position":
            self._read += 1
            self._note("position", offsets={event["partition"]: event["offset"]})
        elif name == "committed":
            self._commits += 1
            self._note("committed", error=event["error"])
        elif name == "error" and (event["fatal"] or event["code"] == 111):
            self._fatal = True
            self._note("error", name=event["text"], error=event["code"])
        elif name == "closed":
            self._ended_well = True

    def _saw_fetch(self, partitions: Partitions) -> None:
        """Note a fetch of partitions that changed hands a window ago or earlier: such a fetch was certainly
        sent after the change."""
        before_ms = self._now_ms() - self.wired.window_ms
        certain = frozenset(one for one in partitions if self._changed.get(one, 0) <= before_ms)
        if certain and certain != self._fetched:
            self._note("fetch", partitions=certain)
        self._fetched = certain


_NEEDS: Final = {"release": CALLBACKS, "consume": "positions"}
"""The abilities that steps need, where these have another name."""
_APPLICATION: Final = frozenset({"start", "subscribe", "commit", "consume", "close", "crash", "release"})
