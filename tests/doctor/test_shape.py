"""The forms of descriptions, records and responses: the first fault is reported."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from coordinator import Coordinator
from harness.doctor import shape
from harness.replay.view import EVERYTHING, View
from harness.targets.base import Capabilities, Json

ID = "f0f0f0f0-0000-4000-8000-000000000001"
OTHER = "e0e0e0e0-0000-4000-8000-000000000001"


def described() -> Json:
    """A group with two topics and two members, as this repository's coordinator describes it."""
    coordinator = Coordinator()
    coordinator.upsert_topic("bar", OTHER, 1)
    coordinator.upsert_topic("foo", ID, 2)
    for member in ("m1", "m2"):
        body = {"groupId": "g", "memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 5000,
                "subscribedTopicNames": ["foo", "bar"], "topicPartitions": []}  # fmt: skip
        coordinator.request("ConsumerGroupHeartbeat", 0, {"id": "c"}, body)
    return deepcopy(coordinator.describe("g"))


def changed(path: list[Any], value: Any) -> Json:
    group = described()
    place: Any = group
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return group


def test_a_description_of_the_coordinator_is_right() -> None:
    assert shape.of_group(described(), EVERYTHING) == ""


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["members"], [7], "one of the members must be an object, not 7"),
        (["members", 0, "assigned"], [{"topicId": ID, "partitions": [1, 0]}], "the partitions [1, 0] must"),
        (["members", 0, "target"], 7, "target of one of the members is 7"),
        (["members", 0, "memberId"], "m3", 'the members must be sorted by memberId: ["m3", "m2"]'),
        (["members", 0, "instanceId"], 3, "instanceId of one of the members is 3"),
        (["metadata"], None, "metadata of the group is null"),
        (["metadata", 0, "topicName"], "zoo", "the metadata must be sorted by topicName"),
        (["metadata", 0, "numPartitions"], "1", 'numPartitions of one of the metadata is "1"'),
        (["timers", 0, "deadlineMs"], None, "deadlineMs of a timer is null"),
        (["timers", 0, "shoe"], 43, "a timer has shoe"),
        (["timers"], {}, "timers of the group is {}"),
    ],
)
def test_a_wrong_description_is_reported(path: list[Any], value: Any, words: str) -> None:
    assert words in shape.of_group(changed(path, value), EVERYTHING)


def test_hidden_parts_may_be_missing_but_then_must_be() -> None:
    known = Capabilities("T", "", {}, frozenset({"describe"}), frozenset({"metadata", "members.state"}))
    group = described()
    del group["metadata"], group["members"][0]["state"]
    assert shape.of_group(group, View(known)) == ""
    assert "has no metadata" in shape.of_group(group, EVERYTHING)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (7, "topic partitions must be a list, not 7"),
        ([{"topicId": ID}], "has no partitions"),
        ([{"topicId": ID.upper(), "partitions": []}], "is not a UUID as RFC 4122 writes it"),
        ([{"topicId": "foo", "partitions": []}], "is not a UUID"),
        ([{"topicId": ID, "partitions": ["0"]}], 'the partitions ["0"] must be numbers'),
        ([{"topicId": ID, "partitions": [0, 0]}], "must be sorted"),
        ([{"topicId": ID, "partitions": [0]}, {"topicId": OTHER, "partitions": [0]}], "the topic ids"),
        ([{"topicId": OTHER, "partitions": [0]}, {"topicId": ID, "partitions": [0]}], ""),
    ],
)
def test_partitions_have_a_normal_form(listed: Any, words: str) -> None:
    sentence = shape.of_partitions(listed)
    assert words in sentence and bool(words) == bool(sentence)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "there is no body, but null"),
        ({"errorCode": "0"}, 'errorCode of the response is "0", which is of another type'),
        ({"memberEpoch": None}, "memberEpoch of the response is null"),
        ({"errorCode": False}, "errorCode of the response is false"),
        ({"errorMessage": ["x"]}, 'errorMessage of the response is ["x"]'),
        ({"throttleTimeMs": 1.0}, "throttleTimeMs of the response is 1.0"),
        ({"assignment": {"metadataVersion": "x"}}, 'metadataVersion of the assignment is "x"'),
        ({"assignment": 7}, "assignment must have error, assignedTopicPartitions"),
        ({"assignment": {"shoe": 1}}, "assignment must have"),
        ({"assignment": {"pendingTopicPartitions": 7}}, "assignment.pendingTopicPartitions: topic"),
        ({"errorCode": 0, "assignment": {"assignedTopicPartitions": []}}, ""),
        ({"errorCode": 0, "assignment": None}, ""),
    ],
)
def test_a_response_has_the_fields_of_its_schema(body: Any, words: str) -> None:
    sentence = shape.of_heartbeat(body)
    assert words in sentence and bool(words) == bool(sentence)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"offset": 4, "key": {"type": "OffsetCommit"}, "value": None}, ""),
        ({"offset": 5, "key": {"type": "OffsetCommit"}, "value": None}, "after offset 3 comes 5, not 4"),
        (
            {"offset": 4, "key": {"type": ["OffsetCommit"]}, "value": {}},
            'a key has the type ["OffsetCommit"]',
        ),
        ({"offset": 4, "key": {}, "value": 7}, "value of a record is 7"),
        ({"offset": True, "key": {}, "value": {}}, "offset of a record is true"),
        ("x", "a record must be an object"),
    ],
)
def test_records_follow_one_another(record: Any, words: str) -> None:
    sentence = shape.of_records([record], 4)
    assert words in sentence and bool(words) == bool(sentence)
