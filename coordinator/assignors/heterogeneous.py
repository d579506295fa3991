"""`uniform` for members whose subscriptions differ (A2): a minimum-cost flow.

Each topic sends its partitions to its subscribers. A path x -> topic -> ... -> topic -> y moves one partition
of each topic on it: the load of x falls by one, that of y rises by one, and the members in between swap
partitions. As in every minimum-cost flow with convex costs, an assignment that no such path improves is
the best one.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from coordinator.assignors.spec import GroupAssignment, MemberSubscription, TopicPartition


def assign_heterogeneous(
    members: Mapping[str, MemberSubscription], partitions: Mapping[str, int]
) -> GroupAssignment:
    """The uniform assignment to `members`, each of which subscribes to existing topics only.

    The load of a member is its number of partitions. If the members can keep all partitions as they have
    them now, and moving a single one to another subscriber does not make the loads more even, nothing moves.
    Otherwise the loads are as even as the subscriptions allow: the sum of their squares is the smallest
    possible, so neither a move nor a chain of moves makes them more even. Of all assignments with that sum,
    none keeps more partitions where they are.
    """
    flow = _Flow(members, partitions)
    if not flow.is_complete() or flow.has_improving_move():
        flow.place_free()
        flow.move_directly()
        while flow.improve():
            pass
    return flow.assignment()


class _Hop(NamedTuple):
    """One partition of `topic` moves from `giver` to `taker`."""

    giver: str
    topic: str
    taker: str


class _Flow:
    """How many partitions of each topic each member has, and which ones it can keep.

    Giving up a partition that the member can keep costs one, taking it back returns that. No cycle of hops
    has a negative cost: none does at the start, when everything is kept, and moving partitions along a
    cheapest path never makes one.
    """

    def __init__(self, members: Mapping[str, MemberSubscription], partitions: Mapping[str, int]) -> None:
        self._members = sorted(members)
        self._subscribers: dict[str, list[str]] = {}
        for member_id in self._members:
            for topic in members[member_id].topics:
                self._subscribers.setdefault(topic, []).append(member_id)
        self._topics = sorted(self._subscribers)
        self._free = {topic: set(range(partitions[topic])) for topic in self._topics}
        self._kept: dict[str, dict[str, list[int]]] = {}
        for member_id in self._members:
            kept = self._kept[member_id] = {}
            for topic, index in sorted(members[member_id].assigned):
                if topic in members[member_id].topics and index in self._free[topic]:
                    self._free[topic].remove(index)
                    kept.setdefault(topic, []).append(index)
        self._count = {
            member_id: {topic: len(indexes) for topic, indexes in kept.items()}
            for member_id, kept in self._kept.items()
        }
        self._load = {member_id: sum(count.values()) for member_id, count in self._count.items()}

    def is_complete(self) -> bool:
        """Whether each partition can be kept by a member."""
        return not any(self._free.values())

    def has_improving_move(self) -> bool:
        """Whether moving a single partition would make the loads more even."""
        lightest = {
            topic: min(self._load[taker] for taker in ids) for topic, ids in self._subscribers.items()
        }
        return any(
            self._load[giver] > lightest[topic] + 1 for giver, count in self._count.items() for topic in count
        )

    def place_free(self) -> None:
        """Give each partition without a member to the least loaded subscriber, scarce topics first."""
        for topic in sorted(self._topics, key=lambda topic: len(self._subscribers[topic])):
            heap = [(self._load[taker], taker) for taker in self._subscribers[topic]]
            heapq.heapify(heap)
            for _ in self._free[topic]:
                load, taker = heap[0]
                self._count[taker][topic] = self._count[taker].get(topic, 0) + 1
                self._load[taker] = load + 1
                heapq.heapreplace(heap, (load + 1, taker))

    def move_directly(self) -> None:
        """Make single moves that improve the balance, from members that only give to members that only take.

        `improve` would find them all, but with a search for each. As long as those who give have kept
        partitions only, and never take, no path between two members is cheaper than such a move. The heaviest
        gives first, which leaves it within one of the others that may still give: it never takes from them.
        """
        heaps = {
            topic: sorted((self._load[id_], id_) for id_ in ids) for topic, ids in self._subscribers.items()
        }
        takers = {
            member_id
            for member_id, kept in self._kept.items()
            if self._load[member_id] > sum(map(len, kept.values()))
        }
        heaviest = [(-self._load[giver], giver) for giver in self._members]
        heapq.heapify(heaviest)
        while heaviest:
            _, giver = heapq.heappop(heaviest)
            topics = [topic for topic, count in self._count[giver].items() if count > 0]
            if giver in takers or not topics:
                continue
            load, taker, topic = min((*_lightest(heaps[topic], self._load), topic) for topic in topics)
            if load + 1 < self._load[giver]:
                self._move(_Hop(giver, topic, taker))
                takers.add(taker)
                heapq.heappush(heaviest, (-self._load[giver], giver))

    def improve(self) -> bool:
        """Move partitions along cheapest paths that improve the assignment; False if there is none."""
        scale = self._scale()
        costs, last_hops = self._cheapest_paths()
        improved = False
        for taker in sorted(self._members, key=lambda taker: costs[taker] + scale * self._load[taker]):
            path: list[_Hop] = []
            giver = taker
            while giver in last_hops:
                path.append(last_hops[giver])
                giver = last_hops[giver].giver
            cost = costs[taker] - costs[giver]
            gain = scale * (self._load[giver] - self._load[taker] - 1) - cost
            if gain > 0 and self._cost(path) == cost:  # else a path moved before has changed this one
                for hop in path:
                    self._move(hop)
                improved = True
        return improved

    def _scale(self) -> int:
        """What one unit of balance is worth: more than any path costs, so that balance comes first."""
        return len(self._members) + 1

    def _cheapest_paths(self) -> tuple[dict[str, int], dict[str, _Hop]]:
        """Of each member, the cost of the cheapest path to it, and the last hop of that path (Bellman, Ford).

        A path starts at any member, at the scale times its load below zero.
        """
        costs = {member_id: -self._scale() * load for member_id, load in self._load.items()}
        last_hops: dict[str, _Hop] = {}
        topic_costs = dict.fromkeys(self._topics, self._scale())
        queue = deque(sorted(self._members, key=costs.__getitem__))
        queued = set(queue)
        while queue:
            giver = queue.popleft()
            queued.remove(giver)
            for topic, count in self._count[giver].items():
                topic_cost = costs[giver] + self._cost_of_giving(giver, topic)
                if count == 0 or topic_cost >= topic_costs[topic]:
                    continue
                topic_costs[topic] = topic_cost
                for taker in self._subscribers[topic]:
                    cost = topic_cost + self._cost_of_taking(taker, topic)
                    if cost < costs[taker]:
                        costs[taker] = cost
                        last_hops[taker] = _Hop(giver, topic, taker)
                        if taker not in queued:
                            queued.add(taker)
                            queue.append(taker)
        return costs, last_hops

    def _cost(self, path: list[_Hop]) -> int | None:
        """The cost of a path; None if a giver has nothing to give."""
        if any(self._count[hop.giver].get(hop.topic, 0) == 0 for hop in path):
            return None
        return sum(
            self._cost_of_giving(hop.giver, hop.topic) + self._cost_of_taking(hop.taker, hop.topic)
            for hop in path
        )

    def _cost_of_giving(self, member_id: str, topic: str) -> int:
        return int(self._count[member_id][topic] <= len(self._kept[member_id].get(topic, ())))

    def _cost_of_taking(self, member_id: str, topic: str) -> int:
        return -int(self._count[member_id].get(topic, 0) < len(self._kept[member_id].get(topic, ())))

    def _move(self, hop: _Hop) -> None:
        self._count[hop.giver][hop.topic] -= 1
        self._count[hop.taker][hop.topic] = self._count[hop.taker].get(hop.topic, 0) + 1
        self._load[hop.giver] -= 1
        self._load[hop.taker] += 1

    def assignment(self) -> GroupAssignment:
        """The partitions of each member: those it keeps, the lowest first, and others in ascending order."""
        assignment: dict[str, list[TopicPartition]] = {member_id: [] for member_id in self._members}
        free = {topic: set(indexes) for topic, indexes in self._free.items()}
        for member_id, kept in self._kept.items():
            for topic, indexes in kept.items():
                count = self._count[member_id][topic]
                assignment[member_id] += [(topic, index) for index in indexes[:count]]
                free[topic].update(indexes[count:])
        for topic in self._topics:
            pool = iter(sorted(free[topic]))
            for member_id in self._subscribers[topic]:
                new = self._count[member_id].get(topic, 0) - len(self._kept[member_id].get(topic, ()))
                assignment[member_id] += [(topic, next(pool)) for _ in range(new)]
        return {member_id: frozenset(partitions) for member_id, partitions in assignment.items()}


def _lightest(heap: list[tuple[int, str]], load: Mapping[str, int]) -> tuple[int, str]:
    """The top of a heap of (load, member id), once it is up to date; the loads of takers only rise."""
    while heap[0][0] != load[heap[0][1]]:
        heapq.heapreplace(heap, (load[heap[0][1]], heap[0][1]))
    return heap[0]
