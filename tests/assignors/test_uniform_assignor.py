"""`uniform` (A2): balance, stability, and movement compared with brute force and with another solver."""

from __future__ import annotations

import networkx as nx
from assignor_specs import (
    after,
    assert_legal,
    kept,
    legal_assignments,
    spec_of,
    specs,
    subscribers,
    what_is_left,
)
from hypothesis import given, settings

from coordinator.assignors import AssignmentSpec, GroupAssignment, MemberSubscription, UniformAssignor
from coordinator.assignors.heterogeneous import Problem

UNIFORM = UniformAssignor()


def squares(assignment: GroupAssignment) -> int:
    return sum(len(partitions) ** 2 for partitions in assignment.values())


def within_one(assignment: GroupAssignment) -> bool:
    loads = [len(partitions) for partitions in assignment.values()]
    return max(loads) - min(loads) <= 1


def no_single_move_improves(spec: AssignmentSpec, assignment: GroupAssignment) -> bool:
    allowed = subscribers(spec)
    return all(
        len(partitions) <= len(assignment[other]) + 1
        for partitions in assignment.values()
        for partition in partitions
        for other in allowed[partition]
    )


def is_settled(spec: AssignmentSpec) -> bool:
    """Tell if all partitions can be kept, and then no single move improves the balance."""
    left = what_is_left(spec)
    return set().union(*left.values()) == set(subscribers(spec)) and no_single_move_improves(spec, left)


def best_by_flow(spec: AssignmentSpec) -> tuple[int, int]:
    """The least sum of squared loads, and the most partitions kept with it, by networkx."""
    allowed = subscribers(spec)
    worth = len(allowed) + 1
    graph = nx.DiGraph()
    graph.add_node("sink", demand=len(allowed))
    for partition, ids in allowed.items():
        graph.add_node(partition, demand=-1)
        for id_ in ids:
            graph.add_edge(partition, id_, capacity=1, weight=-(partition in spec.members[id_].assigned))
    for id_ in spec.members:
        for load in range(len(allowed)):
            graph.add_edge(id_, (id_, load), capacity=1, weight=worth * (2 * load + 1))
            graph.add_edge((id_, load), "sink", capacity=1, weight=0)
    cost, _ = nx.network_simplex(graph)
    return -(-cost // worth), -cost % worth


@given(specs(members=8, topics=5, partitions=8, equal=True))
def test_equal_subscriptions_give_loads_within_one(spec: AssignmentSpec) -> None:
    assignment = UNIFORM.assign(spec)
    assert_legal(spec, assignment)
    assert within_one(assignment)


@given(specs(equal=True, topics=2))
def test_equal_subscriptions_move_the_fewest_partitions(spec: AssignmentSpec) -> None:
    most = max(kept(spec, other) for other in legal_assignments(spec) if within_one(other))
    assert kept(spec, UNIFORM.assign(spec)) == most


@given(specs(members=8, topics=5, partitions=8))
def test_no_single_move_improves_the_balance(spec: AssignmentSpec) -> None:
    assignment = UNIFORM.assign(spec)
    assert_legal(spec, assignment)
    assert no_single_move_improves(spec, assignment)


@given(specs(members=8, topics=5, partitions=8))
def test_a_balanced_assignment_stays_as_it_is(spec: AssignmentSpec) -> None:
    assignment = UNIFORM.assign(spec)
    assert UNIFORM.assign(after(spec, assignment)) == assignment


@given(specs(members=3, topics=3, partitions=2, equal=False))
def test_brute_force_moves_as_many_partitions(spec: AssignmentSpec) -> None:
    assignment = UNIFORM.assign(spec)
    if is_settled(spec):
        assert assignment == what_is_left(spec)
    else:
        best = min((squares(other), -kept(spec, other)) for other in legal_assignments(spec))
        assert (squares(assignment), -kept(spec, assignment)) == best


@settings(max_examples=400)
@given(specs(members=8, topics=5, partitions=5, equal=False))
def test_another_solver_moves_as_many_partitions(spec: AssignmentSpec) -> None:
    assignment = UNIFORM.assign(spec)
    if not is_settled(spec):
        assert (squares(assignment), kept(spec, assignment)) == best_by_flow(spec)


def test_a_current_assignment_that_no_single_move_improves_stays() -> None:
    subscriptions = {"a": {"foo"}, "b": {"foo", "bar"}, "c": {"bar"}}
    current = {
        "a": frozenset({("foo", 0), ("foo", 1), ("foo", 2)}),
        "b": frozenset({("bar", 0), ("bar", 1)}),
        "c": frozenset({("bar", 2)}),
    }
    assert UNIFORM.assign(spec_of(subscriptions, {"foo": 3, "bar": 3}, current)) == current


def test_a_chain_of_moves_balances_what_no_single_move_can() -> None:
    subscriptions = {"a": {"foo"}, "b": {"foo", "bar"}, "c": {"bar"}}
    current = {
        "a": frozenset({("foo", 0), ("foo", 1), ("foo", 2)}),
        "b": frozenset({("bar", 0), ("bar", 1)}),
        "c": frozenset[tuple[str, int]](),
    }
    spec = spec_of(subscriptions, {"foo": 3, "bar": 3}, current)
    assignment = UNIFORM.assign(spec)
    assert [len(assignment[id_]) for id_ in "abc"] == [2, 2, 2]
    assert kept(spec, assignment) == 3


def test_a_long_chain_of_moves_levels_a_long_chain_of_members() -> None:
    """Member n shares a topic with member n + 1: the surplus of one end must pass through all of them."""
    size = 40
    subscriptions = {f"m{n:02d}": {f"t{n:02d}", f"t{n + 1:02d}"} for n in range(size)}
    partitions = {f"t{n:02d}": 3 for n in range(size + 1)} | {"t00": size + 2}
    current = {
        f"m{n:02d}": frozenset((f"t{n:02d}", index) for index in range(partitions[f"t{n:02d}"]))
        for n in range(size)
    }
    spec = spec_of(subscriptions, partitions, current)
    assignment = UNIFORM.assign(spec)
    assert_legal(spec, assignment)
    assert (squares(assignment), kept(spec, assignment)) == best_by_flow(spec)


def test_a_member_takes_back_what_it_gave_a_moment_ago() -> None:
    subscriptions = {"a": {"baz"}, "b": {"bar", "baz"}, "c": {"bar", "baz"}, "d": {"bar"}}
    current = {
        "a": frozenset({("baz", 1), ("baz", 2)}),
        "c": frozenset({("bar", 0), ("baz", 0)}),
    }
    spec = spec_of(subscriptions, {"bar": 1, "baz": 3}, current)
    assignment = UNIFORM.assign(spec)
    assert [len(assignment[id_]) for id_ in "abcd"] == [1, 1, 1, 1]
    assert kept(spec, assignment) == 2


def test_topics_with_the_same_subscribers_are_balanced_as_one() -> None:
    subscriptions = {"a": {"bar", "foo", "qux"}, "b": {"bar", "foo", "qux"}, "c": {"qux"}}
    current = {"a": frozenset({("bar", 0), ("bar", 1), ("foo", 0)}), "c": frozenset({("qux", 0), ("qux", 1)})}
    spec = spec_of(subscriptions, {"bar": 2, "foo": 2, "qux": 2}, current)
    assert UNIFORM.assign(spec) == {
        "a": frozenset({("bar", 0), ("bar", 1)}),
        "b": frozenset({("foo", 0), ("foo", 1)}),
        "c": current["c"],
    }


def test_a_member_takes_no_partition_only_to_give_another() -> None:
    subscriptions = {"a": {"bar", "foo"}, "b": {"bar", "foo"}, "c": {"bar", "foo"}, "d": {"bar"}}
    current = {
        "a": frozenset({("bar", 0)}),
        "c": frozenset({("bar", 1), ("foo", 0), ("foo", 1), ("foo", 2)}),
    }
    spec = spec_of(subscriptions, {"bar": 2, "foo": 3}, current)
    assignment = UNIFORM.assign(spec)
    assert sorted(map(len, assignment.values())) == [1, 1, 1, 2]
    assert assignment["a"] == current["a"]
    assert kept(spec, assignment) == 3


def test_the_assignment_that_keeps_more_wins_between_equally_even_ones() -> None:
    subscriptions = {"a": {"foo"}, "b": {"bar"}, "c": {"bar", "baz"}, "d": {"baz", "foo"}}
    current = {
        "c": frozenset({("bar", 0)}),
        "d": frozenset({("baz", 0), ("baz", 1), ("foo", 0), ("foo", 1)}),
    }
    spec = spec_of(subscriptions, {"bar": 1, "baz": 2, "foo": 2}, current)
    assignment = UNIFORM.assign(spec)
    assert [len(assignment[id_]) for id_ in "abcd"] == [1, 1, 1, 2]
    assert kept(spec, assignment) == 2


def test_a_member_that_joins_and_leaves_moves_only_what_it_must() -> None:
    before = spec_of({"a": {"foo"}, "b": {"foo"}}, {"foo": 6})
    two = UNIFORM.assign(before)
    joined = spec_of({"a": {"foo"}, "b": {"foo"}, "c": {"foo"}}, {"foo": 6}, two)
    three = UNIFORM.assign(joined)
    assert kept(joined, three) == 4
    left = after(before, three)
    again = UNIFORM.assign(left)
    assert all(three[id_] <= again[id_] for id_ in "ab")
    assert within_one(again)


def test_a_member_without_topics_gets_nothing() -> None:
    spec = spec_of({"a": {"foo"}, "b": set(), "c": {"gone"}}, {"foo": 3})
    everything = frozenset({("foo", 0), ("foo", 1), ("foo", 2)})
    assert UNIFORM.assign(spec) == {"a": everything, "b": frozenset(), "c": frozenset()}


def test_scarce_topics_are_placed_first() -> None:
    """Were the topic of both members placed first, m1 would get both partitions, and one would move again."""
    topics = {"m1": frozenset({"a", "b"}), "m2": frozenset({"a"})}
    members = {member_id: MemberSubscription(those, frozenset()) for member_id, those in topics.items()}
    problem = Problem(members, {"a": 1, "b": 1})
    problem.place_free()
    assert not problem.flow.improve()
