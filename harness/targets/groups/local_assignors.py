"""Client-side assignors for simulated consumers (A5), as group.local.assignors would name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.members.consumer.assignors import (
    AssignedMember,
    AssignedPart,
    AssignedTopic,
    Assignment,
    Metadata,
    PartitionAssignor,
)
from coordinator.members.consumer.types import GroupMetadata, Partitions

NEWS: Final = 2
"""The number of times that an assignor has news for the others; limited, so that groups come to rest (R8)."""


def local_assignor(name: str) -> PartitionAssignor:
    """The assignor of that name: "spread" and "reversed" give all members as much as possible, beginning at
    either end; "picky" does so, too, but raises for a group of three. KeyError for another name."""
    return {"spread": _Spread, "reversed": _Reversed, "picky": _Picky}[name]()


class _Spread:
    name = "spread"
    minimum_version = 0
    maximum_version = 1

    def __init__(self) -> None:
        self._told = 0

    def metadata(self) -> Metadata:
        """E1: another reason is another version of the group's metadata."""
        return Metadata(version=1, reason=min(self._told, NEWS))

    def assign(
        self, members: Mapping[str, AssignedMember], topics: Mapping[str, AssignedTopic]
    ) -> Assignment:
        """Assign each partition to the subscriber that has the fewest so far."""
        parts: dict[str, set[tuple[str, int]]] = {name: set() for name in self.in_order(sorted(members))}
        for topic, shown in sorted(topics.items()):
            able = [name for name in parts if topic in members[name].topics]
            for index in range(shown.partitions):
                parts[min(able, key=lambda name: len(parts[name]))].add((topic, index))
        return Assignment({name: AssignedPart(frozenset(part)) for name, part in parts.items()})

    def in_order(self, names: list[str]) -> list[str]:
        """The member ids in the order in which they are served."""
        return names

    def on_assignment(
        self, error: int, metadata: Metadata, partitions: Partitions, group: GroupMetadata
    ) -> None:
        """Count the assignments that were announced."""
        self._told += 1


class _Reversed(_Spread):
    name = "reversed"

    def in_order(self, names: list[str]) -> list[str]:
        return names[::-1]


class _Picky(_Spread):
    name = "picky"

    def assign(
        self, members: Mapping[str, AssignedMember], topics: Mapping[str, AssignedTopic]
    ) -> Assignment:
        if len(members) == 3:
            raise RuntimeError("A group of three is not to my liking.")
        return super().assign(members, topics)
