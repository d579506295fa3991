"""The `sticky` and `cooperative-sticky` assignors of classic groups (C5): an even spread with few moves.

The spread is that of `uniform` (A2): first as even as the subscriptions allow, then with as much kept as
possible. Members own the partitions that they claim. If two members claim a partition, the claim of the later
generation counts. Two claims of the same generation both count for nothing: one of them is wrong, and nothing
shows which.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from coordinator.assignors.spec import AssignmentSpec, GroupAssignment, MemberSubscription, TopicPartition
from coordinator.assignors.uniform import UniformAssignor
from coordinator.classic.assignors.spec import GroupMember, RebalanceProtocol
from coordinator.classic.embedded import (
    NO_GENERATION,
    Reader,
    Subscription,
    write_partitions,
)
from coordinator.core.errors import BadInput


class Claim(NamedTuple):
    """The partitions that a member claims to own, and the generation of the claim."""

    partitions: frozenset[TopicPartition] = frozenset()
    generation: int = NO_GENERATION


class StickyAssignor:
    """An assignor whose members give up everything before they rejoin (C3), and report their former
    partitions in their user data."""

    name: ClassVar[str] = "sticky"
    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset({RebalanceProtocol.EAGER})

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """Kafka's version 1: partitions by topic, and the generation."""
        if generation == NO_GENERATION:
            return None
        return write_partitions(owned, "previous assignment", "the user data") + struct.pack(">i", generation)

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """See ClassicAssignor.assign."""
        claims = {name: claim_of_user_data(member.subscription) for name, member in members.items()}
        return _spread(members, partitions, owners(claims))


class CooperativeStickyAssignor:
    """An assignor whose members keep their partitions while they rejoin (C3). No partition may be given to a
    member before another has given it up: a partition that is to move stays without a member for one
    round."""

    name: ClassVar[str] = "cooperative-sticky"
    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset(RebalanceProtocol)

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """The generation alone: the subscription has the owned partitions, and since version 2 the
        generation, too."""
        return struct.pack(">i", generation)

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """See ClassicAssignor.assign."""
        claims = {name: claim_of_fields(member.subscription) for name, member in members.items()}
        target = _spread(members, partitions, owners(claims))
        held = holders(claims)
        return {
            name: frozenset(one for one in given if held.get(one, {name}) == {name})
            for name, given in target.items()
        }


def claim_of_user_data(subscription: Subscription) -> Claim:
    """The claim of a member of `sticky`: version 0 of its user data has no generation."""
    reader = Reader(subscription.user_data or b"", "user data of sticky")
    try:
        partitions = reader.partitions("previous assignment")
        return Claim(partitions, reader.int32("generation") if reader.left >= 4 else NO_GENERATION)
    except BadInput:
        return Claim()


def claim_of_fields(subscription: Subscription) -> Claim:
    """The claim of a member of `cooperative-sticky`; before version 2 its user data has the generation."""
    generation, user_data = subscription.generation, subscription.user_data or b""
    if generation < 0 and len(user_data) >= 4:
        generation = Reader(user_data, "user data of cooperative-sticky").int32("generation")
    return Claim(subscription.owned, generation)


def holders(claims: Mapping[str, Claim]) -> dict[TopicPartition, set[str]]:
    """The members that claim each partition with the latest generation of all its claims."""
    claimants: dict[TopicPartition, set[str]] = {}
    latest: dict[TopicPartition, int] = {}
    for name, claim in claims.items():
        for one in claim.partitions:
            if claim.generation > latest.get(one, NO_GENERATION - 1):
                latest[one], claimants[one] = claim.generation, set()
            if claim.generation == latest[one]:
                claimants[one].add(name)
    return claimants


def owners(claims: Mapping[str, Claim]) -> dict[TopicPartition, str]:
    """The single owner of each partition that has exactly one."""
    return {one: names.copy().pop() for one, names in holders(claims).items() if len(names) == 1}


def _spread(
    members: Mapping[str, GroupMember], partitions: Mapping[str, int], owned: Mapping[TopicPartition, str]
) -> GroupAssignment:
    """The most even assignment that keeps most of what is owned."""
    kept: dict[str, set[TopicPartition]] = {name: set() for name in members}
    for one, name in owned.items():
        kept[name].add(one)
    spec = {
        name: MemberSubscription(member.subscription.topics, frozenset(kept[name]))
        for name, member in members.items()
    }
    return UniformAssignor().assign(AssignmentSpec(spec, partitions))
