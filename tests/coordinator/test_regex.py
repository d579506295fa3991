"""Subscriptions by regular expression (T1) and recreated topics (T2)."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import psutil
import pytest
from group_driver import IDS, GroupDriver, error, given

from coordinator import ErrorCode
from coordinator.consumer.subscription import shared, topics_of


def regex_join(g: GroupDriver, member: str, regex: str, **fields: Any) -> dict[str, Any]:
    return g.join(member, subscribedTopicNames=None, subscribedTopicRegex=regex, **fields)


@pytest.mark.parametrize(
    ("regex", "topics"),
    [
        ("foo", {"foo"}),
        ("fo", set()),
        ("fo.*", {"foo", "foo.bar"}),
        (".*", {"foo", "foo.bar", "BAR", "bär"}),
        ("foo|BAR", {"foo", "BAR"}),
        ("(?i)bar", {"BAR"}),
        (r"b\p{L}r", {"bär"}),
        (r"foo\..*", {"foo.bar"}),
        ("^foo$", {"foo"}),
        ("nothing", set()),
    ],
)
def test_expression_matches_whole_names_in_the_syntax_of_re2(regex: str, topics: set[str]) -> None:
    names = frozenset({"foo", "foo.bar", "BAR", "bär"})
    assert topics_of((frozenset(), regex), names) == topics
    assert topics_of((frozenset({"foo", "gone"}), regex), names) == topics | {"foo"}


def test_expressions_of_members_that_are_gone_take_no_memory() -> None:
    """Each of these takes 6 MB once it is compiled: 60 of them took 370 MB for good, 1,024 more than 6 GB."""
    g, process = GroupDriver(), psutil.Process()
    regex_join(g, "m", "foo")
    before = process.memory_info().rss
    for number in range(60):
        regex_join(g, "m1", rf"(?:[\pL]{{1,300}}[\pN]{{1,300}}){number}")
        assert error(g.request(memberId="m1", memberEpoch=-1)) == ErrorCode.NONE
    assert process.memory_info().rss - before < 150e6


def test_names_of_members_that_are_gone_take_no_memory() -> None:
    """Equal subscriptions share one set, as long as one of them is there."""
    first, equal = (shared(frozenset({"".join(("to", "pic")), "foo"})) for _ in range(2))
    assert first is equal
    there = weakref.ref(first)
    del first, equal
    gc.collect()
    assert there() is None


def test_expression_that_would_take_other_engines_forever_takes_no_time() -> None:
    assert topics_of((frozenset(), "(a*)*b"), frozenset({"a" * 249})) == frozenset()


def test_join_by_expression_gets_the_matching_topics() -> None:
    g = GroupDriver(topics={"foo": 2, "bar": 1})
    assert given(regex_join(g, "m1", "f.*")) == ["foo-0", "foo-1"]
    assert [topic["topicName"] for topic in g.group()["metadata"]] == ["foo"]
    assert (g.member("m1")["subscribedTopicRegex"], g.member("m1")["subscribedTopicNames"]) == ("f.*", [])
    record = next(value for kind, _, value in g.new_records() if kind == "MemberMetadata")
    assert record is not None and record["subscribedTopicRegex"] == "f.*"


def test_names_and_expression_together_are_a_union() -> None:
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    assert given(g.join("m1", "bar", subscribedTopicRegex="f.*")) == ["bar-0", "foo-0"]


def test_members_get_only_what_each_subscribes_to() -> None:
    g = GroupDriver(topics={"foo": 1, "bar": 5})
    g.join("m2", "bar")
    regex_join(g, "m1", "f.*")
    assert (g.target("m1"), len(g.target("m2"))) == (["foo-0"], 5)


def test_new_matching_topic_is_noticed_at_once_and_another_is_not() -> None:
    g = GroupDriver(topics={"foo": 1})
    regex_join(g, "m1", "f.*|ba.")
    g.coordinator.upsert_topic("other", IDS["foo again"], 5)
    assert g.epochs() == (1, 1)
    g.topic("bar", 1)
    assert g.epochs() == (2, 2)
    assert given(g.heartbeat("m1", owned=["foo-0"])) == ["bar-0", "foo-0"]
    g.topic("bar", 2)
    assert g.epochs() == (3, 3)


def test_deleted_matching_topic_is_revoked() -> None:
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    regex_join(g, "m1", "foo|bar")
    g.delete_topic("bar")
    assert g.epochs() == (2, 2)
    assert given(g.heartbeat("m1", owned=["foo-0", "bar-0"])) == ["foo-0"]
    assert g.revoking("m1") == ["bar-0"]


def test_group_that_matches_nothing_yet_waits() -> None:
    g = GroupDriver(topics={})
    assert given(regex_join(g, "m1", "foo")) == []
    g.topic("foo", 1)
    assert given(g.heartbeat("m1", owned=[])) == ["foo-0"]


@pytest.mark.parametrize(
    ("change", "bumps", "regex", "names"),
    [
        ({"subscribedTopicRegex": None}, False, "foo", []),
        ({"subscribedTopicRegex": "foo"}, False, "foo", []),
        ({"subscribedTopicRegex": "foo|foo"}, True, "foo|foo", []),
        ({"subscribedTopicRegex": ""}, True, None, []),
        ({"subscribedTopicRegex": "", "subscribedTopicNames": ["foo"]}, True, None, ["foo"]),
        ({"subscribedTopicNames": ["foo"]}, True, "foo", ["foo"]),
    ],
)
def test_changed_expression_is_a_changed_subscription(
    change: dict[str, Any], bumps: bool, regex: str | None, names: list[str]
) -> None:
    """E1, H7: null leaves the expression unchanged, empty removes it."""
    g = GroupDriver(topics={"foo": 1})
    regex_join(g, "m1", "foo")
    g.heartbeat("m1", **change)
    assert g.epochs() == ((2, 2) if bumps else (1, 1))
    member = g.member("m1")
    assert (member["subscribedTopicRegex"], member["subscribedTopicNames"]) == (regex, names)


def test_replaced_member_does_not_leave_its_expression_behind() -> None:
    """real-bugs row 13."""
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    regex_join(g, "m1", ".*", instanceId="i")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i")
    assert given(g.join("m2", "foo", instanceId="i")) == ["foo-0"]
    assert g.member("m2")["subscribedTopicRegex"] is None
    assert [topic["topicName"] for topic in g.group()["metadata"]] == ["foo"]


def test_full_heartbeat_with_an_expression_gets_the_assignment() -> None:
    """real-bugs row 5."""
    g = GroupDriver(topics={"foo": 1})
    regex_join(g, "m1", "foo")
    g.heartbeat("m1", owned=["foo-0"])
    assert given(g.heartbeat("m1", owned=["foo-0"], subscribedTopicRegex="foo")) is None
    assert given(g.heartbeat("m1", owned=[], subscribedTopicRegex="foo")) == ["foo-0"]


def test_invalid_expression_in_a_heartbeat_changes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """RE2's words are in the answer, not on the program's standard error."""
    g = GroupDriver()
    g.join("m1")
    before = g.group()
    response = g.heartbeat("m1", subscribedTopicRegex="[ä")
    assert error(response) == ErrorCode.INVALID_REQUEST
    assert "(missing ]: [ä)" in response["errorMessage"]
    assert (g.group(), capfd.readouterr()) == (before, ("", ""))


def test_new_coordinator_matches_expressions_again() -> None:
    """P2: a topic that was created while there was no coordinator."""
    g = GroupDriver(topics={"foo": 1})
    regex_join(g, "m1", ".*")
    g.coordinator.set_state("loading")
    g.topic("bar", 1)
    g.coordinator.set_state("active")
    assert (g.epochs(), g.target("m1")) == ((2, 2), ["bar-0", "foo-0"])


def test_recreated_topic_is_another_topic() -> None:
    """T2: the old id's partitions are revoked, the new one's assigned once that is acknowledged."""
    for subscription in ({}, {"subscribedTopicNames": None, "subscribedTopicRegex": "f.."}):
        g = GroupDriver()
        g.join("m1", **subscription)  # type: ignore[arg-type]
        g.coordinator.upsert_topic("foo", IDS["foo again"], 2)
        assert g.epochs() == (2, 2)
        assert g.target("m1") == ["foo again-0", "foo again-1"]
        assert given(g.heartbeat("m1", owned=["foo-0", "foo-1"])) == []
        assert g.revoking("m1") == ["foo-0", "foo-1"]
        assert given(g.heartbeat("m1", owned=[])) == ["foo again-0", "foo again-1"]


def test_recreated_topic_of_a_member_that_is_away_is_free_when_it_returns() -> None:
    g = GroupDriver()
    g.join("m1", instanceId="i")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i")
    g.delete_topic("foo")
    g.coordinator.upsert_topic("foo", IDS["foo again"], 1)
    assert given(g.join("m2", instanceId="i")) == ["foo again-0"]
    assert g.epochs() == (3, 3)
