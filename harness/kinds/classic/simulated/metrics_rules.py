"""Rules of the metrics of a member (C7): a second count of its callbacks and rebalances, from the outside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from harness.simulate.groups.parts import Violation
from harness.simulate.groups.process import ASSIGNED, LOST, REVOKED

HOUR_MS: Final = 3_600_000
CALLBACKS: Final = {
    REVOKED: "partitions-revoked",
    ASSIGNED: "partitions-assigned",
    LOST: "partitions-lost",
}


class MetricsRules:
    """A count of one member's callbacks and rebalances; times are of the process's own clock."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._took: dict[str, list[tuple[int, int]]] = {metric: [] for metric in CALLBACKS.values()}
        self._rebalances: list[tuple[int, int]] = []
        self._failed: list[int] = []
        self._began_ms: int | None = None
        self._callback_ms = 0

    def rebalances(self, now_ms: int) -> None:
        """Note the beginning of a rebalance, if none is under way."""
        if self._began_ms is None:
            self._began_ms = now_ms

    def fails(self, now_ms: int, counts: bool = True) -> None:
        """Note that the rebalance under way will not end; that of a member that closes does not count."""
        if self._began_ms is not None and counts:
            self._failed.append(now_ms)
        self._began_ms = None

    def calls(self, now_ms: int) -> None:
        """Note the beginning of a callback."""
        self._callback_ms = now_ms

    def returns(self, name: str, now_ms: int) -> None:
        """Note the end of a callback; the rebalance ends with on_partitions_assigned."""
        self._took[CALLBACKS[name]].append((now_ms, now_ms - self._callback_ms))
        if name == ASSIGNED and self._began_ms is not None:
            self._rebalances.append((now_ms, now_ms - self._began_ms))
            self._began_ms = None

    def expected(self, now_ms: int) -> dict[str, float]:
        """Every metric by its name in KIP-429. Averages, maxima and rates are of the last hour."""
        values: dict[str, float] = {}
        for name, took in (*self._took.items(), ("rebalance", self._rebalances)):
            latest = [ms for end_ms, ms in took if end_ms > now_ms - HOUR_MS]
            values[f"{name}-latency-avg"] = sum(latest) / len(latest) if latest else math.nan
            values[f"{name}-latency-max"] = max(latest, default=math.nan)
        recent = [end_ms for end_ms, _ in self._rebalances if end_ms > now_ms - HOUR_MS]
        last_ms = self._rebalances[-1][0] if self._rebalances else None
        return values | {
            "rebalance-rate-per-hour": len(recent),
            "rebalance-total": len(self._rebalances),
            "rebalance-latency-total": sum(ms for _, ms in self._rebalances),
            "failed-rebalance-rate-per-hour": sum(1 for at_ms in self._failed if at_ms > now_ms - HOUR_MS),
            "failed-rebalance-total": len(self._failed),
            "last-rebalance-seconds-ago": -1 if last_ms is None else (now_ms - last_ms) // 1_000,
        }

    def check(self, values: Mapping[str, float], now_ms: int) -> None:
        """Judge all metrics of the member."""
        expected = self.expected(now_ms)
        if values.keys() != expected.keys():
            raise Violation("C7", "MetricsAreRight", f"{self._name} has the metrics {sorted(values)}")
        for name, value in expected.items():
            if values[name] != value and not (math.isnan(value) and math.isnan(values[name])):
                raise Violation(
                    "C7", "MetricsAreRight", f"{self._name}: {name} is {values[name]}, not {value}"
                )
