"""Requests of the tests, in the form of a replay."""

from __future__ import annotations

from typing import Any

from harness.targets.base import Json, Target

FOO = "8480c0de-0000-4000-8000-000000000001"
BAR = "8480c0de-0000-4000-8000-000000000002"
CLIENT: Json = {"id": "client-A", "host": "/127.0.0.1", "principal": "User:A"}
START: Json = {"clockMs": 0}


def topic(name: str, topic_id: str, partitions: int) -> Json:
    """A topic in the form of `topics` and `load`."""
    return {"name": name, "id": topic_id, "partitions": partitions}


def owned(*partitions: int, topic_id: str = FOO) -> list[Json]:
    """Partitions of a topic in the normal form."""
    return [{"topicId": topic_id, "partitions": list(partitions)}] if partitions else []


def join(member: str, names: list[str] | None = None, **more: Any) -> Json:
    """The body of a first heartbeat."""
    return {
        **heartbeat(member, 0, []),
        "rebalanceTimeoutMs": 300_000,
        "subscribedTopicNames": ["foo"] if names is None else names,
        **more,
    }


def heartbeat(member: str, epoch: int, partitions: list[Json] | None = None, **more: Any) -> Json:
    """The body of a heartbeat."""
    return {
        "groupId": "g",
        "memberId": member,
        "memberEpoch": epoch,
        "instanceId": None,
        "rebalanceTimeoutMs": -1,
        "subscribedTopicNames": None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": partitions,
        **more,
    }


def send(target: Target, body: Json, version: int = 0) -> Json:
    """The response to a heartbeat."""
    response = target.request("ConsumerGroupHeartbeat", version, CLIENT, body).body
    assert response is not None
    return response


def commit(member: str, epoch: int, topic_id: str, offset: int, name: str | None = None) -> Json:
    """The body of an OffsetCommit of partition 0, in KIP-848's version 9."""
    partition = {
        "partitionIndex": 0,
        "committedOffset": offset,
        "committedLeaderEpoch": -1,
        "committedMetadata": "",
    }
    return {
        "groupId": "g",
        "generationIdOrMemberEpoch": epoch,
        "memberId": member,
        "groupInstanceId": None,
        "topics": [{"name": name, "topicId": topic_id or None, "partitions": [partition]}],
    }


def fetch(member: str, epoch: int, topic_id: str) -> Json:
    """The body of an OffsetFetch of partition 0, in KIP-848's version 9."""
    wanted = {"name": None, "topicId": topic_id, "partitionIndexes": [0]}
    return {
        "generationIdOrMemberEpoch": epoch,
        "memberId": member,
        "groups": [{"groupId": "g", "topics": [wanted]}],
        "requireStable": False,
    }
