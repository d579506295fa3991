"""Clocks and member ids: passed in by the caller, so that the same inputs give the same bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Final, Protocol
from uuid import UUID, uuid4

from coordinator.core import fields
from coordinator.core.errors import BadInput

LATEST_MS: Final = 2**62
"""The end of a simulated clock: a deadline after it still is an int64, as Kafka's times are."""


class Clock(Protocol):
    """The time in milliseconds since any fixed point; it never goes back."""

    def now_ms(self) -> int: ...


class SimulatedClock:
    """A clock that moves only when the caller moves it."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def later(self, ms: int) -> int:
        """The time so many milliseconds from now. BadInput where the clock cannot go there."""
        if type(ms) is not int or ms < 0:
            raise BadInput(f"time advances by a whole number of milliseconds from 0, not {ms!r}")
        if self._now_ms + ms > LATEST_MS:
            raise BadInput(f"time ends at {LATEST_MS} ms, and it is {self._now_ms}; advance by less")
        return self._now_ms + ms

    def set(self, now_ms: int) -> None:
        """Move to that time."""
        self._now_ms = now_ms


def clock_in(volatile: Mapping[str, object]) -> int | None:
    """The time in a coordinator's volatile state, None where there is none. BadInput for one that no clock
    reaches."""
    now_ms = fields.optional_integer(volatile, "clockMs", "volatile")
    if now_ms is not None and now_ms > LATEST_MS:
        raise BadInput(f"time ends at {LATEST_MS} ms; 'clockMs' of volatile is {fields.shown(now_ms)}")
    return now_ms


class SystemClock:
    """The machine's monotonic clock."""

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


def numbered_ids() -> Iterator[str]:
    """Member ids 00000000-0000-4000-8000-000000000001 and on: for simulation, with the same ids in every
    run."""
    for number in count(1):
        yield str(UUID(int=(4 << 76) | (8 << 60) | number))


def random_ids() -> Iterator[str]:
    """Random member ids (H1), for real use."""
    while True:
        yield str(uuid4())
