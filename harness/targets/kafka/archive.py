"""The conversation with Kafka's program while `harness.class_archive` makes the archive of its classes.

The archive stands beside the program. With it a JVM starts the program in half the time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from harness.class_archive import Work
from harness.targets.base import Json

_TOPIC: Final = {"name": "foo", "id": "11111111-1111-1111-1111-111111111111", "partitions": 2}
_CLIENT: Final = {"id": "client", "host": "/127.0.0.1", "principal": "User:client"}


def _sent(api: str, version: int, **body: object) -> Json:
    operation = {"op": "request", "id": 1, "api": api, "version": version, "client": _CLIENT}
    return {**operation, "body": body, "observe": str(body.get("groupId", "g"))}


def _heartbeat(member: str, epoch: int, owned: Sequence[Json] | None, joins: bool = False) -> Json:
    timeout, topics = (300_000, ["foo"]) if joins else (-1, None)
    body = {"memberId": member, "memberEpoch": epoch, "topicPartitions": owned}
    given = {"rebalanceTimeoutMs": timeout, "subscribedTopicNames": topics}
    return _sent("ConsumerGroupHeartbeat", 0, groupId="g", **body, **given)


_PROTOCOL: Final = {"name": "range", "metadata": "AAEAAAABAANmb28AAAAAAAAAAAAAAAA="}
SESSION: Final[Sequence[Json]] = (
    {"op": "hello"},
    {"op": "configure", "group.consumer.session.timeout.ms": 45_000},
    {"op": "load", "records": [], "topics": [], "volatile": {"clockMs": 0, "groups": {}}},
    {"op": "topics", "upsert": [_TOPIC], "delete": [], "observe": "g"},
    {"op": "assign", "group": "g", "target": {"m1": [{"topicId": _TOPIC["id"], "partitions": [0, 1]}]}},
    _heartbeat("m1", 0, [], joins=True),
    {"op": "advance", "ms": 1},
    _heartbeat("m2", 0, [], joins=True),
    _heartbeat("m1", 1, [{"topicId": _TOPIC["id"], "partitions": [0]}]),
    _heartbeat("m1", 9, None),
    _heartbeat("m2", -1, None),
    {"op": "topics", "upsert": [{**_TOPIC, "partitions": 3}], "delete": [], "observe": "g"},
    {"op": "fire", "timer": "session", "group": "g", "member": "m1", "observe": "g"},
    {"op": "records", "since": 0},
    {"op": "restart"},
    _sent("JoinGroup", 9, groupId="c", memberId="", protocolType="consumer", protocols=[_PROTOCOL]),
    _sent("ListGroups", 5, statesFilter=[], typesFilter=[]),
    {"op": "describe", "group": "g"},
    {"op": "background"},
)
"""The operations for the program while the archive is made. Only the classes that they load matter."""
WORK: Final = Work(lines="".join(f"{json.dumps(operation)}\n" for operation in SESSION).encode())
