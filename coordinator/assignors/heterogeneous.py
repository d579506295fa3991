"""`uniform` for members whose subscriptions differ (A2).

Topics with the same subscribers are taken together, as one set: whichever member has a partition of one may
have any partition of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np

from coordinator.assignors.flow import Flow
from coordinator.assignors.spec import GroupAssignment, MemberSubscription, TopicPartition
from coordinator.assignors.subscribers import topics_by_subscribers


def assign_heterogeneous(
    members: Mapping[str, MemberSubscription], partitions: Mapping[str, int]
) -> GroupAssignment:
    """The uniform assignment to `members`, each of which subscribes to at least one topic, and to existing
    topics only.

    The load of a member is its number of partitions. If all members can keep their present partitions, and
    moving a single partition to another subscriber does not make the loads more even, nothing moves.
    Otherwise the loads are as even as the subscriptions allow: the sum of their squares is the smallest
    possible, so that neither a move nor a chain of moves makes them more even. No other assignment with that
    sum keeps more partitions in place.
    """
    problem = Problem(members, partitions)
    if not problem.is_complete() or problem.flow.has_improving_move():
        problem.place_free()
        while problem.flow.improve():
            pass
    return problem.assignment()


class Problem:
    """The sets of topics, what each member can keep of them, and the flow between them."""

    def __init__(self, members: Mapping[str, MemberSubscription], partitions: Mapping[str, int]) -> None:
        self._members = sorted(members)
        self._subscribers = topics_by_subscribers(
            [members[member_id].topics for member_id in self._members], partitions
        )
        set_of = {topic: number for number, (_, topics) in enumerate(self._subscribers) for topic in topics}
        self._free: list[set[TopicPartition]] = [
            {(topic, index) for topic in topics for index in range(partitions[topic])}
            for _, topics in self._subscribers
        ]
        self._kept: list[dict[int, list[TopicPartition]]] = [{} for _ in self._subscribers]
        for number, member_id in enumerate(self._members):
            topics = members[member_id].topics
            for partition in sorted(members[member_id].assigned):
                if partition[0] not in topics:
                    continue
                of_set = set_of[partition[0]]
                if partition in self._free[of_set]:
                    self._free[of_set].remove(partition)
                    self._kept[of_set].setdefault(number, []).append(partition)
        subscribers = [np.array(ids, np.int64) for ids, _ in self._subscribers]
        kept = [
            len(kept.get(number, ()))
            for (ids, _), kept in zip(self._subscribers, self._kept, strict=True)
            for number in ids
        ]
        self.flow = Flow(len(self._members), subscribers, np.array(kept, np.int64))

    def is_complete(self) -> bool:
        """Tell if each partition can be kept by a member."""
        return not any(self._free)

    def place_free(self) -> None:
        """Give each partition without a member to the least loaded subscriber, scarce topics first."""
        for of_set in sorted(range(len(self._free)), key=lambda of_set: len(self._subscribers[of_set][0])):
            self.flow.place(of_set, len(self._free[of_set]))

    def assignment(self) -> GroupAssignment:
        """The partitions of each member: those it keeps, the lowest first, and others in ascending order."""
        assigned: list[list[TopicPartition]] = [[] for _ in self._members]
        for of_set, (ids, _) in enumerate(self._subscribers):
            counts = dict(zip(ids, self.flow.count[self.flow.edges(of_set)].tolist(), strict=True))
            free = self._free[of_set].copy()
            for number, kept in self._kept[of_set].items():
                assigned[number] += kept[: counts[number]]
                free.update(kept[counts[number] :])
                counts[number] -= min(len(kept), counts[number])
            pool = iter(sorted(free))
            for number in ids:
                assigned[number] += islice(pool, counts[number])
        return {
            member_id: frozenset(of_member)
            for member_id, of_member in zip(self._members, assigned, strict=True)
        }
