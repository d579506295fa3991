"""The interface of a server-side assignor (KIP-848, "Server Side PartitionAssignor"; requirement A2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

TopicPartition = tuple[str, int]
"""A topic (its name or its id: the form that `AssignmentSpec.partitions` uses) and the index of a partition,
from 0."""

GroupAssignment = dict[str, frozenset[TopicPartition]]
"""Member id -> the partitions of its target assignment; every member of the group is a key."""


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """A member as an assignor knows it (KIP-848's AssignmentMemberSpec): its topics, its current target
    assignment, and its metadata."""

    topics: frozenset[str]
    """Topics that are not in `AssignmentSpec.partitions` do not exist and are ignored; may be empty."""
    assigned: frozenset[TopicPartition]
    """The current target assignment of the member. Partitions that the member may no longer have can be among
    them; no assignor returns those to it."""
    instance_id: str | None = None
    """None for a dynamic member (S1)."""
    rack_id: str | None = None
    """None where the member has not given a rack. Neither `range` nor `uniform` looks at racks: see
    LooksAtRacks."""


@dataclass(frozen=True, slots=True)
class AssignmentSpec:
    """The input of an assignor: the group's metadata and its current target assignment (A3)."""

    members: Mapping[str, MemberSubscription]
    """By member id."""
    partitions: Mapping[str, int]
    """Topic -> number of partitions, for the topics that exist."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Topic id -> its name, for the same topics; empty where topics are given by name."""


class PartitionAssignorError(Exception):
    """An assignor cannot compute an assignment: the group keeps its current target (A7)."""


class PartitionAssignor(Protocol):
    """A pluggable server-side assignor (A2)."""

    @property
    def name(self) -> str:
        """The name by which a member chooses this assignor in ServerAssignor."""

    def assign(self, spec: AssignmentSpec) -> GroupAssignment:
        """A legal target assignment (A4), as a function of `spec` alone (A3).

        Each partition of a topic that has a subscriber goes to exactly one of its subscribers, and nothing
        else is assigned. The order of mappings and sets in `spec` makes no difference. Raises
        PartitionAssignorError if the assignor cannot compute an assignment. Any other error, and an
        assignment that is not legal, counts as that error (checked.py).
        """


@runtime_checkable
class LooksAtRacks(Protocol):
    """An assignor that declares, by this attribute alone, that racks are a part of its input. While a group
    uses such an assignor, a change of a member's rack bumps the group epoch (E1)."""

    looks_at_racks: bool
