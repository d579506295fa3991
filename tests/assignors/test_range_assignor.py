"""`range` (A2): contiguous ranges within one of each other, co-partitioned topics, few partitions moved."""

from __future__ import annotations

from itertools import pairwise, permutations

import networkx as nx
from assignor_specs import after, assert_legal, kept, spec_of, specs
from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.assignors import AssignmentSpec, GroupAssignment, RangeAssignor
from coordinator.assignors.matching import heaviest_matching

RANGE = RangeAssignor()


def of_topic(assignment: GroupAssignment, topic: str) -> dict[str, list[int]]:
    return {
        id_: sorted(index for name, index in partitions if name == topic)
        for id_, partitions in assignment.items()
    }


def subscribers_of(spec: AssignmentSpec, topic: str) -> list[str]:
    return sorted(id_ for id_, member in spec.members.items() if topic in member.topics)


def ranges(partitions: int, members: int) -> list[list[int]]:
    """The ranges of a topic, the first ones one longer if need be."""
    bounds = [0]
    for index in range(members):
        bounds.append(bounds[-1] + partitions // members + (index < partitions % members))
    return [list(range(start, end)) for start, end in pairwise(bounds)]


@given(specs(members=8, topics=5, partitions=12))
def test_each_topic_is_cut_into_ranges_within_one_of_each_other(spec: AssignmentSpec) -> None:
    assignment = RANGE.assign(spec)
    assert_legal(spec, assignment)
    for topic, count in spec.partitions.items():
        if ids := subscribers_of(spec, topic):
            held = of_topic(assignment, topic)
            assert sorted(held[id_] for id_ in ids) == sorted(ranges(count, len(ids)))


@given(specs(members=6, topics=5, partitions=4))
def test_topics_with_the_same_subscribers_and_size_are_co_partitioned(spec: AssignmentSpec) -> None:
    assignment = RANGE.assign(spec)
    for one in spec.partitions:
        for other in spec.partitions:
            same_size = spec.partitions[one] == spec.partitions[other]
            if same_size and subscribers_of(spec, one) == subscribers_of(spec, other):
                assert of_topic(assignment, one) == of_topic(assignment, other)


@given(specs(members=4, topics=4, partitions=6))
def test_no_other_order_of_the_ranges_keeps_more(spec: AssignmentSpec) -> None:
    co_partitioned: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for topic, count in spec.partitions.items():
        co_partitioned.setdefault((count, tuple(subscribers_of(spec, topic))), []).append(topic)
    most = 0
    for (count, ids), topics in co_partitioned.items():
        most += (
            max(
                sum(
                    (topic, index) in spec.members[id_].assigned
                    for id_, indexes in zip(ids, order, strict=True)
                    for topic in topics
                    for index in indexes
                )
                for order in permutations(ranges(count, len(ids)))
            )
            if ids
            else 0
        )
    assert kept(spec, RANGE.assign(spec)) == most


@given(specs(members=8, topics=5, partitions=12))
def test_an_assignment_with_nothing_changed_stays_as_it_is(spec: AssignmentSpec) -> None:
    assignment = RANGE.assign(spec)
    assert RANGE.assign(after(spec, assignment)) == assignment


@given(
    st.integers(1, 9).flatmap(
        lambda size: st.lists(
            st.dictionaries(st.integers(0, size - 1), st.integers(1, 9)), min_size=size, max_size=size
        )
    )
)
@example([{1: 2, 2: 1}, {1: 1}, {1: 1, 2: 1}])
def test_matching_is_as_heavy_as_another_solvers(weights: list[dict[int, int]]) -> None:
    columns = heaviest_matching(weights)
    assert sorted(columns) == list(range(len(weights)))
    graph = nx.Graph()
    for row, of_row in enumerate(weights):
        graph.add_weighted_edges_from((("row", row), ("column", column), w) for column, w in of_row.items())
    heaviest = sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph))
    assert sum(weights[row].get(column, 0) for row, column in enumerate(columns)) == heaviest


def test_a_fresh_group_takes_the_ranges_by_member_id() -> None:
    assignment = RANGE.assign(spec_of({"b": {"foo", "bar"}, "a": {"foo", "bar"}}, {"foo": 3, "bar": 2}))
    assert assignment == {
        "a": frozenset({("foo", 0), ("foo", 1), ("bar", 0)}),
        "b": frozenset({("foo", 2), ("bar", 1)}),
    }


def test_a_joining_member_takes_the_range_that_costs_the_others_least() -> None:
    spec = spec_of({"b": {"foo"}, "c": {"foo"}}, {"foo": 6})
    joined = spec_of({"a": {"foo"}, "b": {"foo"}, "c": {"foo"}}, {"foo": 6}, RANGE.assign(spec))
    assert of_topic(RANGE.assign(joined), "foo") == {"a": [2, 3], "b": [0, 1], "c": [4, 5]}


def test_only_the_topics_of_the_co_partitioned_subset_share_ranges() -> None:
    both, one = {"bar", "baz", "foo"}, {"bar", "baz"}
    current = {"a": frozenset({("bar", 1), ("baz", 1)}), "b": frozenset({("bar", 0), ("baz", 0)})}
    spec = spec_of({"a": both, "b": one}, {"bar": 2, "baz": 2, "foo": 2}, current)
    assert RANGE.assign(spec) == {"a": current["a"] | {("foo", 0), ("foo", 1)}, "b": current["b"]}


def test_more_members_than_partitions_and_members_without_topics() -> None:
    spec = spec_of({"a": set(), "b": {"foo"}, "c": {"foo"}, "d": {"gone"}}, {"foo": 1})
    nothing: frozenset[tuple[str, int]] = frozenset()
    assert RANGE.assign(spec) == {"a": nothing, "b": frozenset({("foo", 0)}), "c": nothing, "d": nothing}
