"""The `roundrobin` assignor of classic groups (C5): the partitions of all topics go around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.assignors.spec import GroupMember, RebalanceProtocol, in_order, subscribers


class RoundRobinAssignor:
    """One partition after the other, topic by topic, each to the next member that subscribes to its topic."""

    name: ClassVar[str] = "roundrobin"
    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset({RebalanceProtocol.EAGER})

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        """Nothing."""
        return None

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        """See ClassicAssignor.assign."""
        ordered = in_order(members)
        assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in members}
        turn = 0
        for topic, takers in subscribers(members, partitions):
            for index in range(partitions[topic] if takers else 0):
                while topic not in members[ordered[turn]].subscription.topics:
                    turn = (turn + 1) % len(ordered)
                assigned[ordered[turn]].append((topic, index))
                turn = (turn + 1) % len(ordered)
        return {member_id: frozenset(given) for member_id, given in assigned.items()}
