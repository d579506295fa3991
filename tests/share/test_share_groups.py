"""Share groups beside other kinds, the log, time and what a client can send wrongly (Q1, Q6, Q7, Q8)."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import BadInput, Coordinator, ErrorCode
from coordinator.core.record_size import record_bytes
from coordinator.share.records import MEMBER, TARGET_MEMBER, ShareRecord

API = "ShareGroupHeartbeat"
FOO = "00000000-0000-4000-8000-0000000000f0"
CLIENT = {"id": "c", "host": "/127.0.0.1", "principal": "User:u"}

Json = dict[str, Any]


def beat(coordinator: Coordinator, member: str, epoch: int, group: str = "g", **given: Any) -> Json:
    """ShareGroupHeartbeat; a join names the topic."""
    names = {"subscribedTopicNames": ["foo"]} if epoch == 0 else {}
    body = {"groupId": group, "memberId": member, "memberEpoch": epoch, **names, **given}
    return coordinator.request(API, 1, CLIENT, body)


@pytest.fixture
def coordinator() -> Coordinator:
    """Make one with the topic foo of 2 partitions, and a group of m1 and m2."""
    made = Coordinator()
    made.upsert_topic("foo", FOO, 2)
    assert beat(made, "m1", 0)["memberEpoch"] == 1
    assert beat(made, "m2", 0)["memberEpoch"] == 2
    return made


def join_consumers(coordinator: Coordinator, group: str) -> Json:
    """ConsumerGroupHeartbeat of a first member."""
    body = {"groupId": group, "memberId": "c1", "memberEpoch": 0, "rebalanceTimeoutMs": 5000}
    body |= {"subscribedTopicNames": ["foo"], "topicPartitions": []}
    return coordinator.request("ConsumerGroupHeartbeat", 0, CLIENT, body)


def test_both_members_have_every_partition(coordinator: Coordinator) -> None:
    """Q4, Q5: by hand, not by the specification."""
    answer = beat(coordinator, "m1", 1, subscribedTopicNames=["foo"])
    everything = [{"topicId": FOO, "partitions": [0, 1]}]
    assert answer == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "m1",
        "memberEpoch": 2,
        "heartbeatIntervalMs": 5000,
        "assignment": {"topicPartitions": everything},
    }
    shown = coordinator.describe("g")
    assert [one["assigned"] for one in shown["members"]] == [everything, everything]
    assert (shown["type"], shown["state"], shown["groupEpoch"]) == ("share", "Stable", 2)


def test_a_group_id_is_of_one_kind(coordinator: Coordinator) -> None:
    """Q7: a group of one kind is not taken over by the other kind."""
    before = coordinator.describe("g"), coordinator.end
    assert join_consumers(coordinator, "g")["errorCode"] == ErrorCode.INVALID_REQUEST
    assert (coordinator.describe("g"), coordinator.end) == before
    assert join_consumers(coordinator, "h")["errorCode"] == 0
    end = coordinator.end
    for epoch in (0, 1, -1):
        assert beat(coordinator, "m1", epoch, "h")["errorCode"] == ErrorCode.GROUP_ID_NOT_FOUND
    assert coordinator.end == end
    assert "type" not in coordinator.describe("h")


@pytest.mark.parametrize(
    "answer",
    [
        {"groupId": ""},
        {"rackId": ""},
        {"memberId": "m" * 40_000},
        {"subscribedTopicNames": ["foo", "foo"]},
        {"subscribedTopicNames": [""]},
    ],
)
def test_requests_that_a_client_may_not_send(coordinator: Coordinator, answer: Json) -> None:
    """Q7: requests that no model has; nothing changes."""
    end = coordinator.end
    refused = beat(coordinator, **{"member": "m1", "epoch": 0, **answer})
    assert refused["errorCode"] == ErrorCode.INVALID_REQUEST
    assert refused["errorMessage"]
    assert coordinator.end == end


def test_requests_that_no_client_can_send(coordinator: Coordinator) -> None:
    with pytest.raises(BadInput, match="has no field 'instanceId'"):
        beat(coordinator, "m1", 0, instanceId="i")
    with pytest.raises(BadInput, match="must fit into an int32"):
        beat(coordinator, "m1", 2**31)


def test_a_session_ends_unless_it_is_renewed(coordinator: Coordinator) -> None:
    """Q6: and a refused heartbeat renews nothing."""
    coordinator.advance(30_000)
    assert beat(coordinator, "m1", 1)["errorCode"] == 0
    assert beat(coordinator, "m2", 9)["errorCode"] == ErrorCode.FENCED_MEMBER_EPOCH
    assert coordinator.advance(20_000) == [{"timer": "session", "group": "g", "member": "m2"}]
    assert [one["memberId"] for one in coordinator.describe("g")["members"]] == ["m1"]
    assert coordinator.advance(24_000) == []
    assert len(coordinator.advance(2_000)) == 1
    assert coordinator.describe("g")["state"] == "Empty"
    assert beat(coordinator, "m3", 0)["memberEpoch"] == 5


def test_a_new_coordinator_goes_on(coordinator: Coordinator) -> None:
    """Q8: sessions begin anew, and a log with only the last record of each key gives the same group."""
    coordinator.advance(30_000)
    beat(coordinator, "m1", -1)
    before = coordinator.describe("g")
    coordinator.restart()
    timers = [{"timer": "session", "group": "g", "member": "m2", "deadlineMs": 75_000}]
    assert coordinator.describe("g") == {**before, "timers": timers}
    log = coordinator.records(0)
    last = {tuple(sorted(one["key"].items())): one for one in log}
    other = Coordinator()
    other.load([one for one in last.values() if one["value"] is not None], [], {})
    assert {**other.describe("g"), "timers": []} == {**before, "timers": []}


def test_a_log_that_refuses_changes_nothing(coordinator: Coordinator) -> None:
    """Q8, P3: neither a request nor the end of a session changes anything; the session ends again later."""
    before = coordinator.describe("g")
    coordinator.fail_appends(True)
    refused = beat(coordinator, "m3", 0)
    assert refused["errorCode"] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert coordinator.advance(46_000) == []
    assert {**coordinator.describe("g"), "timers": []} == {**before, "timers": []}
    coordinator.fail_appends(False)
    assert len(coordinator.advance(60_000)) == 2


def test_groups_are_listed_and_deleted(coordinator: Coordinator) -> None:
    """Q8, D1."""
    listed = coordinator.request("ListGroups", 5, CLIENT, {"statesFilter": [], "typesFilter": ["Share"]})
    assert [(one["groupId"], one["groupType"], one["groupState"]) for one in listed["groups"]] == [
        ("g", "share", "Stable")
    ]
    for epoch, member in ((-1, "m1"), (-1, "m2")):
        beat(coordinator, member, epoch)
    deleted = coordinator.request("DeleteGroups", 2, CLIENT, {"groupsNames": ["g"]})
    assert deleted["results"] == [{"groupId": "g", "errorCode": 0}]
    assert coordinator.describe("g")["state"] == "Dead"
    assert join_consumers(coordinator, "g")["errorCode"] == 0


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "times out"])
def test_members_that_are_gone_leave_nothing_behind(coordinator: Coordinator, leaves: bool) -> None:
    """H8: clients choose the ids of members, so that those that were may be any number."""
    share = coordinator.others._of["share"]

    def entries() -> int:
        return sum(len(value) for value in vars(share).values() if isinstance(value, dict))

    before = entries()
    for number in range(100):
        assert beat(coordinator, f"member {number}", 0)["errorCode"] == 0
        assert entries() == before + 1
        if leaves:
            beat(coordinator, f"member {number}", -1)
        else:
            coordinator.fire("session", "g", f"member {number}")
        assert entries() == before
    for member in ("m1", "m2"):
        beat(coordinator, member, -1)
    coordinator.request("DeleteGroups", 2, CLIENT, {"groupsNames": ["g"]})
    assert entries() == 0


def test_records_have_the_size_of_kafkas() -> None:
    """Q8, P4: by hand, by the schemas of KIP-932: a version, the fields, lengths as varints, tags."""
    target = ShareRecord(
        TARGET_MEMBER, "g", "m1", {"topicPartitions": [{"topicId": FOO, "partitions": [0, 1]}]}
    )
    empty = ShareRecord(TARGET_MEMBER, "g", "m1", {"topicPartitions": []})
    assert record_bytes(target) - record_bytes(empty) >= 16 + 4 + 4
    body = {"rackId": None, "clientId": "c", "clientHost": "h", "subscribedTopicNames": ["foo"]}
    assert record_bytes(ShareRecord(MEMBER, "g", "m1", body)) >= 2 + 1 + 2 + 2 + 1 + 4 + 1


def record(kind: str, value: Json, **key: str) -> Json:
    return {"key": {"type": f"ShareGroup{kind}", "groupId": "g", **key}, "value": value}


CURRENT: Json = {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0, "assignedPartitions": []}
METADATA: Json = {"rackId": None, "clientId": "c", "clientHost": "/h", "subscribedTopicNames": []}


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ([record("TargetAssignmentMetadata", {"assignmentEpoch": 2})], "epoch 2, which is ahead of it"),
        (
            [record("CurrentMemberAssignment", {**CURRENT, "memberEpoch": 3}, memberId="m")],
            "epoch 3, which is ahead of it",
        ),
        (
            [record("CurrentMemberAssignment", {**CURRENT, "previousMemberEpoch": 4}, memberId="m")],
            "epoch 4, which is ahead of it",
        ),
        (
            [record("CurrentMemberAssignment", CURRENT, memberId="m")],
            "member 'm' of group 'g' an epoch, but no metadata",
        ),
    ],
)
def test_records_that_make_no_group_are_refused(records: list[Json], sentence: str) -> None:
    """E4: its epochs would go back with the next heartbeat."""
    group = record("Metadata", {"epoch": 1})
    with pytest.raises(BadInput, match=sentence):
        Coordinator().load([group, *records], [], {})
    metadata = record("MemberMetadata", METADATA, memberId="m")
    Coordinator().load([group, metadata, record("CurrentMemberAssignment", CURRENT, memberId="m")], [], {})


def test_a_volatile_state_of_a_group_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="volatile names the share group 'g', which the records do not have"):
        Coordinator().load([], [], {"share": {"g": {}}})
