"""The `range` assignor: contiguous ranges of each topic, the same ones in co-partitioned topics (A2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from coordinator.assignors.matching import heaviest_matching
from coordinator.assignors.spec import AssignmentSpec, GroupAssignment, TopicPartition
from coordinator.assignors.subscribers import topics_by_subscribers


class RangeAssignor:
    """An assignor that cuts each topic into one contiguous range per subscriber, and hands the ranges out
    stickily.

    The ranges of a topic follow from its numbers of partitions and of subscribers alone: their lengths differ
    by at most one, the longer ranges first. Topics with the same subscribers and the same number of
    partitions are co-partitioned: a member that has a range of one of them has that range of all. Under these
    rules as many partitions as possible stay in place. Ranges that no member can keep go to the members in
    the order of their ids.
    """

    name: ClassVar[str] = "range"

    def assign(self, spec: AssignmentSpec) -> GroupAssignment:
        """The range assignment of `spec`; see PartitionAssignor.assign."""
        assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in sorted(spec.members)}
        for group in _co_partitioned(spec):
            for member_id, index in zip(group.subscribers, group.choose_ranges(spec), strict=True):
                partitions = group.range_at(index)
                assigned[member_id] += [
                    (topic, partition) for partition in partitions for topic in group.topics
                ]
        return {member_id: frozenset(partitions) for member_id, partitions in assigned.items()}


@dataclass(slots=True)
class _CoPartitioned:
    """Topics with the same subscribers (sorted member ids, at least one) and number of partitions."""

    subscribers: Sequence[str]
    partitions: int
    topics: list[str]

    def range_at(self, index: int) -> range:
        """The partitions of the range `index`; there are as many ranges as subscribers."""
        length, longer = divmod(self.partitions, len(self.subscribers))
        start = index * length + min(index, longer)
        return range(start, start + length + (index < longer))

    def range_of(self, partition: int) -> int:
        """The index of the range that holds `partition`, which must exist."""
        length, longer = divmod(self.partitions, len(self.subscribers))
        in_longer = partition // (length + 1)
        return in_longer if in_longer < longer else (partition - longer) // length

    def choose_ranges(self, spec: AssignmentSpec) -> list[int]:
        """The index of the range of each subscriber, such that most partitions stay where they are."""
        topics = set(self.topics)
        kept = [
            Counter(
                self.range_of(partition)
                for topic, partition in spec.members[member_id].assigned
                if topic in topics and 0 <= partition < self.partitions
            )
            for member_id in self.subscribers
        ]
        return heaviest_matching(kept)


def _co_partitioned(spec: AssignmentSpec) -> Iterator[_CoPartitioned]:
    member_ids = sorted(spec.members)
    subscriptions = [spec.members[member_id].topics for member_id in member_ids]
    for numbers, topics in topics_by_subscribers(subscriptions, spec.partitions):
        subscribers = [member_ids[number] for number in numbers]
        by_size: dict[int, list[str]] = defaultdict(list)
        for topic in topics:
            by_size[spec.partitions[topic]].append(topic)
        for partitions, of_size in by_size.items():
            yield _CoPartitioned(subscribers, partitions, of_size)
