"""The assignors of a consumer of a classic group, and the rebalance protocol that they agree on (C5, C8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum
from typing import Protocol

from coordinator.classic.embedded import Subscription
from coordinator.classic_member.types import Partitions


class RebalanceProtocol(IntEnum):
    """KIP-429's RebalanceProtocol; of several the one with the highest id is taken."""

    EAGER = 0
    """Everything is revoked before the member rejoins."""
    COOPERATIVE = 1
    """What is owned is kept; what moves is revoked first, and handed out by the next rebalance (C3)."""


class Assignor(Protocol):
    """One of the consumer's assignors."""

    @property
    def name(self) -> str:
        """The protocol name of a JoinGroup, like "range"."""

    @property
    def protocols(self) -> Collection[RebalanceProtocol]:
        """The rebalance protocols that it works with."""

    def user_data(self, topics: frozenset[str]) -> bytes | None:
        """KIP-429's subscriptionUserData: what it adds to the subscription; called for each JoinGroup."""

    def assign(
        self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Mapping[str, Partitions]:
        """The leader's part: topic -> number of partitions, member id -> subscription; to what each member
        gets. Whatever it raises fails the rebalance, and the application hears of it."""

    def on_assignment(self, partitions: Partitions, generation: int) -> None:
        """The member has got its assignment."""


def common_protocol(assignors: Sequence[Assignor]) -> RebalanceProtocol:
    """The highest that all assignors support (C8). ValueError where they have none in common, or are none."""
    if not assignors:
        raise ValueError("A consumer needs an assignor, like range.")
    common = set.intersection(*(set(assignor.protocols) for assignor in assignors))
    if not common:
        names = ", ".join(assignor.name for assignor in assignors)
        raise ValueError(
            f"The assignors {names} have no rebalance protocol in common: name only such as all work with "
            "EAGER, or all with COOPERATIVE."
        )
    return max(common)
