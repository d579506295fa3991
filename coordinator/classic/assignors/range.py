"""The `range` assignor of classic groups (C5): each topic on its own, cut into contiguous ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.assignors.spec import GroupMember, RebalanceProtocol, subscribers


class RangeAssignor:
    """One range of each topic for each of its subscribers, in their order; the first ones may be longer."""

    name: ClassVar[str] = "range"
    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset({RebalanceProtocol.EAGER})

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """Nothing."""
        return None

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """See ClassicAssignor.assign."""
        assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in members}
        for topic, takers in subscribers(members, partitions):
            first = 0
            for place, member_id in enumerate(takers):
                length, longer = divmod(partitions[topic], len(takers))
                end = first + length + (place < longer)
                assigned[member_id] += [(topic, index) for index in range(first, end)]
                first = end
        return {member_id: frozenset(given) for member_id, given in assigned.items()}
