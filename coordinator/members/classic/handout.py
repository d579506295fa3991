"""From an assignor's intended assignment to the one that a leader hands out: no partition before its owner
has revoked it (C3, C4).

The names are those of spec/Cooperative.tla and of KIP-429's "Consumer Coordinator Algorithm".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.assignors import (
    AddsUserData,
    ClassicAssignor,
    GroupMember,
    RebalanceProtocol,
    rebalance_protocol,
)
from coordinator.classic.assignors.sticky import claim_of_fields, holders
from coordinator.classic.embedded import Assignment
from coordinator.members.classic.types import NOTHING, HearsAssignment, Partitions
from coordinator.members.consumer.types import GroupMetadata


def common_protocol(assignors: Sequence[ClassicAssignor]) -> RebalanceProtocol:
    """The highest rebalance protocol that all assignors support (C8). ValueError where there is none."""
    protocol = rebalance_protocol(assignors)
    if protocol is None:
        names = ", ".join(assignor.name for assignor in assignors)
        raise ValueError(
            f"The assignors of a consumer ({names or 'none'}) must have a rebalance protocol in common: name "
            "such as all work with EAGER, or all with COOPERATIVE."
        )
    return protocol


class InconsistentAssignment(Exception):
    """An assignment that gives a member a partition that another member still owns."""


def claimants(members: Mapping[str, GroupMember]) -> dict[TopicPartition, set[str]]:
    """The claimants of each partition: a claim of an older generation does not count beside a newer one."""
    return holders({name: claim_of_fields(member.subscription) for name, member in members.items()})


def hand_out(intended: Mapping[str, Partitions], members: Mapping[str, GroupMember]) -> dict[str, Partitions]:
    """HandedOut (C3): member id -> partitions, of all members.

    maybe-revoking (owned and assigned) is withheld where its owner changes: the owner sees that the partition
    is missing, revokes it and rejoins; ready-to-migrate (assigned, and owned by no member) goes to its new
    owner at once; unknown-but-owned (owned, and assigned to no member) is given back to its owner.
    """
    owners = claimants(members)
    assigned = frozenset[TopicPartition]().union(*intended.values())
    handed = {
        name: frozenset(one for one in intended.get(name, NOTHING) if owners.get(one, set()) <= {name})
        for name in members
    }
    for one, names in owners.items():
        if one not in assigned and len(names) == 1:
            handed[min(names)] |= {one}
    return handed


def check(handed: Mapping[str, Partitions], members: Mapping[str, GroupMember]) -> None:
    """Consistent (C4): the check of a cooperative leader, whatever its assignor. InconsistentAssignment for a
    partition that two members get, or that one gets while another still owns it."""
    owners = claimants(members)
    seen: dict[TopicPartition, str] = {}
    for name, partitions in sorted(handed.items()):
        for topic, index in sorted(partitions):
            what = f"The assignor gives partition {index} of topic {topic} to"
            other = seen.setdefault((topic, index), name)
            if other != name:
                raise InconsistentAssignment(
                    f"{what} {other} and to {name}: each partition goes to one member."
                )
            others = owners.get((topic, index), set()) - {name}
            if others:
                raise InconsistentAssignment(
                    f"{what} {name} while {min(others)} still owns it: use an assignor that hands out in two "
                    "phases, like cooperative-sticky."
                )


@dataclass(frozen=True, slots=True)
class TwoPhases:
    """An assignor for members of both kinds, from any other assignor: `inner` gives the intended assignment,
    and a partition that moves is withheld until its owner has revoked it. The more `inner` leaves in place,
    the less moves."""

    inner: ClassicAssignor
    name: str
    protocols: frozenset[RebalanceProtocol] = frozenset(RebalanceProtocol)

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """The user data of `inner`."""
        return self.inner.user_data(owned, generation)

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """The part of the assignment of `inner` that may be handed out."""
        return hand_out(self.inner.assign(members, partitions), members)

    def assignment_data(self, handed: GroupAssignment) -> Mapping[str, bytes]:
        """The user data that `inner` adds to what is handed out."""
        return self.inner.assignment_data(handed) if isinstance(self.inner, AddsUserData) else {}

    def on_assignment(self, assignment: Assignment, group: GroupMetadata) -> None:
        """Pass the assignment on to `inner`, if `inner` takes it."""
        if isinstance(self.inner, HearsAssignment):
            self.inner.on_assignment(assignment, group)
