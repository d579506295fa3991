"""The interface of a client-side assignor of classic groups (C5): the leader's computation, as a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, runtime_checkable

from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.embedded import Assignment, Subscription


class RebalanceProtocol(IntEnum):
    """How members rejoin (C3); the ids are Kafka's."""

    EAGER = 0
    """Members rejoin without partitions: they give everything up before."""
    COOPERATIVE = 1
    """Members rejoin with the partitions that they own, without those that they were told to revoke."""


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member as the leader knows it."""

    subscription: Subscription
    instance_id: str | None = None


class ClassicAssignor(Protocol):
    """An assignor; a JoinGroup chooses it by listing its name as a protocol."""

    @property
    def name(self) -> str:
        """The name of the assignor in JoinGroup."""

    @property
    def protocols(self) -> frozenset[RebalanceProtocol]:
        """The ways to rejoin that it supports."""

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """The user data of a subscription of a member that was assigned `owned` in that generation; -1 for no
        generation."""

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """The partitions of each member; `partitions` has the number of partitions of each existing topic.

        Each member is a key, and is assigned partitions of topics that it subscribes to. No partition has two
        members. A partition that a member subscribes to has a member, unless another member must first give
        it up (C3). User data that cannot be read is ignored: its sender may use another assignor.
        """


@runtime_checkable
class AddsUserData(Protocol):
    """An assignor whose leader has user data for members (CSA: "custom data in both the subscription and
    assignment")."""

    def assignment_data(self, handed: GroupAssignment) -> Mapping[str, bytes]:
        """User data by member id for the last result of `assign`; a member without an entry has no user
        data."""


def with_user_data(assignor: ClassicAssignor, handed: GroupAssignment) -> dict[str, Assignment]:
    """The assignment of each member, with its user data (C5)."""
    data = assignor.assignment_data(handed) if isinstance(assignor, AddsUserData) else {}
    return {name: Assignment(given, data.get(name)) for name, given in handed.items()}


def in_order(members: Mapping[str, GroupMember]) -> list[str]:
    """Static members by instance id, so that a restart changes nothing, and then the dynamic members by
    member id."""

    def place(member_id: str) -> tuple[bool, str]:
        instance_id = members[member_id].instance_id
        return instance_id is None, member_id if instance_id is None else instance_id

    return sorted(members, key=place)


def subscribers(
    members: Mapping[str, GroupMember], partitions: Mapping[str, int]
) -> Iterator[tuple[str, list[str]]]:
    """Each topic that exists, sorted, with its subscribers in their order."""
    ordered = in_order(members)
    for topic in sorted(partitions):
        yield topic, [member_id for member_id in ordered if topic in members[member_id].subscription.topics]
