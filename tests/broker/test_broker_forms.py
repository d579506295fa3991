"""The specification's requests in Kafka's form, under the names of one run; and the responses back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import re2
from broker_bodies import BAR, FOO, commit, fetch, heartbeat, join, owned

from harness.targets.broker.forms import Form, from_kafka, to_kafka, versions_of
from harness.targets.broker.names import Names

THEIRS = "11111111-0000-4000-8000-000000000001"


def has(**versions: tuple[int, int]) -> Callable[[str, int], bool]:
    """A broker with these APIs."""
    return lambda api, version: versions.get(api, (0, -1))[0] <= version <= versions.get(api, (0, -1))[1]


KAFKA_4_0 = has(ConsumerGroupHeartbeat=(0, 1), OffsetCommit=(2, 9), OffsetFetch=(1, 9))
KAFKA_4_2 = has(ConsumerGroupHeartbeat=(0, 1), OffsetCommit=(2, 10), OffsetFetch=(1, 10))
MOCK = has(ConsumerGroupHeartbeat=(1, 1), OffsetCommit=(0, 9), OffsetFetch=(0, 6))


@pytest.fixture
def names() -> Names:
    made = Names("conform-0-")
    made.generation = 7
    made.bind("foo", FOO, THEIRS)
    return made


def test_names_and_ids_are_of_the_run(names: Names) -> None:
    form = to_kafka("ConsumerGroupHeartbeat", 0, join("A", ["foo", "bar"]), names, KAFKA_4_2)
    assert form.body["groupId"] == "conform-0-7-g"
    assert form.body["subscribedTopicNames"] == ["conform-0-foo", "conform-0-bar"]
    known = to_kafka("ConsumerGroupHeartbeat", 0, heartbeat("A", 1, owned(0, 1)), names, KAFKA_4_2)
    assert known.body["topicPartitions"] == owned(0, 1, topic_id=THEIRS)
    unknown = to_kafka(
        "ConsumerGroupHeartbeat", 0, heartbeat("A", 1, owned(0, topic_id=BAR)), names, KAFKA_4_2
    )
    assert unknown.body["topicPartitions"] == owned(0, topic_id=BAR)


def test_a_group_without_a_name_stays_so(names: Names) -> None:
    form = to_kafka("ConsumerGroupHeartbeat", 0, {**join("A"), "groupId": ""}, names, KAFKA_4_2)
    assert form.body["groupId"] == ""


@pytest.mark.parametrize(
    ("regex", "matches", "misses"),
    [("foo|bar", "conform-0-bar", "bar"), (".*", "conform-0-anything", "conform-1-anything")],
)
def test_an_expression_matches_topics_of_the_run_only(
    names: Names, regex: str, matches: str, misses: str
) -> None:
    body = join("A", [], subscribedTopicRegex=regex)
    form = to_kafka("ConsumerGroupHeartbeat", 0, body, names, KAFKA_4_2)
    assert form.version == 1
    sent = form.body["subscribedTopicRegex"]
    assert re2.fullmatch(sent, matches)
    assert not re2.fullmatch(sent, misses)
    assert names.from_broker["subscribedTopicRegex"](sent) == regex


@pytest.mark.parametrize("regex", ["(", "a)|(b", ""])
def test_an_expression_that_is_none_stays_so(names: Names, regex: str) -> None:
    body = join("A", [], subscribedTopicRegex=regex)
    assert to_kafka("ConsumerGroupHeartbeat", 0, body, names, KAFKA_4_2).body["subscribedTopicRegex"] == regex


def test_version_0_of_a_heartbeat(names: Names) -> None:
    for body in (join("A"), heartbeat("A", 1)):
        form = to_kafka("ConsumerGroupHeartbeat", 0, body, names, KAFKA_4_2)
        assert (form.version, "subscribedTopicRegex" in form.body) == (0, False)
    assert to_kafka("ConsumerGroupHeartbeat", 1, heartbeat("A", 1), names, KAFKA_4_2).version == 1


def test_version_0_of_a_heartbeat_where_there_is_only_version_1(names: Names) -> None:
    named = to_kafka("ConsumerGroupHeartbeat", 0, join("A"), names, MOCK)
    assert (named.version, named.body["subscribedTopicRegex"]) == (1, "")
    unchanged = to_kafka("ConsumerGroupHeartbeat", 0, heartbeat("A", 1), names, MOCK)
    assert (unchanged.version, unchanged.body["subscribedTopicRegex"]) == (1, None)
    literal = to_kafka("ConsumerGroupHeartbeat", 1, join("A"), names, MOCK)
    assert (literal.version, literal.body["subscribedTopicRegex"]) == (1, None)


def test_an_assignment_has_its_name_and_order(names: Names) -> None:
    given = [{"topicId": THEIRS, "partitions": [2, 0]}, {"topicId": BAR, "partitions": [1]}]
    answer = {"memberEpoch": 1, "assignment": {"topicPartitions": given}}
    form = Form("ConsumerGroupHeartbeat", 0, {}, {})
    assert from_kafka(form, answer, names) == {
        "memberEpoch": 1,
        "assignment": {"assignedTopicPartitions": [*owned(0, 2), *owned(1, topic_id=BAR)]},
    }
    assert from_kafka(form, {"assignment": None}, names) == {"assignment": None}


def test_a_commit_by_id(names: Names) -> None:
    form = to_kafka("OffsetCommit", 9, commit("A", 1, FOO, 5), names, KAFKA_4_2)
    assert form.version == 10
    [topic] = form.body["topics"]
    assert (topic["topicId"], "name" in topic) == (THEIRS, False)
    answer = {"topics": [{"topicId": THEIRS, "partitions": []}]}
    assert from_kafka(form, answer, names)["topics"] == [{"name": None, "topicId": FOO, "partitions": []}]


def test_a_commit_by_id_where_there_are_only_names(names: Names) -> None:
    form = to_kafka("OffsetCommit", 9, commit("A", 1, FOO, 5), names, KAFKA_4_0)
    assert form.version == 9
    [topic] = form.body["topics"]
    assert (topic["name"], "topicId" in topic) == ("conform-0-foo", False)
    answer = {"topics": [{"name": "conform-0-foo", "partitions": []}]}
    assert from_kafka(form, answer, names)["topics"] == [{"name": None, "topicId": FOO, "partitions": []}]


def test_a_commit_by_name(names: Names) -> None:
    form = to_kafka("OffsetCommit", 9, commit("A", 1, "", 5, name="foo"), names, KAFKA_4_2)
    assert (form.version, form.body["topics"][0]["name"]) == (9, "conform-0-foo")
    answer = {"topics": [{"name": "conform-0-foo", "partitions": []}]}
    assert from_kafka(form, answer, names)["topics"] == [{"name": "foo", "topicId": None, "partitions": []}]


def test_a_commit_to_a_topic_that_never_was_where_there_are_only_names(names: Names) -> None:
    form = to_kafka("OffsetCommit", 9, commit("A", 1, BAR, 5), names, KAFKA_4_0)
    assert form.body["topics"][0]["name"] == f"conform-0-{BAR}"
    answer = {"topics": [{"name": f"conform-0-{BAR}", "partitions": []}]}
    assert from_kafka(form, answer, names)["topics"] == [{"name": None, "topicId": BAR, "partitions": []}]


def test_a_commit_that_kafka_has_no_form_of(names: Names) -> None:
    with pytest.raises(ValueError, match="all topics by id, or all by name"):
        to_kafka("OffsetCommit", 9, commit("A", 1, FOO, 5, name="foo"), names, KAFKA_4_2)
    names.bind("foo", BAR, THEIRS)
    both = {**commit("A", 1, FOO, 5), "topics": [{"topicId": FOO}, {"topicId": BAR}]}
    with pytest.raises(ValueError, match="two of these have the same"):
        to_kafka("OffsetCommit", 9, both, names, KAFKA_4_0)


def test_a_fetch_names_the_member_with_each_group(names: Names) -> None:
    form = to_kafka("OffsetFetch", 9, fetch("A", 1, FOO), names, KAFKA_4_2)
    assert (form.version, sorted(form.body)) == (10, ["groups", "requireStable"])
    [group] = form.body["groups"]
    assert (group["groupId"], group["memberId"], group["memberEpoch"]) == ("conform-0-7-g", "A", 1)
    [nobody] = to_kafka("OffsetFetch", 9, fetch("", -1, FOO), names, KAFKA_4_2).body["groups"]
    assert (nobody["memberId"], nobody["memberEpoch"]) == (None, -1)


def test_which_apis_there_are() -> None:
    assert versions_of(KAFKA_4_2) == {
        "ConsumerGroupHeartbeat": [0, 1],
        "OffsetCommit": [9, 9],
        "OffsetFetch": [9, 9],
    }
    assert versions_of(MOCK) == {"ConsumerGroupHeartbeat": [0, 1], "OffsetCommit": [9, 9]}
    assert versions_of(has()) == {}
