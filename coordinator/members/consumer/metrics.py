"""The consumer's metrics of KIP-429, "Consumer Metrics" (C7): the length of callbacks and rebalances, the
number of rebalances, and the number of failed ones.

A latency is in milliseconds of the driver's clock. The document names 14 metrics and does not define them.
Here an average, a maximum and a rate cover the last hour, a total everything since the start. Without a
measurement an average and a maximum are not a number, and the last rebalance is -1 seconds ago. The member
decides when a rebalance begins and ends: see `coordinator.members.consumer.lifecycle` and
`coordinator.members.classic.machine`.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from coordinator.members.consumer.types import CallbackName

HOUR_MS: Final = 3_600_000

_CALLBACKS: Final = {
    CallbackName.REVOKED: "partitions-revoked",
    CallbackName.ASSIGNED: "partitions-assigned",
    CallbackName.LOST: "partitions-lost",
}


class _LastHour:
    """Events that ended within the last hour: the time and the length of each."""

    def __init__(self) -> None:
        self._ended: deque[tuple[int, int]] = deque()

    def add(self, began_ms: int, now_ms: int) -> None:
        self._ended.append((now_ms, now_ms - began_ms))
        self._forget(now_ms)

    def latencies(self, now_ms: int) -> list[int]:
        self._forget(now_ms)
        return [took_ms for _, took_ms in self._ended]

    def _forget(self, now_ms: int) -> None:
        while self._ended and self._ended[0][0] <= now_ms - HOUR_MS:
            self._ended.popleft()


class RebalanceMetrics:
    """The measurements of one member; times in milliseconds, never going back."""

    def __init__(self) -> None:
        self._callbacks = {name: _LastHour() for name in _CALLBACKS}
        self._callback: tuple[CallbackName, int] | None = None
        self._began_ms: int | None = None
        self._succeeded, self._failed = _LastHour(), _LastHour()
        self._total = self._total_ms = self._failed_total = 0
        self._last_ms: int | None = None

    @property
    def rebalancing(self) -> bool:
        """Is a rebalance under way?"""
        return self._began_ms is not None

    def callback_began(self, name: CallbackName, now_ms: int) -> None:
        """Note that the application is in a callback; the callback of a commit is not measured."""
        self._callback = (name, now_ms) if name in _CALLBACKS else None

    def callback_ended(self, now_ms: int) -> None:
        """The callback has returned, or raised."""
        if self._callback is not None:
            (name, began_ms), self._callback = self._callback, None
            self._callbacks[name].add(began_ms, now_ms)

    def began(self, now_ms: int) -> None:
        """A rebalance begins, unless one is under way."""
        if self._began_ms is None:
            self._began_ms = now_ms

    def succeeded(self, now_ms: int) -> None:
        """Note the success of the rebalance that is under way: all its callbacks have ended."""
        if self._began_ms is not None:
            self._succeeded.add(self._began_ms, now_ms)
            self._total += 1
            self._total_ms += now_ms - self._began_ms
            self._began_ms, self._last_ms = None, now_ms

    def failed(self, now_ms: int) -> None:
        """Note that the rebalance that is under way will not end."""
        if self._began_ms is not None:
            self._failed.add(self._began_ms, now_ms)
            self._failed_total += 1
            self._began_ms = None

    def given_up(self) -> None:
        """Drop the rebalance that is under way: the application has closed or unsubscribed."""
        self._began_ms = None

    def values(self, now_ms: int) -> dict[str, float]:
        """Every metric by its name in KIP-429."""
        rebalances = self._succeeded.latencies(now_ms)
        values: dict[str, float] = {}
        for name, measured in self._callbacks.items():
            values |= _average_and_maximum(f"{_CALLBACKS[name]}-latency", measured.latencies(now_ms))
        return {
            **values,
            "rebalance-rate-per-hour": len(rebalances),
            "rebalance-total": self._total,
            **_average_and_maximum("rebalance-latency", rebalances),
            "rebalance-latency-total": self._total_ms,
            "failed-rebalance-rate-per-hour": len(self._failed.latencies(now_ms)),
            "failed-rebalance-total": self._failed_total,
            "last-rebalance-seconds-ago": -1 if self._last_ms is None else (now_ms - self._last_ms) // 1_000,
        }


def _average_and_maximum(name: str, latencies: list[int]) -> dict[str, float]:
    average = sum(latencies) / len(latencies) if latencies else math.nan
    return {f"{name}-avg": average, f"{name}-max": max(latencies, default=math.nan)}
