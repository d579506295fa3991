"""Reader of the benchmark of rebalances (benchmarks/rebalance.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta, field

from harness.report.readers.form import OfFile, Result

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]


class Rebalance(Result, frozen=True, kw_only=True):
    """Cost of an event for a group of one protocol: counts, and seconds of a simulated clock."""

    what: str
    protocol: str
    members: Count
    partitions: int
    rounds: int
    moved: int
    stopped: int
    idle_s: Seconds
    longest_s: Seconds
    settled_s: Seconds


class Benchmark(OfFile, frozen=True, kw_only=True):
    """The measurements of a file; a file may have none of rebalances."""

    rebalances: Sequence[Rebalance] = field(name="rebalance", default=())
