"""Groups of any size: the subscriptions of their members, deterministically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from coordinator.assignors import ASSIGNORS, AssignmentSpec, GroupAssignment, MemberSubscription

PARTITIONS_PER_TOPIC: Final = 100


@dataclass(frozen=True)
class Size:
    """Members and topics; each topic has PARTITIONS_PER_TOPIC partitions."""

    members: int
    topics: int

    @property
    def partitions(self) -> int:
        """The number of partitions of all topics."""
        return self.topics * PARTITIONS_PER_TOPIC


SIZES: Final = (Size(1_000, 100), Size(10_000, 1_000))


@dataclass(frozen=True)
class Shape:
    """An assignor, and the way in which its members subscribe."""

    assignor: str
    subscriptions: str
    """"all", "sets" (5 overlapping sets of topics), "few" (20 topics, different for each member)."""

    @property
    def title(self) -> str:
        """The words for a table."""
        words = {"all": "all topics", "sets": "5 overlapping sets of topics", "few": "20 topics of their own"}
        return f"{self.assignor}, {words[self.subscriptions]}"


SHAPES: Final = (
    Shape("uniform", "all"),
    Shape("uniform", "sets"),
    Shape("uniform", "few"),
    Shape("range", "all"),
)


def topic_name(number: int) -> str:
    """The name of a topic by its number."""
    return f"topic-{number:04d}"


def topic_id(number: int) -> str:
    """The id of a topic by its number."""
    return f"00000000-0000-4000-8000-{number:012x}"


def subscriptions_of(shape: Shape, size: Size, members: int) -> dict[str, frozenset[int]]:
    """Member id -> numbers of topics, for so many members. Members that subscribe alike share a set."""
    random = Random(848)
    everything = range(size.topics)
    all_topics = frozenset(everything)
    fifth = max(1, size.topics // 5)
    sets = [
        frozenset(n for n in everything if first - fifth // 2 <= n < first + fifth)
        for first in range(0, 5 * fifth, fifth)
    ]
    chosen: dict[str, frozenset[int]] = {}
    for number in range(members):
        if shape.subscriptions == "all":
            topics = all_topics
        elif shape.subscriptions == "sets":
            topics = sets[number % 5]
        else:
            topics = frozenset(random.sample(everything, min(20, size.topics)))
        chosen[member_id(number)] = topics
    return chosen


def member_id(number: int) -> str:
    """A member's id, as long as a UUID; ids do not sort in the order of joining."""
    return f"{number * 2_654_435_761 % 2**32:08x}-0000-4000-8000-{number:012x}"


def spec(
    subscriptions: Mapping[str, frozenset[int]], size: Size, current: GroupAssignment | None = None
) -> AssignmentSpec:
    """The input of an assignor: topics by id, equal subscriptions shared."""
    ids: dict[frozenset[int], frozenset[str]] = {}
    for topics in subscriptions.values():
        if topics not in ids:
            ids[topics] = frozenset(map(topic_id, topics))
    assigned = current or {}
    return AssignmentSpec(
        {
            member: MemberSubscription(ids[topics], assigned.get(member, frozenset()))
            for member, topics in subscriptions.items()
        },
        {topic_id(number): PARTITIONS_PER_TOPIC for number in range(size.topics)},
    )


def assign(shape: Shape, given: AssignmentSpec) -> GroupAssignment:
    """The assignment of the assignor."""
    return ASSIGNORS[shape.assignor].assign(given)
