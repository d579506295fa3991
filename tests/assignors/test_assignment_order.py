"""The choice among several assignments that are equally good: every coordinator makes the same (A3)."""

from __future__ import annotations

from assignor_specs import spec_of

from coordinator.assignors import GroupAssignment, RangeAssignor, UniformAssignor
from coordinator.assignors.matching import heaviest_matching
from coordinator.assignors.subscribers import topics_by_subscribers

UNIFORM = UniformAssignor()


def shown(assignment: GroupAssignment) -> dict[str, str]:
    """ "foo-0 foo-1" for each member."""
    return {
        member: " ".join(f"{topic}-{index}" for topic, index in sorted(partitions))
        for member, partitions in assignment.items()
    }


def assigned(text: str) -> frozenset[tuple[str, int]]:
    return frozenset((name.partition("-")[0], int(name.partition("-")[2])) for name in text.split())


def test_uniform_deals_new_partitions_around_by_member_id() -> None:
    both = {"foo", "bar"}
    spec = spec_of({"b": both, "a": both, "c": both}, {"foo": 4, "bar": 3})
    assert shown(UNIFORM.assign(spec)) == {
        "a": "bar-0 foo-0 foo-3",
        "b": "bar-1 foo-1",
        "c": "bar-2 foo-2",
    }


def test_uniform_takes_the_last_partitions_of_who_has_too_many() -> None:
    """The assignor leaves one more to members that have more, whatever their ids."""
    spec = spec_of(
        {name: {"foo"} for name in "abcd"},
        {"foo": 10},
        {
            "a": assigned("foo-9"),
            "b": assigned("foo-0 foo-1 foo-2 foo-3 foo-4"),
            "d": assigned("foo-6 foo-7 foo-8"),
        },
    )
    assert shown(UNIFORM.assign(spec)) == {
        "a": "foo-3 foo-9",
        "b": "foo-0 foo-1 foo-2",
        "c": "foo-4 foo-5",
        "d": "foo-6 foo-7 foo-8",
    }


def test_uniform_fills_members_from_the_least_loaded_on() -> None:
    spec = spec_of(
        {name: {"foo"} for name in "abc"}, {"foo": 6}, {"a": assigned("foo-0 foo-5"), "b": assigned("foo-1")}
    )
    assert shown(UNIFORM.assign(spec)) == {"a": "foo-0 foo-5", "b": "foo-1 foo-2", "c": "foo-3 foo-4"}


def test_uniform_with_other_subscriptions_serves_scarce_topics_first() -> None:
    """The remaining topics are served first; then each partition goes to the least loaded, the first of
    several; each member has the lowest."""
    subscriptions = {"a": {"foo", "bar"}, "b": {"foo", "bar"}, "c": {"foo"}}
    spec = spec_of(subscriptions, {"foo": 4, "bar": 3})
    assert shown(UNIFORM.assign(spec)) == {"a": "bar-0 bar-1 foo-0", "b": "bar-2 foo-1", "c": "foo-2 foo-3"}


def test_uniform_with_other_subscriptions_keeps_the_lowest() -> None:
    subscriptions = {"a": {"foo"}, "b": {"foo", "bar"}}
    spec = spec_of(subscriptions, {"foo": 6, "bar": 0}, {"b": assigned("foo-1 foo-2 foo-3 foo-4 foo-5")})
    assert shown(UNIFORM.assign(spec)) == {"a": "foo-0 foo-4 foo-5", "b": "foo-1 foo-2 foo-3"}


def test_range_gives_ranges_that_nobody_can_keep_by_member_id() -> None:
    spec = spec_of({name: {"foo"} for name in "abcd"}, {"foo": 7}, {"c": assigned("foo-1")})
    assert shown(RangeAssignor().assign(spec)) == {
        "a": "foo-2 foo-3",
        "b": "foo-4 foo-5",
        "c": "foo-0 foo-1",
        "d": "foo-6",
    }


def test_range_keeps_where_most_of_a_range_is() -> None:
    """Partitions and topics that no longer exist do not count."""
    had = {"a": assigned("foo-3 foo-4 foo-5 gone-0"), "b": assigned("foo-1 foo-2 foo-6 foo-7")}
    spec = spec_of({"a": {"foo"}, "b": {"foo"}}, {"foo": 6}, had)
    assert shown(RangeAssignor().assign(spec)) == {"a": "foo-3 foo-4 foo-5", "b": "foo-0 foo-1 foo-2"}


def test_rows_without_a_weight_take_the_columns_left_over() -> None:
    assert heaviest_matching([{}, {0: 1}, {}, {2: 3}]) == [1, 0, 3, 2]
    assert heaviest_matching([]) == []


def test_topics_are_taken_together_by_their_subscribers() -> None:
    """Topics stand in the order of the first topic; members and topics ascend; a topic that does not exist is
    left out."""
    subscriptions = [frozenset(names.split()) for names in ("b a gone", "c a", "a gone b", "c a")]
    assert topics_by_subscribers(subscriptions, ["c", "b", "a"]) == [
        ([0, 1, 2, 3], ["a"]),
        ([0, 2], ["b"]),
        ([1, 3], ["c"]),
    ]
    assert topics_by_subscribers([frozenset({"b", "a"})] * 2, {"a", "b"}) == [([0, 1], ["a", "b"])]
