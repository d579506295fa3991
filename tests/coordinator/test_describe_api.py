"""ConsumerGroupDescribe."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import CLIENT, IDS, GroupDriver

from coordinator import BadInput, Coordinator, ErrorCode

Json = dict[str, Any]


def describe(
    coordinator: Coordinator, *group_ids: str, client: Json | None = None, **fields: Any
) -> list[Json]:
    body = {"groupIds": list(group_ids), "includeAuthorizedOperations": False, **fields}
    response = coordinator.request("ConsumerGroupDescribe", 0, client or CLIENT, body)
    assert set(response) == {"throttleTimeMs", "groups"} and response["throttleTimeMs"] == 0
    groups: list[Json] = response["groups"]
    return groups


def assignment(*partitions: int, error: int = 0) -> Json:
    topics = (
        [{"topicId": IDS["foo"], "topicName": "foo", "partitions": list(partitions)}] if partitions else []
    )
    return {"topicPartitions": topics, "error": error, "metadataVersion": 0, "metadataBytes": ""}


def test_group_with_a_static_and_a_revoking_member() -> None:
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", instanceId="i", rackId="r", serverAssignor="range", subscribedTopicRegex="f.*")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2", serverAssignor="range")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    (group,) = describe(g.coordinator, "g")
    member: Json = {
        "memberId": "m1",
        "instanceId": "i",
        "rackId": "r",
        "memberEpoch": 1,
        "clientId": "client",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": "f.*",
        "assignment": assignment(0),
        "targetAssignment": assignment(0),
    }
    other = {
        **member,
        "memberId": "m2",
        "instanceId": None,
        "rackId": None,
        "memberEpoch": 2,
        "subscribedTopicRegex": None,
        "assignment": assignment(),
        "targetAssignment": assignment(1),
    }
    assert group == {
        "errorCode": 0,
        "errorMessage": None,
        "groupId": "g",
        "groupState": "Reconciling",
        "groupEpoch": 2,
        "assignmentEpoch": 2,
        "assignorName": "range",
        "members": [member, other],
        "authorizedOperations": -(2**31),
    }


def test_assignor_that_failed_is_the_error_of_the_target() -> None:
    g = GroupDriver()
    g.coordinator.script_target("g", "no")
    g.join("m1")
    (group,) = describe(g.coordinator, "g")
    assert group["members"][0]["targetAssignment"] == assignment(error=1)


def test_deleted_topic_has_no_name() -> None:
    g = GroupDriver()
    g.join("m1")
    g.delete_topic("foo")
    (group,) = describe(g.coordinator, "g")
    (topic,) = group["members"][0]["assignment"]["topicPartitions"]
    assert topic == {"topicId": IDS["foo"], "topicName": "", "partitions": [0, 1]}


def test_each_group_has_its_own_answer_in_the_order_of_the_request() -> None:
    g = GroupDriver()
    g.join("m1")
    g.join("m1", groupId="h")
    g.coordinator.request(
        "ConsumerGroupHeartbeat", 0, CLIENT, {"groupId": "h", "memberId": "m1", "memberEpoch": -1}
    )
    groups = describe(g.coordinator, "nosuch", "h", "", "g", "g", "x" * 32_768)
    assert [(group["errorCode"], group["groupState"]) for group in groups] == [
        (ErrorCode.GROUP_ID_NOT_FOUND, ""),
        (0, "Empty"),
        (ErrorCode.INVALID_REQUEST, ""),
        (0, "Stable"),
        (ErrorCode.INVALID_REQUEST, ""),
        (ErrorCode.INVALID_REQUEST, ""),
    ]
    assert groups[0] == {
        "errorCode": 69,
        "errorMessage": "Group nosuch does not exist.",
        "groupId": "nosuch",
        "groupState": "",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "assignorName": "",
        "members": [],
        "authorizedOperations": -(2**31),
    }
    assert groups[4]["errorMessage"] == "GroupIds has g twice; name each group once."
    assert describe(g.coordinator) == []


def test_describing_changes_nothing() -> None:
    g = GroupDriver()
    g.two_stable_members()
    before = g.group(), g.coordinator.end
    describe(g.coordinator, "g", "nosuch", includeAuthorizedOperations=True)
    assert (g.group(), g.coordinator.end) == before


def test_the_rights_are_kafkas_bits_of_read_delete_and_describe() -> None:
    g = GroupDriver()
    g.join("m1")
    (group,) = describe(g.coordinator, "g", includeAuthorizedOperations=True)
    assert group["authorizedOperations"] == (1 << 3) + (1 << 6) + (1 << 8)


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(BadInput) as refused:
        describe(Coordinator(), "g", groupId="g")
    expected = "ConsumerGroupDescribe has no field 'groupId'; it has groupIds, includeAuthorizedOperations"
    assert str(refused.value) == expected


def test_describing_needs_its_right_and_lists_the_other_rights_on_request() -> None:
    def authorizer(principal: str, operation: str, group_id: str) -> bool:
        rights = {"User:alice": ("DESCRIBE", "READ"), "User:bob": ("READ",), "User:carol": ("DESCRIBE",)}
        return operation in rights[principal] and group_id == "g"

    coordinator = Coordinator(authorizer=authorizer)
    body = {
        "groupId": "g",
        "memberId": "m",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 1,
        "subscribedTopicNames": [],
    }
    coordinator.request("ConsumerGroupHeartbeat", 0, CLIENT, body)

    def codes(principal: str) -> list[tuple[int, int]]:
        groups = describe(
            coordinator, "g", "h", client={"principal": principal}, includeAuthorizedOperations=True
        )
        return [(group["errorCode"], group["authorizedOperations"]) for group in groups]

    assert codes("User:alice") == [(0, (1 << 3) + (1 << 8)), (30, -(2**31))]
    assert codes("User:bob") == [(30, -(2**31)), (30, -(2**31))]
    assert codes("User:carol") == [(0, 1 << 8), (30, -(2**31))]


@pytest.mark.parametrize(("state", "code"), [("loading", 14), ("moved", 16), ("unavailable", 15)])
def test_coordinator_that_is_not_active_describes_nothing(state: str, code: int) -> None:
    g = GroupDriver()
    g.join("m1")
    g.coordinator.set_state(state)
    assert [group["errorCode"] for group in describe(g.coordinator, "g", "h", "")] == [code] * 3
