"""Random inputs for assignors, the legality of their output (A4), and all legal outputs of a small input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from hypothesis import strategies as st

from coordinator.assignors import AssignmentSpec, GroupAssignment, MemberSubscription, TopicPartition

MEMBERS = ["a", "b", "c", "d", "e", "f", "g", "h"]
TOPICS = ["bar", "baz", "foo", "qux", "zap"]


def spec_of(
    subscriptions: Mapping[str, set[str]],
    partitions: Mapping[str, int],
    current: GroupAssignment | None = None,
) -> AssignmentSpec:
    """A spec from plain sets; members without an entry in `current` have nothing assigned."""
    assigned = current or {}
    members = {
        member_id: MemberSubscription(frozenset(topics), assigned.get(member_id, frozenset()))
        for member_id, topics in subscriptions.items()
    }
    return AssignmentSpec(members, partitions)


def after(spec: AssignmentSpec, assignment: GroupAssignment) -> AssignmentSpec:
    """A group, once `assignment` is its current target."""
    return spec_of(
        {id_: set(member.topics) for id_, member in spec.members.items()}, spec.partitions, assignment
    )


@st.composite
def specs(
    draw: st.DrawFn, *, members: int = 4, topics: int = 3, partitions: int = 3, equal: bool | None = None
) -> AssignmentSpec:
    """A group of 1 to `members` members and up to `topics` topics with up to `partitions` partitions each.

    Members subscribe to any of the topics and perhaps to one that does not exist; all to the same if `equal`.
    The current assignment is a legal one, or gives each partition to at most one member and is out of date:
    to members that do not subscribe to it, of topics and partitions that do not exist, also below 0.
    """
    member_ids = MEMBERS[: draw(st.integers(1, members))]
    names = TOPICS[: draw(st.integers(1, topics))]
    counts = {name: draw(st.integers(0, partitions)) for name in names}
    subscription = st.sets(st.sampled_from([*names, "gone"]))
    shared = draw(subscription)
    is_equal = draw(st.booleans()) if equal is None else equal
    subscriptions = {id_: shared if is_equal else draw(subscription) for id_ in member_ids}
    fresh = spec_of(subscriptions, counts)
    owners = {
        (name, index): ["", *member_ids]
        for name in [*names, "gone"]
        for index in range(-1, counts.get(name, 0) + 1)
    }
    if draw(st.booleans()):
        owners = subscribers(fresh)
    current: dict[str, set[TopicPartition]] = {"": set(), **{id_: set() for id_ in member_ids}}
    for partition, ids in owners.items():
        current[draw(st.sampled_from(ids))].add(partition)
    return after(fresh, {id_: frozenset(partitions) for id_, partitions in current.items()})


def subscribers(spec: AssignmentSpec) -> dict[TopicPartition, list[str]]:
    """The members that may have each partition, of the partitions that any may have."""
    results = {
        (topic, index): sorted(id_ for id_, member in spec.members.items() if topic in member.topics)
        for topic, count in sorted(spec.partitions.items())
        for index in range(count)
    }
    return {partition: ids for partition, ids in results.items() if ids}


def assert_legal(spec: AssignmentSpec, assignment: GroupAssignment) -> None:
    """A4, and every member is a key."""
    assert set(assignment) == set(spec.members)
    given = sorted((partition, id_) for id_, partitions in assignment.items() for partition in partitions)
    allowed = subscribers(spec)
    assert [partition for partition, _ in given] == sorted(allowed)
    assert all(id_ in allowed[partition] for partition, id_ in given)


def legal_assignments(spec: AssignmentSpec) -> Iterator[GroupAssignment]:
    """Every legal assignment, by brute force."""
    allowed = subscribers(spec)
    for owners in product(*allowed.values()):
        assignment: dict[str, set[TopicPartition]] = {id_: set() for id_ in spec.members}
        for partition, owner in zip(allowed, owners, strict=True):
            assignment[owner].add(partition)
        yield {id_: frozenset(partitions) for id_, partitions in assignment.items()}


def kept(spec: AssignmentSpec, assignment: GroupAssignment) -> int:
    """The number of partitions that stay in place; all others that had a member are moved."""
    return sum(len(member.assigned & assignment[id_]) for id_, member in spec.members.items())


def what_is_left(spec: AssignmentSpec) -> GroupAssignment:
    """The current assignment without partitions that members may no longer have."""
    allowed = subscribers(spec)
    return {
        id_: frozenset(partition for partition in member.assigned if id_ in allowed.get(partition, []))
        for id_, member in spec.members.items()
    }
