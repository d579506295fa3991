"""Timers that run out in real time: the data of a trace for a target that can only wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, runtime_checkable

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Target

NO_TIME: Final = "more seconds of --wait than are left"
NO_TIMER: Final = "a timer that no client can shorten"
ANOTHER_FIRST: Final = "another timer not to run out first"
TOO_SLOW: Final = "a longer group.initial.rebalance.delay.ms of the broker"
PROLONGED: Final = "an initial delay that is prolonged no more, which a broker's rebalance time-out decides"
NO_ID: Final = "the member id that a join has made while it waits"
REASONS: Final = frozenset({NO_TIME, NO_TIMER, ANOTHER_FIRST, TOO_SLOW, PROLONGED, NO_ID})
"""The reasons for which a timer was not waited for."""


class Due(NamedTuple):
    """A timer that runs out in a trace. The steps that call the target are counted from 0: the step `armed`
    starts the timer, at the step `fires` it has run out. `client` sends the member's requests."""

    timer: str
    client: str
    armed: int
    fires: int


class NotWaited(ConformError):
    """A timer was not waited for: nothing is wrong, but later steps cannot be judged. `reason` is one of
    `REASONS`."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(f"The target {target} needs {reason}: give --wait more seconds.", ENGINE_FAILED)
        self.reason = reason


@dataclass(slots=True)
class Waited:
    """The time that was spent on waiting, of the given `budget_s`: for so many `timers`. `note` names a thing
    that the broker did not allow, "" for none."""

    budget_s: float
    spent_s: float = 0.0
    timers: int = 0
    note: str = ""


@runtime_checkable
class Waiter(Protocol):
    """A target whose `fire` waits for real time. It must know beforehand which timers run out, so that it can
    make those short and leave others long."""

    def expect(self, due: Sequence[Due]) -> Waited | None:
        """The timers of the trace that begins with the next load. None for a target that does not wait; else
        the waited time, which goes on counting."""


def expect(target: Target, due: Sequence[Due]) -> Waited | None:
    """Tell a target, if it waits."""
    return target.expect(due) if isinstance(target, Waiter) else None
