"""librdkafka's mock cluster as a target: its answers, and its aborts, which are answers, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from broker_bodies import BAR, CLIENT, FOO, START, commit, heartbeat, join, owned, send, topic

from harness.errors import ENGINE_FAILED, ConformError
from harness.replay.judge import refused
from harness.targets.base import Died, Json, Refused, as_sent
from harness.targets.broker import mock_target
from harness.targets.broker.mock_target import MockTarget

pytest.importorskip("confluent_kafka", reason="the target mock needs confluent-kafka")


@pytest.fixture(scope="module")
def mock() -> Iterator[MockTarget]:
    opened = MockTarget("kip-848")
    yield opened
    opened.close()


@pytest.fixture
def target(mock: MockTarget) -> MockTarget:
    """A cluster without groups, with a topic of two partitions."""
    mock.load([], [topic("foo", FOO, 2)], START)
    return mock


def test_the_parts_of_the_page(target: MockTarget) -> None:
    known = target.hello()
    assert known.apis == {"ConsumerGroupHeartbeat": [0, 1], "OffsetCommit": [9, 9]}
    assert known.controls == {"topics", "fresh"}
    with pytest.raises(Refused):
        target.describe("g")
    with pytest.raises(Refused):
        target.load([{"key": {}, "value": {}}], [], START)


def test_a_member_joins_and_hears_of_kafkas_interval(target: MockTarget) -> None:
    answer = send(target, join("A"))
    assert answer["assignment"] == {"assignedTopicPartitions": owned(0, 1)}
    assert (answer["memberId"], answer["heartbeatIntervalMs"]) == ("A", 5000)
    again = send(target, heartbeat("A", answer["memberEpoch"], owned(0, 1)))
    assert (again["memberEpoch"], again["assignment"]) == (answer["memberEpoch"], None)


def test_the_sent_version_is_named(target: MockTarget) -> None:
    send(target, join("A"), 0)
    answer = {"op": "request", "api": "ConsumerGroupHeartbeat", "version": 0, "body": join("A")}
    assert as_sent(target, answer) == {**answer, "wire": {"version": 1}}
    assert as_sent(target, {"op": "topics"}) == {"op": "topics"}
    target.request("OffsetCommit", 9, CLIENT, commit("A", 1, FOO, 5))
    assert "wire" not in as_sent(target, answer)


def test_each_load_is_a_new_cluster(target: MockTarget) -> None:
    first = send(target, join("A"))
    target.load([], [topic("foo", BAR, 3)], START)
    assert send(target, join("A")) == {
        **first,
        "assignment": {"assignedTopicPartitions": owned(0, 1, 2, topic_id=BAR)},
    }


@pytest.mark.parametrize("wrong", [{"name": "bar"}, {"id": BAR, "partitions": 1}, topic("bar", BAR, 0)])
def test_a_topic_that_is_none_is_refused_before_anything_changes(target: MockTarget, wrong: Json) -> None:
    with pytest.raises(Refused, match="a topic has name, id and partitions"):
        target.topics([topic("foo", BAR, 1), wrong], [])
    assert send(target, join("A"))["assignment"] == {"assignedTopicPartitions": owned(0, 1)}


def test_topics_come_and_go(target: MockTarget) -> None:
    target.topics([topic("foo", FOO, 2), topic("bar", BAR, 1)], [])
    assert send(target, join("A", ["bar"]))["assignment"]["assignedTopicPartitions"] == owned(0, topic_id=BAR)
    target.topics([topic("foo", BAR, 1)], ["bar"])
    given = send(target, join("B", ["foo", "bar"]))["assignment"]["assignedTopicPartitions"]
    assert given == owned(0, topic_id=BAR)
    with pytest.raises(Refused, match="cannot change the partitions"):
        target.topics([topic("foo", BAR, 2)], [])


def test_a_commit_by_id_is_sent_by_name(target: MockTarget) -> None:
    epoch = send(target, join("A"))["memberEpoch"]
    answer = target.request("OffsetCommit", 9, CLIENT, commit("A", epoch, FOO, 5)).body
    assert answer is not None
    partition = {"partitionIndex": 0, "errorCode": 0}
    assert answer["topics"] == [{"name": None, "topicId": FOO, "partitions": [partition]}]
    stale = target.request("OffsetCommit", 9, CLIENT, commit("A", epoch - 1, FOO, 5)).body
    assert stale is not None
    assert stale["topics"][0]["partitions"][0]["errorCode"] == 113


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (join(""), 0),
        (join("A"), 1),
        (join("A", []), 0),
        (heartbeat("A", -3), 0),
        (heartbeat("A", 1, rebalanceTimeoutMs=-2), 0),
    ],
    ids=["no member id", "names without an expression", "no names", "epoch -3", "rebalance time-out -2"],
)
def test_an_abort_is_a_difference_and_survived(target: MockTarget, body: Json, version: int) -> None:
    with pytest.raises(Died) as death:
        send(target, body, version)
    difference = refused(death.value)
    assert (difference.path, difference.expected) == ("operation request ConsumerGroupHeartbeat", "done")
    assert difference.got.startswith("its process died of signal 6 (SIGABRT): ")
    assert "Assertion" in difference.got
    for attempt in (lambda: send(target, join("A")), lambda: target.topics([], [])):
        with pytest.raises(Died, match="died already; `load` starts another"):
            attempt()
    target.load([], [topic("foo", FOO, 2)], START)
    assert send(target, join("A"))["assignment"] == {"assignedTopicPartitions": owned(0, 1)}


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mock_target.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConformError, match=r"pip install 'group-conformance\[mock\]'") as missing:
        MockTarget("kip-848")
    assert missing.value.exit_code == ENGINE_FAILED
