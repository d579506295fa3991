"""Reader of the benchmark of rebalances (benchmarks/rebalance.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.readers.fields import Fields


@dataclass(frozen=True)
class Rebalance:
    """Cost of an event for a group of one protocol: counts, and seconds of a simulated clock."""

    what: str
    protocol: str
    members: int
    partitions: int
    rounds: int
    moved: int
    stopped: int
    idle_s: float
    longest_s: float
    settled_s: float


def rebalances(data: Fields) -> Sequence[Rebalance]:
    """The rebalances in a file; none where the file has other measurements."""
    return [_rebalance(one) for one in data.items_or_none("rebalance")]


def _rebalance(one: Fields) -> Rebalance:
    return Rebalance(
        what=one.get("what", str),
        protocol=one.get("protocol", str),
        members=one.get("members", int),
        partitions=one.get("partitions", int),
        rounds=one.get("rounds", int),
        moved=one.get("moved", int),
        stopped=one.get("stopped", int),
        idle_s=one.number("idle_s"),
        longest_s=one.number("longest_s"),
        settled_s=one.number("settled_s"),
    )
