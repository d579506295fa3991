"""From what an assignor intends to what a leader hands out: nothing before its owner has revoked it (C3, C4).

The names are those of spec/Cooperative.tla and of KIP-429's "Consumer Coordinator Algorithm".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coordinator.classic.embedded import Subscription, TopicPartition
from coordinator.classic_member.assignor import Assignor, RebalanceProtocol
from coordinator.classic_member.types import NOTHING, Partitions


class InconsistentAssignment(Exception):
    """An assignment that gives to a member what another still owns."""


def claimants(subscriptions: Mapping[str, Subscription]) -> dict[TopicPartition, str]:
    """Who owns what, as the members say: a claim of an older generation does not count beside a newer one,
    and of two of one generation neither is right, so that the first member id decides."""
    owners: dict[TopicPartition, str] = {}
    for member_id, subscription in sorted(subscriptions.items()):
        for partition in subscription.owned:
            holder = owners.get(partition)
            if holder is None or subscriptions[holder].generation < subscription.generation:
                owners[partition] = member_id
    return owners


def hand_out(
    intended: Mapping[str, Partitions], subscriptions: Mapping[str, Subscription]
) -> dict[str, Partitions]:
    """HandedOut (C3). Member id -> partitions, of all members that have a subscription.

    maybe-revoking (owned and assigned) is withheld where its owner changes: the owner sees that it has lost
    it, revokes it and rejoins; ready-to-migrate (assigned, and owned by nobody) goes to its new owner at
    once; unknown-but-owned (owned, and assigned to nobody) is given back to its owner.
    """
    owners = claimants(subscriptions)
    assigned = frozenset[TopicPartition]().union(*intended.values())
    handed = {
        member_id: frozenset(
            partition
            for partition in intended.get(member_id, NOTHING)
            if owners.get(partition, member_id) == member_id
        )
        for member_id in subscriptions
    }
    for partition, owner in owners.items():
        if partition not in assigned:
            handed[owner] |= {partition}
    return handed


def check(handed: Mapping[str, Partitions], subscriptions: Mapping[str, Subscription]) -> None:
    """Consistent (C4): the check of a cooperative leader, whatever its assignor. InconsistentAssignment for
    a partition that goes to two, or to one while another still owns it."""
    owners = claimants(subscriptions)
    seen: dict[TopicPartition, str] = {}
    for member_id, partitions in sorted(handed.items()):
        for topic, index in sorted(partitions):
            other = seen.setdefault((topic, index), member_id)
            owner = owners.get((topic, index), member_id)
            if other != member_id:
                raise InconsistentAssignment(
                    f"The assignor gives partition {index} of topic {topic} to {other} and to {member_id}: "
                    "each partition goes to one member."
                )
            if owner != member_id:
                raise InconsistentAssignment(
                    f"The assignor gives partition {index} of topic {topic} to {member_id} while {owner} "
                    "still owns it: use an assignor that hands out in two phases, like cooperative-sticky."
                )


@dataclass(frozen=True, slots=True)
class TwoPhases:
    """An assignor that works with members of both kinds: `inner` says what is intended, and what moves is
    withheld until its owner has revoked it. The more `inner` leaves where it is, the less moves."""

    inner: Assignor
    name: str = "cooperative-sticky"
    protocols: frozenset[RebalanceProtocol] = frozenset(RebalanceProtocol)

    def user_data(self, topics: frozenset[str]) -> bytes | None:
        """That of `inner`."""
        return self.inner.user_data(topics)

    def assign(
        self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Mapping[str, Partitions]:
        """What may be handed out of what `inner` intends."""
        return hand_out(self.inner.assign(partitions, subscriptions), subscriptions)

    def on_assignment(self, partitions: Partitions, generation: int) -> None:
        """Told to `inner`."""
        self.inner.on_assignment(partitions, generation)
