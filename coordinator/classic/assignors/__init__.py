"""The assignors that the leader of a classic group runs: range, roundrobin and the two sticky ones (C5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.classic.assignors.range import RangeAssignor
from coordinator.classic.assignors.roundrobin import RoundRobinAssignor
from coordinator.classic.assignors.spec import (
    AddsUserData,
    ClassicAssignor,
    GroupMember,
    RebalanceProtocol,
    with_user_data,
)
from coordinator.classic.assignors.sticky import CooperativeStickyAssignor, StickyAssignor

ASSIGNORS: Final[dict[str, ClassicAssignor]] = {
    assignor.name: assignor
    for assignor in (RangeAssignor(), RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor())
}
"""By name."""


def rebalance_protocol(assignors: Iterable[ClassicAssignor]) -> RebalanceProtocol | None:
    """The highest protocol that all of a consumer's assignors support (C5); None where there is none."""
    supported = [assignor.protocols for assignor in assignors]
    return max(frozenset.intersection(*supported), default=None) if supported else None


__all__ = [
    "ASSIGNORS",
    "AddsUserData",
    "ClassicAssignor",
    "GroupMember",
    "RebalanceProtocol",
    "rebalance_protocol",
    "with_user_data",
]
