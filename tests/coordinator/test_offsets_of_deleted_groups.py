"""D1, E5: a group of any kind takes its offsets along when it goes, however many they are (P4)."""

from __future__ import annotations

from typing import Any

import pytest
from admin_driver import ask, delete, listed
from group_driver import IDS

from coordinator import Config, Coordinator

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
"""The heartbeat of a kind of group, and what a join says in it."""
WAYS = [("share", "DeleteGroups")] + [
    (kind, way) for kind in ("classic", "connect", "consumer") for way in ("DeleteGroups", "retention")
]
"""How groups go: those of members with a session and no other timer stay until somebody deletes them (Q8)."""


def emptied(kind: str, limit_bytes: int = 1024 * 1024) -> Coordinator:
    """A group that had a member, or an id for one, and has committed offsets since it has none."""
    coordinator = Coordinator(config=Config(max_batch_bytes=limit_bytes))
    coordinator.upsert_topic("foo", IDS["foo"], PARTITIONS)
    coordinator.upsert_topic("bar", IDS["bar"], 1)
    if kind == "classic":
        body = {"groupId": "g", "memberId": "", "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
        body |= {"protocolType": "consumer", "protocols": [{"name": "p", "metadata": ""}]}
        assert coordinator.request("JoinGroup", 9, {}, body)["errorCode"] == 79
    else:
        api, said = KINDS[kind]
        named = {"groupId": "g", "memberId": "m1"}
        assert coordinator.request(*api, {}, {**named, "memberEpoch": 0, **said})["errorCode"] == 0
        assert coordinator.request(*api, {}, {**named, "memberEpoch": -1})["errorCode"] == 0
    for partition in range(PARTITIONS):
        one = {"partitionIndex": partition, "committedOffset": 7}
        body = {"groupId": "g", "topics": [{"name": "foo", "partitions": [one]}]}
        answer = coordinator.request("OffsetCommit", 9, {}, body)
        assert answer["topics"][0]["partitions"][0]["errorCode"] == 0
    assert listed(coordinator) == [f"g {kind} Empty"]
    return coordinator


def left(coordinator: Coordinator) -> tuple[list[str], list[Json]]:
    """The groups that are listed, and what is committed in g."""
    (fetched,) = ask(coordinator, "OffsetFetch", groups=[{"groupId": "g", "topics": None}])["groups"]
    return listed(coordinator), fetched["topics"]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_offsets_go_with_their_group_and_do_not_come_back(kind: str, way: str) -> None:
    """It is no classic group with nothing but offsets then, before a restart and after it."""
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
