"""Waiting until timers of a live broker have run out: the length of each, and the times of checks.

For each timer that runs out in a trace, the step that arms the timer is known beforehand. That step gets a
short time, all others keep long ones, so that timers run out in the order of the trace. A timer whose member
sends something before it runs out first runs for a while, so that a broker that starts it anew is noticed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.targets.base import Died
from harness.targets.waiting import ANOTHER_FIRST, NO_TIME, NO_TIMER, Due, NotWaited, Waited

SHORT_S: Final = 3.0
"""A time-out that is waited for: long beside the time of a few requests on a slow machine."""
LONG_S: Final = 45.0
"""A session that does not run out: Kafka's default (D3)."""
EARLY: Final = 0.8
"""The part of its time in which a timer must not have run out."""
LATE: Final = 1.5
"""The multiple of its time after which a timer must have run out."""
PAUSE: Final = 0.6
"""The part of its time that passes before the member sends again. A timer that is started anew then runs
longer than `LATE`."""
LOOK_S: Final = 0.05
"""The pause between two checks if a member is gone."""


class TooEarly(Died):
    """The timer ran out before its time: a difference."""

    did = "was too early in"


@dataclass(slots=True)
class _Timer:
    """A timer that will be waited for; `started` is the time at which the step that arms it was sent."""

    due: Due
    time_s: float
    started: float | None = None


@dataclass
class Patience:
    """The waiting of one run; `shortens` tells if the broker allows short sessions."""

    target: str
    waited: Waited
    shortens: bool = True
    long_s: float = LONG_S
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _step: int = -1
    _timers: list[_Timer] = field(default_factory=list)
    _due: Sequence[Due] = ()
    _sent: dict[str, float] = field(default_factory=dict)

    def expect(self, due: Sequence[Due]) -> None:
        """Plan the timers of the next trace, as far as there is time for them."""
        self._step, self._due = -1, due
        self._timers.clear()
        self._sent.clear()
        left_s = self.waited.budget_s - self.waited.spent_s
        for one in due:
            if one.timer not in ("session", "rebalance"):
                break
            before = [timer for timer in self._timers if one.armed < timer.due.fires]
            time_s = SHORT_S if self.shortens or one.timer == "rebalance" else self.long_s
            time_s += LATE * sum(timer.time_s for timer in before)
            left_s -= LATE * time_s
            if left_s < 0:
                break
            self._timers.append(_Timer(one, time_s))

    def keep_sessions(self, why: str, session_ms: str | None) -> None:
        """Note that the broker allows no short session: its own sessions are planned with. Nothing was sent
        yet."""
        self.shortens, self.waited.note = False, why
        if session_ms:
            self.long_s = int(session_ms) / 1000
        step = self._step
        self.expect(self._due)
        self._step = step

    def session_ms(self) -> int:
        """The time of a session that the present step arms."""
        times = [timer.time_s for timer in self._armed_now() if timer.due.timer == "session"]
        return round(1000 * max(times, default=LONG_S))

    def rebalance_ms(self, client: str) -> int | None:
        """The time that a client has to give partitions up, in the rebalance that runs out first; None for
        the trace's value."""
        for timer in self._timers:
            due = timer.due
            if (due.timer, due.client) == ("rebalance", client) and self._step <= due.armed:
                return round(1000 * timer.time_s)
        return None

    def next_step(self, client: str | None = None) -> None:
        """Begin a step, of a client or of none: wait before it, if a timer of that client must run on."""
        self._step += 1
        for timer in self._timers:
            due = timer.due
            if timer.started is None or due.client != client or not due.armed < self._step < due.fires:
                continue
            running = (other for other in self._timers if other.started is not None and self._runs(other))
            self._sleep_until(min((other.started or 0.0) + PAUSE * other.time_s for other in running))

    def sent(self, client: str, leaves: bool) -> None:
        """Note that the step is a request of that client, sent now."""
        now = self.now()
        self._sent.pop(client, None)
        if not leaves:
            self._sent[client] = now
        for timer in self._armed_now():
            timer.started = now

    def run_out(self, is_member: Callable[[], bool]) -> tuple[float, float]:
        """Wait, for the step of a timer, until its member is gone, or must be.

        Returns the seconds since the timer was armed, and those of its time-out. NotWaited if that timer
        cannot be waited for, TooEarly if the member is gone before.
        """
        timer = next((one for one in self._timers if one.due.fires == self._step), None)
        if timer is None or timer.started is None:
            known = [
                one for one in self._due if one.fires == self._step and one.timer in ("session", "rebalance")
            ]
            raise NotWaited(self.target, NO_TIME if known else NO_TIMER)
        end = timer.started + LATE * timer.time_s
        others = [one for one in self._timers if one is not timer and self._runs(one)]
        if any((one.started or 0.0) + one.time_s < end for one in others) or any(
            since + self.long_s < end for client, since in self._sent.items() if client != timer.due.client
        ):
            raise NotWaited(self.target, ANOTHER_FIRST)
        self.waited.timers += 1
        self._sent.pop(timer.due.client, None)
        self._sleep_until(timer.started + EARLY * timer.time_s)
        if not is_member() and (passed := self.now() - timer.started) < timer.time_s:
            raise TooEarly(
                self.target,
                f"fire {timer.due.timer}",
                f"the member was gone after {passed:.1f} s of {timer.time_s:g} s",
            )
        while is_member() and self.now() < end:
            self._sleep_until(min(self.now() + LOOK_S, end))
        return round(self.now() - timer.started, 1), timer.time_s

    def _armed_now(self) -> list[_Timer]:
        return [timer for timer in self._timers if timer.due.armed == self._step]

    def _runs(self, timer: _Timer) -> bool:
        return timer.started is not None and self._step <= timer.due.fires

    def _sleep_until(self, then: float) -> None:
        if (seconds := then - self.now()) > 0:
            self.sleep(seconds)
            self.waited.spent_s += seconds
