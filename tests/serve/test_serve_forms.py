"""Forms of KIP-848 and Kafka, from one table at both ends of the wire; expected ones are written by hand."""

from __future__ import annotations

import pytest

from coordinator.core.fields import Json
from coordinator.serve.forms import ASSIGNMENT, FETCHING_MEMBER, of_other_type, to_kafka, to_kip
from coordinator.serve.group_apis import GROUP_APIS
from harness.targets.broker.forms import FETCH, HEARTBEAT, Form, from_kafka
from harness.targets.broker.forms import to_kafka as asked_of
from harness.targets.broker.names import Names

TOPIC = "5d1d23dc-5d44-5d6e-bd1d-0b2f0a2a9a01"
OWNED = [{"topicId": TOPIC, "partitions": [0, 1]}]
OFFSET_FETCH, CONSUMER_GROUP_HEARTBEAT, DESCRIBE_CONFIGS = 9, 68, 32


def test_the_assignment_has_another_name_in_kafka() -> None:
    answer = {"errorCode": 0, "memberEpoch": 3, "assignment": {"assignedTopicPartitions": OWNED}}
    kafka = {"errorCode": 0, "memberEpoch": 3, "assignment": {"topicPartitions": OWNED}}
    assert GROUP_APIS[CONSUMER_GROUP_HEARTBEAT].answered(1, [answer]) == kafka
    assert from_kafka(Form(HEARTBEAT, 1, {}, {}), kafka, Names("run")) == answer


def test_fields_that_kafkas_assignment_lacks_are_left_out() -> None:
    full = {"assignedTopicPartitions": OWNED, "pendingTopicPartitions": OWNED, "error": 7}
    assert to_kafka(ASSIGNMENT, full) == {"topicPartitions": OWNED}


@pytest.mark.parametrize(
    ("kip", "kafka", "back"),
    [
        ({"memberId": "m", "generationIdOrMemberEpoch": 4}, {"memberId": "m", "memberEpoch": 4}, None),
        ({"memberId": "", "generationIdOrMemberEpoch": -1}, {"memberId": None, "memberEpoch": -1}, None),
        ({"memberId": "", "generationIdOrMemberEpoch": 2}, {"memberId": "", "memberEpoch": 2}, None),
        ({}, {"memberId": None, "memberEpoch": -1}, {"memberId": "", "generationIdOrMemberEpoch": -1}),
    ],
    ids=["a member", "nobody", "an epoch of nobody", "left out"],
)
def test_the_member_of_a_fetch_is_named_with_each_group(kip: Json, kafka: Json, back: Json | None) -> None:
    group = {"groupId": "g", "topics": None}
    assert to_kip(FETCHING_MEMBER, kafka) == (kip if back is None else back)
    form = asked_of(FETCH, 9, {**kip, "groups": [group]}, Names("run"), lambda _, __: True)
    [sent] = form.body["groups"]
    assert {name: sent[name] for name in kafka} == kafka
    read = GROUP_APIS[OFFSET_FETCH].requests(9, {"groups": [{**kafka, **group}], "requireStable": False})
    assert read == [{**(kip if back is None else back), "groups": [group]}]


def test_an_old_fetch_names_no_member() -> None:
    read = GROUP_APIS[OFFSET_FETCH].requests(5, {"groupId": "g", "topics": []})
    member = {"memberId": "", "generationIdOrMemberEpoch": -1}
    assert read == [{**member, "groups": [{"groupId": "g", "topics": []}]}]


def test_a_group_is_resource_32_in_kafka_and_16_in_the_text() -> None:
    kinds = [of_other_type({"resourceType": kind})["resourceType"] for kind in (32, 16, 2, 4)]
    assert kinds == [16, 32, 2, 4]
    request = GROUP_APIS[DESCRIBE_CONFIGS].requests(
        4, {"resources": [{"resourceType": 32, "resourceName": "g"}]}
    )
    assert request == [{"resources": [{"resourceType": 16, "resourceName": "g"}]}]
