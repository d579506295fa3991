"""The `uniform` assignor: an even spread over the members, with few partitions moved (A2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from coordinator.assignors.spec import AssignmentSpec, GroupAssignment, MemberSubscription, TopicPartition


class UniformAssignor:
    """An assignor that spreads all partitions evenly over the members, whatever their topics, and moves as
    few as possible.

    If all members that subscribe to an existing topic subscribe to the same topics, their numbers of
    partitions differ by at most one, and no such assignment moves fewer partitions. Otherwise see
    `assign_heterogeneous`.
    """

    name: ClassVar[str] = "uniform"

    def assign(self, spec: AssignmentSpec) -> GroupAssignment:
        """The uniform assignment of `spec`; see PartitionAssignor.assign."""
        members = spec.members
        subscriptions = {member.topics for member in members.values()}
        if len(subscriptions) == 1:
            return _assign_equal(members, sorted(members), subscriptions.pop(), spec.partitions)
        existing = frozenset(spec.partitions)
        known = {subscription: subscription & existing for subscription in subscriptions}
        topics = {member_id: known[members[member_id].topics] for member_id in sorted(members)}
        subscribed = [member_id for member_id in topics if topics[member_id]]
        assignment: GroupAssignment = dict.fromkeys(topics, frozenset())
        if len({topics[member_id] for member_id in subscribed}) == 1:
            assignment |= _assign_equal(members, subscribed, topics[subscribed[0]], spec.partitions)
        elif subscribed:
            # This module imports numpy, which takes longer than the rest of the coordinator: only the code
            # that uses it waits for it.
            from coordinator.assignors.heterogeneous import assign_heterogeneous

            assignment |= assign_heterogeneous(
                {id_: MemberSubscription(topics[id_], members[id_].assigned) for id_ in subscribed},
                spec.partitions,
            )
        return assignment


def _assign_equal(
    members: Mapping[str, MemberSubscription],
    member_ids: list[str],
    topics: Iterable[str],
    counts: Mapping[str, int],
) -> GroupAssignment:
    """The assignment to `member_ids` (sorted, not empty), each of which subscribes to `topics`."""
    partitions = [
        (topic, index) for topic in sorted(topics) if topic in counts for index in range(counts[topic])
    ]
    free = set(partitions)
    assignment: GroupAssignment = {}
    for member_id in member_ids:
        kept = members[member_id].assigned & free
        assignment[member_id] = kept
        free -= kept
    size, remainder = divmod(len(partitions), len(member_ids))
    missing = dict.fromkeys(member_ids, size)
    if remainder:
        larger = sorted(member_ids, key=lambda member_id: len(assignment[member_id]) <= size)[:remainder]
        missing |= dict.fromkeys(larger, size + 1)
    for member_id, kept in assignment.items():
        missing[member_id] -= len(kept)
        if missing[member_id] < 0:
            surplus = sorted(kept)[missing[member_id] :]
            assignment[member_id] = kept.difference(surplus)
            free.update(surplus)
    if free:
        turns = sorted((turn, member_id) for member_id, count in missing.items() for turn in range(count))
        new: dict[str, list[TopicPartition]] = {member_id: [] for _, member_id in turns}
        for partition, (_, member_id) in zip(filter(free.__contains__, partitions), turns, strict=True):
            new[member_id].append(partition)
        for member_id, of_member in new.items():
            assignment[member_id] = assignment[member_id].union(of_member)
    return assignment
