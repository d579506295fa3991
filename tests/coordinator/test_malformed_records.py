"""Records and volatile states that no coordinator writes: their numbers, topics and protocols are refused."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import BadInput, Coordinator

FOO = "00000000-0000-4000-8000-0000000000f0"
Json = dict[str, Any]


MEMBER: Json = {
    **{"groupEpoch": 1, "instanceId": None, "rackId": None, "clientId": "c", "clientHost": "h"},
    **{"subscribedTopicNames": [], "rebalanceTimeoutMs": 1_000, "serverAssignor": None},
}
CLASSIC: Json = {
    **{"protocolType": "consumer", "generation": 1, "protocol": None, "leader": None},
    **{"currentStateTimestamp": 0, "members": []},
}


def record(kind: str, value: Json, **key: str) -> Json:
    return {"key": {"type": kind, "groupId": "g", **key}, "value": value}


def loaded(*records: Json, **volatile: Any) -> Coordinator:
    coordinator = Coordinator()
    coordinator.load(records, [{"name": "foo", "id": FOO, "partitions": 1}], volatile)
    return coordinator


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        ("ConsumerGroupMetadata", "epoch", {}),
        ("ConsumerGroupTargetAssignmentMetadata", "assignmentEpoch", {}),
        ("ConsumerGroupCurrentMemberAssignment", "memberEpoch", {"memberId": "m"}),
        ("ConnectGroupMetadata", "epoch", {}),
        ("ConnectGroupTargetAssignmentMetadata", "assignmentEpoch", {}),
        ("ShareGroupMetadata", "epoch", {}),
        ("ShareGroupTargetAssignmentMetadata", "assignmentEpoch", {}),
    ],
)
def test_p1_an_epoch_is_an_int32(kind: str, name: str, key: dict[str, str]) -> None:
    """A classic group that is made of one could not be written, and an answer could not be sent."""
    with pytest.raises(BadInput, match=f"'{name}' of a {kind} record must fit into an int32, not 2147483648"):
        loaded(record(kind, {name: 2**31}, **key))


@pytest.mark.parametrize(("partition", "epoch", "name"), [(2**31, 0, "partition"), (0, 2**31, "leaderEpoch")])
def test_p1_numbers_of_an_offset_are_those_of_a_request(partition: int, epoch: int, name: str) -> None:
    with pytest.raises(BadInput, match=f"'{name}' of .*an OffsetCommit record must fit into an int32"):
        key = {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": partition}
        value = {"offset": 0, "leaderEpoch": epoch, "metadata": "", "commitTimestamp": 0, "topicId": FOO}
        loaded({"key": key, "value": value})


def test_p1_a_number_has_at_most_64_bits() -> None:
    """One more than the longest number that Python reads could not be written in an answer."""
    with pytest.raises(BadInput, match="'commitTimestamp' of an OffsetCommit record must fit into an int64"):
        key = {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": 0}
        value = {"offset": 0, "leaderEpoch": 0, "metadata": "", "commitTimestamp": 10**4299, "topicId": FOO}
        loaded({"key": key, "value": value})


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (record("ConsumerGroupMetadata", {"epoch": 1, "more": 1}), "a ConsumerGroupMetadata record"),
        (
            record("ConsumerGroupCurrentMemberAssignment", {"memberEpoch": 1, "more": 1}, memberId="m"),
            "a ConsumerGroupCurrentMemberAssignment record",
        ),
        (
            record("ConsumerGroupMemberMetadata", {"assignors": [{"more": 1}], **MEMBER}, memberId="m"),
            "an assignor of a ConsumerGroupMemberMetadata record",
        ),
        (
            record(
                "ConsumerGroupMemberMetadata", {**MEMBER, "classicMemberMetadata": {"more": 1}}, memberId="m"
            ),
            "classicMemberMetadata of a ConsumerGroupMemberMetadata record",
        ),
        (
            {"key": {"type": "GroupMetadata", "group": "g"}, "value": {**CLASSIC, "more": 1}},
            "a GroupMetadata record",
        ),
        (
            {"key": {"type": "GroupMetadata", "group": "g"}, "value": {**CLASSIC, "members": [{"more": 1}]}},
            "a member of a GroupMetadata record",
        ),
    ],
)
def test_p1_a_field_that_a_record_does_not_have_is_named(given: Json, where: str) -> None:
    """Most likely its name is misspelt, and the record says less than meant."""
    with pytest.raises(BadInput, match=f"^{where} has no field 'more'; it has "):
        loaded(given)


def test_p1_an_assignment_has_the_fields_of_one_form() -> None:
    both = {"memberEpoch": 1, "previousMemberEpoch": 0, "assignedPartitions": [], "topicPartitions": []}
    with pytest.raises(BadInput, match="has no field 'topicPartitions'"):
        loaded(record("ConsumerGroupCurrentMemberAssignment", both, memberId="m"))


def topic(**change: Any) -> Json:
    return {"topicId": FOO, "topicName": "foo", "numPartitions": 1, **change}


@pytest.mark.parametrize("kind", ["ConsumerGroupPartitionMetadata", "ShareGroupPartitionMetadata"])
@pytest.mark.parametrize(
    ("topics", "sentence"),
    [
        ([topic(numPartitions=1_000_001)], "topic 'foo' can have at most 1000000 partitions"),
        ([topic(), topic(numPartitions=2)], "names the topic 'foo' twice"),
        ([topic(more=1)], "a topic of .* record has no field 'more'"),
        ([topic(numPartitions=0)], "'numPartitions' of .* record must be at least 1"),
    ],
)
def test_p1_topics_of_a_group(kind: str, topics: list[Json], sentence: str) -> None:
    """An assignor that takes the partitions of a record one by one would never end."""
    epoch = {"epoch": 1} if kind.startswith("Consumer") else {}
    with pytest.raises(BadInput, match=sentence):
        loaded(record(kind, {**epoch, "topics": topics}))


def classic_member(member: str, *protocols: str) -> Json:
    metadata = {
        **MEMBER,
        "classicMemberMetadata": {
            "sessionTimeoutMs": 6_000,
            "supportedProtocols": [{"name": name, "metadata": ""} for name in protocols],
        },
    }
    return record("ConsumerGroupMemberMetadata", metadata, memberId=member)


@pytest.mark.parametrize("members", [{"a": ()}, {"a": ("range",), "b": ("sticky",)}])
def test_m1_classic_members_have_a_protocol_in_common(members: dict[str, tuple[str, ...]]) -> None:
    """No classic group could be made of them."""
    with pytest.raises(BadInput, match=r"the members of group 'g' .* have no protocol in common"):
        loaded(
            record("ConsumerGroupMetadata", {"epoch": 1}),
            *(classic_member(name, *protocols) for name, protocols in members.items()),
        )
