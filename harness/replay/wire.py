"""Names and forms on the wire for what the spec only names: groups, topics, partitions, clients, errors.

The spec's member ids and topic names are used as they are. A topic id is derived from its name alone: in the
spec a topic that was deleted never comes back, one created again would be another topic (T2).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from harness.replay.state import Partition, Request
from harness.targets.base import Json

GROUP: Final = "g"
API: Final = "ConsumerGroupHeartbeat"
VERSION: Final = 0

REBALANCE_TIMEOUT_MS: Final = 300_000
"""What every join says: longer than a replay's clock ever moves, so that timers run out by `fire` only."""
SESSION_TIMEOUT_MS: Final = 45_000
HEARTBEAT_INTERVAL_MS: Final = 5_000
EMPTY_RETENTION_MS: Final = 7 * 24 * 60 * 60 * 1000

CONFIGURATION: Final[Json] = {
    "group.consumer.session.timeout.ms": SESSION_TIMEOUT_MS,
    "group.consumer.heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
    "group.empty.retention.ms": EMPTY_RETENTION_MS,
}
"""What a target is configured with, before the first request."""

ERROR_CODES: Final = {
    "NONE": 0,
    "UNKNOWN_MEMBER_ID": 25,
    "INVALID_REQUEST": 42,
    "GROUP_ID_NOT_FOUND": 69,
    "FENCED_MEMBER_EPOCH": 110,
}
"""Kafka's error codes, by the names that the spec uses."""

TOPIC_NAMES: Final[dict[str, str]] = {}
"""The names of the ids that `topic_id` has made, for reports."""

_TOPICS: Final = uuid.UUID("8480c0de-0848-4848-8848-000000000848")


@cache
def topic_id(topic: str) -> str:
    """The id of a topic of the spec, as RFC 4122 text."""
    made = str(uuid.uuid5(_TOPICS, topic))
    TOPIC_NAMES[made] = topic
    return made


def topic_partitions(partitions: Iterable[Partition]) -> list[Json]:
    """[{"topicId", "partitions"}], sorted by id and index: the normal form of a set of partitions."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(topic_id(topic), []).append(index)
    return [{"topicId": topic, "partitions": by_topic[topic]} for topic in sorted(by_topic)]


@cache
def expected_partitions(partitions: frozenset[Partition]) -> list[Json]:
    """`topic_partitions`, one list for equal sets: only to compare with, never given to a target."""
    return topic_partitions(partitions)


def metadata(topics: Mapping[str, int]) -> list[Json]:
    """[{"topicId", "topicName", "numPartitions"}] by name: the metadata that a group records."""
    return [
        {"topicId": topic_id(name), "topicName": name, "numPartitions": topics[name]}
        for name in sorted(topics)
    ]


def topic(name: str, partitions: int) -> Json:
    """A topic as the operation `topics` takes it."""
    return {"name": name, "id": topic_id(name), "partitions": partitions}


def client_id(member: str) -> str:
    """Each member's requests come from a client of its own, named after it."""
    return f"client-{member}"


CLIENT_HOST: Final = "/127.0.0.1"


def client(member: str) -> Json:
    """Who sends a member's requests."""
    return {"id": client_id(member), "host": CLIENT_HOST, "principal": f"User:{member}"}


def heartbeat(request: Request) -> Json:
    """The body of a ConsumerGroupHeartbeat (H10); null and -1 say "unchanged" (H7)."""
    joins = request.epoch == 0
    return {
        "groupId": GROUP,
        "memberId": request.member,
        "memberEpoch": request.epoch,
        "rebalanceTimeoutMs": REBALANCE_TIMEOUT_MS if joins else -1,
        "subscribedTopicNames": None if request.subscription is None else sorted(request.subscription),
        "serverAssignor": request.assignor,
        "topicPartitions": None if request.owned is None else topic_partitions(request.owned),
    }
