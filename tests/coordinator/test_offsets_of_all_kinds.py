"""Offsets in groups of every kind: the clients that may commit without a member (O2), and the deletion of
offsets with their group (D1, E5), in any number (P4)."""

from __future__ import annotations

from typing import Any

import pytest
from admin_driver import ask, delete, listed
from group_driver import IDS

from coordinator import Config, Coordinator, Dialect, ErrorCode

Json = dict[str, Any]
PARTITIONS = 40
OFFER = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
KINDS = {
    "consumer": (
        ("ConsumerGroupHeartbeat", 0),
        {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["bar"], "topicPartitions": []},
    ),
    "connect": (
        ("ConnectGroupHeartbeat", 0),
        {"rebalanceTimeoutMs": 5000, "connectorsAndTasks": [], "clientAssignors": [OFFER]},
    ),
    "share": (("ShareGroupHeartbeat", 1), {"subscribedTopicNames": ["bar"]}),
}
"""The heartbeat of a kind of group, and the fields of a join in it."""
WAYS = [("share", "DeleteGroups")] + [
    (kind, way) for kind in ("classic", "connect", "consumer") for way in ("DeleteGroups", "retention")
]
"""The ways in which groups end: those of members with a session and no other timer stay until a client
deletes them (Q8)."""


def coordinator_of(dialect: str = "kip-848", limit_bytes: int = 1024 * 1024) -> Coordinator:
    """A coordinator with topics and no groups."""
    coordinator = Coordinator(config=Config(max_batch_bytes=limit_bytes), dialect=Dialect.named(dialect))
    coordinator.upsert_topic("foo", IDS["foo"], PARTITIONS)
    coordinator.upsert_topic("bar", IDS["bar"], 1)
    return coordinator


def commit(coordinator: Coordinator, partition: int, **fields: Any) -> str:
    """The error of a commit without a member, or of one with `fields`."""
    one = {"partitionIndex": partition, "committedOffset": 7}
    body = {"groupId": "g", "topics": [{"name": "foo", "partitions": [one]}], **fields}
    answer = coordinator.request("OffsetCommit", 9, {}, body)
    return ErrorCode(answer["topics"][0]["partitions"][0]["errorCode"]).name


def beat(coordinator: Coordinator, kind: str, epoch: int) -> int:
    """The epoch after a heartbeat of the member m1 of g."""
    api, given = KINDS[kind]
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": epoch, **(given if epoch == 0 else {})}
    answer = coordinator.request(*api, {}, body)
    assert answer["errorCode"] == 0
    return int(answer["memberEpoch"])


def emptied(kind: str, limit_bytes: int = 1024 * 1024) -> Coordinator:
    """A group that had a member, or an id for one, and has committed offsets since it has none."""
    coordinator = coordinator_of(limit_bytes=limit_bytes)
    if kind == "classic":
        body = {"groupId": "g", "memberId": "", "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
        body |= {"protocolType": "consumer", "protocols": [{"name": "p", "metadata": ""}]}
        assert coordinator.request("JoinGroup", 9, {}, body)["errorCode"] == 79
    else:
        beat(coordinator, kind, 0)
        beat(coordinator, kind, -1)
    assert {commit(coordinator, partition) for partition in range(PARTITIONS)} == {"NONE"}
    assert listed(coordinator) == [f"g {kind} Empty"]
    return coordinator


def left(coordinator: Coordinator) -> tuple[list[str], list[Json]]:
    """The listed groups, and the committed offsets of g."""
    (fetched,) = ask(coordinator, "OffsetFetch", groups=[{"groupId": "g", "topics": None}])["groups"]
    return listed(coordinator), fetched["topics"]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_offsets_go_with_their_group_and_do_not_come_back(kind: str, way: str) -> None:
    """No classic group with nothing but offsets is left, before a restart and after it."""
    coordinator = emptied(kind)
    if way == "DeleteGroups":
        assert delete(coordinator, "g") == {"g": "NONE"}
    else:
        coordinator.advance(Config().empty_retention_ms)
    assert left(coordinator) == ([], [])
    coordinator.restart()
    assert left(coordinator) == ([], [])
    assert delete(coordinator, "g") == {"g": "GROUP_ID_NOT_FOUND"}


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_more_offsets_than_a_batch_holds_take_several(kind: str, way: str) -> None:
    """P4: the group's own tombstones are in the last one."""
    coordinator = emptied(kind, 600)
    before = coordinator.end
    if way == "DeleteGroups":
        assert delete(coordinator, "g") == {"g": "NONE"}
    else:
        coordinator.advance(Config().empty_retention_ms)
    assert left(coordinator) == ([], [])
    written = [one for one in coordinator.records(before) if one["value"] is None]
    of_offsets = [one["key"]["type"] == "OffsetCommit" for one in written]
    assert of_offsets[:PARTITIONS] == [True] * PARTITIONS and not any(of_offsets[PARTITIONS:])
    coordinator.restart(before + PARTITIONS)
    assert listed(coordinator) == [f"g {kind} Empty"], "the group is the last to go"


@pytest.mark.parametrize("kind", ["classic", "connect", "consumer", "share"])
def test_a_log_that_refuses_keeps_group_and_offsets(kind: str) -> None:
    """P3."""
    coordinator = emptied(kind)
    before = left(coordinator), coordinator.describe("g")
    coordinator.fail_appends(True)
    assert delete(coordinator, "g") == {"g": "COORDINATOR_NOT_AVAILABLE"}
    assert (left(coordinator), coordinator.describe("g")) == before


@pytest.mark.parametrize(("dialect", "connect_and_share"), [("kip-848", 25), ("kafka-4.2", 69)])
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_commits_without_a_member_while_there_are_some(
    kind: str, dialect: str, connect_and_share: int
) -> None:
    """O2: in no kind of group. Once it has no members any client may. KIP-848 lists no GROUP_ID_NOT_FOUND for
    a commit, which is Kafka's answer where a group's members are no consumers."""
    coordinator = coordinator_of(dialect)
    epoch = beat(coordinator, kind, 0)
    before = coordinator.end
    expected = ErrorCode(25 if kind == "consumer" else connect_and_share).name
    assert commit(coordinator, 0) == expected
    assert commit(coordinator, 0, generationIdOrMemberEpoch=epoch) == expected, "an epoch of nobody"
    assert commit(coordinator, 99) == expected, "who may not commit learns nothing of the topics"
    assert coordinator.end == before
    if kind != "consumer":
        named = {"memberId": "m1", "generationIdOrMemberEpoch": epoch}
        assert commit(coordinator, 0, **named) == expected, "members of these kinds commit nothing"
    beat(coordinator, kind, -1)
    assert commit(coordinator, 0) == "NONE"
