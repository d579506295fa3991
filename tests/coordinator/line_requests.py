"""Operations of the line protocol for tests: a topic, and a member that joins."""

from __future__ import annotations

from typing import Any

from group_driver import API, CLIENT, IDS

Json = dict[str, Any]
FOO = {"name": "foo", "id": IDS["foo"], "partitions": 2}


def join(member: str = "m1", **fields: Any) -> Json:
    """The operation of a member that joins; `fields` are further ones of the operation."""
    body = {"groupId": "g", "memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 5000}
    body |= {"subscribedTopicNames": ["foo"], "topicPartitions": []}
    return {"op": "request", "api": API, "version": 0, "client": CLIENT, "body": body, **fields}
