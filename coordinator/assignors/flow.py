"""A flow from topics to members that is even first and sticky second, for `uniform` (A2).

The sum of the squared loads is to be the smallest possible, and with that sum as much as possible is to be
kept: a minimum-cost flow with convex costs. A path x -> topics -> ... -> topics -> y moves one partition of
each on it: the load of x falls by one, that of y rises by one, and the members in between swap partitions.
An assignment that no such path improves is the best. Paths are searched for all members at once, with
numpy: in Python's own containers the search took minutes for 10,000 members.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.int64]
_IMPOSSIBLE = np.iinfo(np.int64).max // 4


class Flow:
    """Counts of partitions, one for each edge between a set of topics and a member that subscribes to it.

    Members are 0 .. members - 1. `subscribers` has, for each set of topics, its members in ascending order,
    at least one; each member subscribes to some topic. `kept` has, for each edge, how many partitions the
    member can keep; edges have the order of `subscribers`.

    To give up a partition that the member can keep costs one; to take the partition back returns that cost.
    No cycle of hops has a negative cost: there is none at the start, when everything is kept, and moving
    partitions along a cheapest path never makes one.
    """

    def __init__(self, members: int, subscribers: Sequence[_Numbers], kept: _Numbers) -> None:
        self.member = np.concatenate(subscribers)
        sizes = [len(of_set) for of_set in subscribers]
        self.first = np.concatenate(([0], np.cumsum(sizes)))
        self.kept = kept
        self.count = kept.copy()
        self.load: _Numbers = np.bincount(self.member, kept, members).astype(np.int64)
        self._set = np.repeat(np.arange(len(sizes)), sizes)
        self._by_member = np.argsort(self.member, kind="stable")
        self._first_of_member = np.searchsorted(self.member[self._by_member], np.arange(members + 1))
        self._scale = members + 1
        """The worth of one unit of balance: more than any path costs, so that balance comes first."""

    def edges(self, of_set: int) -> slice:
        """The edges of a set of topics."""
        return slice(int(self.first[of_set]), int(self.first[of_set + 1]))

    def has_improving_move(self) -> bool:
        """Tell if moving a single partition would make the loads more even."""
        loads = self.load[self.member]
        lightest = np.minimum.reduceat(loads, self.first[:-1])
        return bool(np.any((self.count > 0) & (loads > lightest[self._set] + 1)))

    def place(self, of_set: int, partitions: int) -> None:
        """Give new partitions one by one to the least loaded subscriber, the first of several."""
        edges = self.edges(of_set)
        members = self.member[edges]
        loads = self.load[members]
        lowest = np.sort(loads)
        total = np.cumsum(lowest)
        filled = np.count_nonzero(lowest * np.arange(1, len(lowest) + 1) - total <= partitions)
        level, rest = divmod(int(total[filled - 1]) + partitions, int(filled))
        new = np.maximum(level - loads, 0)
        new[np.flatnonzero(loads <= level)[:rest]] += 1
        self.count[edges] += new
        self.load[members] += new

    def improve(self) -> bool:
        """Move partitions along cheapest paths that improve the flow; False if there is none."""
        search = _Search(self, *self._cheapest_paths())
        gains = -search.cost - self._scale * (self.load + 1)
        takers = [(-int(gains[taker]), int(taker)) for taker in np.flatnonzero(gains > 0)]
        heapq.heapify(takers)
        improved = False
        while takers:
            gain, taker = heapq.heappop(takers)
            if search.move_to(taker, -gain):
                improved = True
                if gain + self._scale < 0:
                    heapq.heappush(takers, (gain + self._scale, taker))
        return improved

    def _cheapest_paths(self) -> tuple[_Numbers, _Numbers, _Numbers]:
        """The cost of the cheapest path to each member and to each set of topics, and the members' levels.

        A path starts at any member, at the scale times its load below zero; a member's level is the round of
        the search (Bellman, Ford) that found its cost, so that a cheapest path passes ever higher levels.
        """
        cost = -self._scale * self.load
        level = np.zeros_like(cost)
        giving = np.where(self.count > 0, self.count <= self.kept, _IMPOSSIBLE)
        regained = self.count < self.kept
        while True:
            of_sets = np.minimum.reduceat(cost[self.member] + giving, self.first[:-1])
            offers = (of_sets[self._set] - regained)[self._by_member]
            offer = np.minimum.reduceat(offers, self._first_of_member[:-1])
            better = offer < cost
            if not better.any():
                return cost, of_sets, level
            cost = np.minimum(cost, offer)
            level[better] = level.max() + 1

    def set_of(self, edge: int) -> int:
        """The set of topics at the end of an edge."""
        return int(self._set[edge])

    def edges_of(self, member: int) -> _Numbers:
        """The edges of a member."""
        edges: _Numbers = self._by_member[self._first_of_member[member] : self._first_of_member[member + 1]]
        return edges

    def cost_of_giving(self, edge: int) -> int:
        """The cost of moving one partition off this edge; a prohibitive cost where the edge has none."""
        return int(self.count[edge] <= self.kept[edge]) if self.count[edge] else _IMPOSSIBLE

    def cost_of_taking(self, edge: int) -> int:
        """The cost of moving one partition onto this edge."""
        return -int(self.count[edge] < self.kept[edge])

    def loss_of(self, member: int, cost: int) -> int:
        """The gain that a path loses if it starts at this member, now that the member has given a
        partition."""
        return -cost - self._scale * int(self.load[member])


class _Search:
    """Cheapest paths, walked from their ends back to their starts, for as long as they stay cheapest.

    Moved partitions change the costs of hops. A dead end is not tried again; a path that this misses is found
    by the next search.
    """

    def __init__(self, flow: Flow, cost: _Numbers, cost_of_set: _Numbers, level: _Numbers) -> None:
        self.cost = cost
        self._flow = flow
        self._cost_of_set = cost_of_set
        self._level = level
        self._dead: set[int] = set()
        self._takes: dict[int, list[int]] = {}
        self._gives: dict[int, list[int]] = {}

    def move_to(self, taker: int, gain: int) -> bool:
        """Move partitions along a path to `taker`, which gains this much if the path's start has given
        nothing yet."""
        flow, members = self._flow, [taker]
        hops: list[tuple[int, int]] = []
        while members:
            member = members[-1]
            if self._level[member] == 0 and flow.loss_of(member, int(self.cost[member])) < gain:
                for given, taken in hops:
                    flow.count[given] -= 1
                    flow.count[taken] += 1
                flow.load[member] -= 1
                flow.load[taker] += 1
                return True
            hop = self._last_hop(member)
            if hop is None:
                self._dead.add(members.pop())
                del hops[-1:]
            else:
                hops.append(hop)
                members.append(int(flow.member[hop[0]]))
        return False

    def _last_hop(self, taker: int) -> tuple[int, int] | None:
        """The edges of a hop from a lower level to this member, on a cheapest path: given, taken."""
        flow = self._flow
        takes = self._takes.get(taker)
        if takes is None:
            takes = self._takes[taker] = flow.edges_of(taker).tolist()
        while takes:
            of_set = flow.set_of(takes[-1])
            if self._cost_of_set[of_set] + flow.cost_of_taking(takes[-1]) == self.cost[taker]:
                given = self._giver(of_set)
                if given is not None and self._level[flow.member[given]] < self._level[taker]:
                    return given, takes[-1]
            takes.pop()
        return None

    def _giver(self, of_set: int) -> int | None:
        """The edge of the member of the lowest level that gives of this set on cheapest paths."""
        flow = self._flow
        gives = self._gives.get(of_set)
        if gives is None:
            edges = np.arange(flow.first[of_set], flow.first[of_set + 1])
            edges = edges[flow.count[edges] > 0]
            reach = self.cost[flow.member[edges]] + (flow.count[edges] <= flow.kept[edges])
            edges = edges[reach == self._cost_of_set[of_set]]
            highest_first = np.argsort(-self._level[flow.member[edges]], kind="stable")
            gives = self._gives[of_set] = edges[highest_first].tolist()
        while gives:
            giver = int(flow.member[gives[-1]])
            reached = int(self.cost[giver]) + flow.cost_of_giving(gives[-1])
            if giver not in self._dead and reached == self._cost_of_set[of_set]:
                return gives[-1]
            gives.pop()
        return None
