"""Kafka's messages as JSON: there and back, with the names of Kafka's schemas."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer

from coordinator.serve.codec import from_json, to_json
from coordinator.serve.frames import NUMBERS

KEYS = {name: key for key, name in api_key_map.items()}
USED = [
    *[("consumer_group_heartbeat", 0), ("consumer_group_heartbeat", 1)],
    *[("offset_commit", 9), ("offset_commit", 10), ("offset_fetch", 9), ("offset_fetch", 10)],
    *[("consumer_group_describe", 0), ("consumer_group_describe", 1), ("api_versions", 0)],
    *[("create_topics", 7), ("create_partitions", 3), ("delete_topics", 6), ("metadata", 12)],
    *[("find_coordinator", 4), ("list_groups", 4), ("delete_groups", 2)],
]
SCHEMAS: list[Any] = [
    load(KEYS[name], version)
    for name, version in USED
    for load in (load_request_schema, load_response_schema)
]


@given(st.one_of([st.from_type(schema) for schema in SCHEMAS]))
def test_a_message_survives_json(message: Any) -> None:
    text = json.dumps(to_json(message))
    assert from_json(type(message), json.loads(text)) == message


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_optional_fields_can_be_sent(schema: Any) -> None:
    if schema.__name__.endswith("Request"):
        buffer = io.BytesIO()
        entity_writer(schema)(buffer, from_json(schema, {}))
        assert entity_reader(schema)(buffer.getvalue(), 0)[0] == from_json(schema, {})


def test_names_and_defaults_are_those_of_kafka() -> None:
    # clients/src/main/resources/common/message/ConsumerGroupHeartbeatRequest.json
    assert to_json(from_json(load_request_schema(68, 1), {})) == {
        "groupId": "",
        "memberId": "",
        "memberEpoch": 0,
        "instanceId": None,
        "rackId": None,
        "rebalanceTimeoutMs": -1,
        "subscribedTopicNames": None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": None,
    }


def test_values_have_their_form() -> None:
    body = {
        "throttleTimeMs": 1,
        "errorCode": 110,
        "memberEpoch": 7,
        "heartbeatIntervalMs": 5000,
        "assignment": {
            "topicPartitions": [{"topicId": "8480c0de-0000-4000-8000-000000000001", "partitions": [0, 2]}]
        },
    }
    message = from_json(load_response_schema(68, 0), body)
    assert to_json(message) == {**body, "errorMessage": None, "memberId": None}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"memberepoch": 1}, "ConsumerGroupHeartbeatRequest has no field memberepoch"),
        ({"memberEpoch": 2**31}, "memberEpoch: 2147483648 is not a number from -2147483648 to 2147483647"),
        ({"memberEpoch": True}, "memberEpoch: True is not a number"),
        ({"memberEpoch": None}, "memberEpoch: None is not a number"),
        ({"groupId": None}, "groupId: None is not a text"),
        ({"subscribedTopicNames": "foo"}, "subscribedTopicNames: 'foo' is not a list"),
        ({"topicPartitions": [{"topicId": "foo"}]}, "topicPartitions: topicId: 'foo' is not a UUID"),
        ({"topicPartitions": [7]}, "topicPartitions: TopicPartitions is an object, not 7"),
    ],
)
def test_a_body_that_is_none_is_refused_in_words(body: Any, message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        from_json(load_request_schema(68, 0), body)
    assert str(refusal.value).startswith(message)


def test_every_api_of_kafka_has_one_name() -> None:
    assert sorted(NUMBERS.values()) == sorted(KEYS.values())
    assert NUMBERS["ConsumerGroupHeartbeat"] == KEYS["consumer_group_heartbeat"]
