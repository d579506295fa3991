"""The cluster's topics and the changes that groups notice: E1, T2."""

from __future__ import annotations

import pytest
from group_driver import IDS, GroupDriver, given

from coordinator import BadInput


def test_topic_that_is_created_later_is_given_out_in_a_new_epoch() -> None:
    g = GroupDriver(topics={})
    assert given(g.join("m1")) == []
    g.topic("foo", 1)
    assert (g.epochs(), g.target("m1")) == ((2, 2), ["foo-0"])
    assert given(g.heartbeat("m1", owned=[])) == ["foo-0"]


def test_added_partition_is_given_out_in_a_new_epoch() -> None:
    g = GroupDriver(topics={"foo": 1})
    g.join("m1")
    g.topic("foo", 2)
    assert g.epochs() == (2, 2)
    assert given(g.heartbeat("m1")) == ["foo-0", "foo-1"]


def test_deleted_topic_is_revoked_as_any_other_and_held_until_then() -> None:
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    g.join("m1", "foo", "bar")
    g.coordinator.delete_topic("foo")
    assert (g.epochs(), g.target("m1"), g.assigned("m1")) == ((2, 2), ["bar-0"], ["bar-0", "foo-0"])
    assert given(g.heartbeat("m1", owned=["foo-0", "bar-0"])) == ["bar-0"]
    assert g.revoking("m1") == ["foo-0"]
    assert g.heartbeat("m1", owned=["bar-0"])["memberEpoch"] == 2


def test_recreated_topic_is_another_topic() -> None:
    """T2: the old id's partitions are revoked, the new id's assigned."""
    g = GroupDriver(topics={"foo": 1})
    g.join("m1")
    g.coordinator.upsert_topic("foo", IDS["foo again"], 1)
    assert g.epochs() == (2, 2)
    assert given(g.heartbeat("m1", owned=["foo-0"])) == []
    assert given(g.heartbeat("m1", owned=[])) == ["foo again-0"]


def test_topics_that_nobody_subscribes_to_are_not_noticed() -> None:
    g = GroupDriver()
    g.join("m1")
    g.topic("bar", 1)
    g.coordinator.delete_topic("bar")
    assert g.epochs() == (1, 1)
    assert [topic["topicName"] for topic in g.group()["metadata"]] == ["foo"]


def test_several_changes_at_once_bump_once() -> None:
    g = GroupDriver(topics={"foo": 1})
    g.join("m1", "foo", "bar")
    g.coordinator.set_topics(
        [
            {"name": "bar", "id": IDS["bar"], "partitions": 1},
            {"name": "foo", "id": IDS["foo"], "partitions": 2},
        ],
        [],
    )
    assert g.epochs() == (2, 2)
    assert given(g.heartbeat("m1")) == ["bar-0", "foo-0", "foo-1"]


def test_a_topic_that_is_as_it_was_is_no_change() -> None:
    """T2."""
    g = GroupDriver()
    g.join("m1")
    before = g.group(), g.coordinator.end
    g.topic("foo", 2)
    assert (g.group(), g.coordinator.end) == before


def test_group_without_members_does_not_notice() -> None:
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    g.topic("foo", 5)
    assert g.epochs() == (2, 2)


@pytest.mark.parametrize(
    ("upsert", "delete", "sentence"),
    [
        ([{"name": "foo", "id": IDS["foo"], "partitions": 1}], [], "has 2 partitions and never fewer"),
        ([{"name": "bar", "id": IDS["foo"], "partitions": 1}], [], "topic 'foo' has it"),
        ([{"name": "bar", "id": "bar", "partitions": 1}], [], "must be a UUID as text, not 'bar'"),
        ([{"name": "bar", "partitions": 1}], [], "must be a UUID as text, not None"),
        ([{"name": "bar", "id": IDS["bar"], "partitions": 0}], [], "must be at least 1, not 0"),
        ([{"name": "", "id": IDS["bar"], "partitions": 1}], [], "a topic needs a name"),
        ([{"name": "bar", "id": IDS["bar"], "partition": 1}], [], "has no field 'partition'"),
        ([{"name": "foo", "id": IDS["foo"], "partitions": 3}], ["foo"], "both changed and deleted"),
        ([], ["bar"], "there is no topic 'bar' to delete"),
        ([{"name": "foo", "id": IDS["foo"], "partitions": 3}], ["bar"], "there is no topic 'bar' to delete"),
        (["foo"], [], "a topic must be an object, not 'foo'"),
    ],
)
def test_wrong_topics_change_nothing(upsert: list[object], delete: list[str], sentence: str) -> None:
    g = GroupDriver()
    g.join("m1", "foo", "bar")
    before = g.group()
    with pytest.raises(BadInput, match=sentence):
        g.coordinator.set_topics(upsert, delete)
    assert g.group() == before
    assert g.join("m2", "foo")["errorCode"] == 0
    assert g.group()["metadata"] == before["metadata"]
