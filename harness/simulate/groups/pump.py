"""Events that happen by themselves: messages arrive, members send due requests, applications poll.

This is the scheduler of a discrete-event simulation. `next` gives the next event, `saw` is called when it was
done, and plans the events that follow. Every process has four tracks, on each of which at most one event is
planned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from heapq import heappop, heappush
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from harness.simulate.groups.parts import RequestView
from harness.targets.base import Json

REQUEST_TIMEOUT_MS: Final = 30_000
Plan: TypeAlias = tuple[object, ...]


class Pumped(Protocol):
    """The parts of a process on which its next events depend."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def at_rest(self) -> bool: ...
    @property
    def permille(self) -> int: ...
    @property
    def max_poll_ms(self) -> int: ...
    @property
    def waits_for(self) -> RequestView | None: ...
    @property
    def request(self) -> object: ...
    @property
    def answer(self) -> object: ...
    @property
    def sent_ms(self) -> int: ...
    @property
    def running(self) -> object: ...
    @property
    def using(self) -> Sized: ...
    @property
    def polled_in_vain(self) -> bool: ...
    def due_ms(self, now_ms: int) -> int | None: ...


P = TypeVar("P", bound=Pumped)


class Pumps(Protocol):
    """A world of processes."""

    @property
    def now_ms(self) -> int: ...
    @property
    def processes(self) -> Mapping[str, Any]: ...


W = TypeVar("W", bound=Pumps)


class Pump(Generic[W, P]):
    """A pump without faults, in which each message takes `latency_ms`."""

    def __init__(self, world: W) -> None:
        self.world = world
        self._queue: list[tuple[int, int, Json, str, str, Plan]] = []
        self._pushed = 0
        self._plans: dict[tuple[str, str], Plan] = {}
        for name in sorted(world.processes):
            self.look(world.processes[name])

    @property
    def now_ms(self) -> int:
        """The time."""
        return self.world.now_ms

    def next(self) -> Json | None:
        """The next event; None where no event will ever come."""
        while self._queue:
            _, _, event, who, track, plan = heappop(self._queue)
            if not track or self._plans.get((who, track)) == plan:
                self._plans.pop((who, track), None)
                return event
        return None

    def saw(self, event: Json, happened: bool) -> None:
        """Note that the event was done, or was void."""
        process = self.world.processes.get(event.get("who", ""))
        if process is not None:
            self.look(process, 0 if happened else 1)

    def at(self, at_ms: int, event: Json) -> None:
        """Plan an event that nothing can delay."""
        self._push(max(at_ms, self.now_ms), event, "", "", ())

    def look(self, process: P, least_ms: int = 0) -> None:
        """Plan the next events of a process from its present state."""
        who, now_ms = process.name, self.now_ms
        waits = process.waits_for
        if waits is None:
            due_ms = process.due_ms(now_ms)
            if due_ms is not None:
                self._plan(who, "io", ("send", due_ms), max(due_ms, now_ms + least_ms), {"do": "send"})
        else:
            if process.request is not None:
                self.plan_request(process, ("request", waits.correlation))
            elif process.answer is not None:
                self.plan_answer(process, ("answer", waits.correlation))
            given_up_ms = process.sent_ms + REQUEST_TIMEOUT_MS
            self._plan(who, "timeout", (waits.correlation,), given_up_ms, {"do": "give-up"})
            due_ms = process.due_ms(now_ms)
            if (
                due_ms is not None
            ):  # the application does not poll: that shows even while a request is in flight
                self._plan(who, "expiry", ("send", due_ms), max(due_ms, now_ms + least_ms), {"do": "send"})
        self.plan_application(process)

    def plan_request(self, process: P, plan: Plan) -> None:
        """Plan the arrival of a request in flight."""
        self.plan(process, "io", plan, self.latency_ms(), {"do": "deliver"})

    def plan_answer(self, process: P, plan: Plan) -> None:
        """Plan the arrival of an answer in flight."""
        self.plan(process, "io", plan, self.latency_ms(), {"do": "answer"})

    def plan_application(self, process: P) -> None:
        """Plan the application's poll: at once where there is something to do, else in time; then it
        consumes."""
        if process.running is not None:
            self.plan(
                process, "application", ("done", len(process.using)), self.callback_ms(), {"do": "done"}
            )
        elif process.at_rest:
            in_time_ms = process.max_poll_ms * 400 // process.permille
            self.plan(process, "application", ("idle",), in_time_ms, self.poll())
        else:
            after_ms = 1_000 if process.polled_in_vain else self.latency_ms()
            self.plan(process, "application", ("poll", process.state), after_ms, self.poll())

    def plan(self, process: P, track: str, plan: Plan, after_ms: int, event: Json) -> None:
        """Plan an event of a process, unless its track has one already."""
        self._plan(process.name, track, plan, self.now_ms + after_ms, event)

    def latency_ms(self) -> int:
        """The time that a message takes, and an application to poll."""
        return 5

    def callback_ms(self) -> int:
        """The time that a slow callback runs."""
        return 50

    def poll(self) -> Json:
        """The event of an application that polls."""
        return {"do": "poll"}

    def _plan(self, who: str, track: str, plan: Plan, at_ms: int, event: Json) -> None:
        if self._plans.get((who, track)) != plan:
            self._plans[who, track] = plan
            self._push(at_ms, event, who, track, plan)

    def _push(self, at_ms: int, event: Json, who: str, track: str, plan: Plan) -> None:
        self._pushed += 1
        whole = {"at": at_ms, "do": event["do"], **({"who": who} if who else {}), **event}
        heappush(self._queue, (at_ms, self._pushed, whole, who, track, plan))
