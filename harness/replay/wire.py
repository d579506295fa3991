"""Names and forms on the wire for names in the specification: groups, topics, partitions, clients, errors.

The specification's member ids, instance ids and regular expressions are used unchanged. Its topics are ids
(T2): "foo" is a topic named foo, "foo#2" a later one of the same name. The name is the text before the "#";
the id on the wire is derived from the whole text. Subscriptions have names.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from harness.kinds.fields import Partition
from harness.kinds.registry import KINDS
from harness.kinds.rows import Forms
from harness.targets.base import Capabilities, Json

GROUP: Final = "g"
HEARTBEAT: Final = "ConsumerGroupHeartbeat"
COMMIT: Final = "OffsetCommit"
FETCH: Final = "OffsetFetch"
PREPARE: Final = "ConsumerGroupPrepareAssignment"
INSTALL: Final = "ConsumerGroupInstallAssignment"
JOINS: Final = tuple(dict.fromkeys([HEARTBEAT, *(kind.api for kind in KINDS if kind.api)]))
"""The requests with which members join groups: one for each type of group."""
LIST: Final = "ListGroups"
DELETE: Final = "DeleteGroups"
ALTER: Final = "IncrementalAlterConfigs"
CONFIGS: Final = "DescribeConfigs"
VERSIONS: Final = {
    HEARTBEAT: 0,
    COMMIT: 9,
    FETCH: 9,
    LIST: 5,
    DELETE: 2,
    ALTER: 1,
    CONFIGS: 4,
    PREPARE: 0,
    INSTALL: 0,
    **{api: version for kind in KINDS for api, version in kind.apis.items()},
}
"""The APIs that traces use, in the versions of KIP-848, or the last version where it has none."""


def served(known: Capabilities) -> frozenset[str]:
    """The APIs that a target has in these versions."""
    ranges = ((api, version, known.apis.get(api, (0, -1))) for api, version in VERSIONS.items())
    return frozenset(api for api, version, (first, last) in ranges if first <= version <= last)


REBALANCE_TIMEOUT_MS: Final = 300_000
"""The time-out in every join: longer than a replay's clock ever moves, so that timers end by `fire` only."""
SESSION_TIMEOUT_MS: Final = 45_000
HEARTBEAT_INTERVAL_MS: Final = 5_000
EMPTY_RETENTION_MS: Final = 7 * 24 * 60 * 60 * 1000

SESSION_TIMEOUT: Final = "group.consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "group.consumer.heartbeat.interval.ms"
CONFIGURATION: Final[Json] = {
    SESSION_TIMEOUT: SESSION_TIMEOUT_MS,
    HEARTBEAT_INTERVAL: HEARTBEAT_INTERVAL_MS,
    "group.empty.retention.ms": EMPTY_RETENTION_MS,
}
"""The configuration of a target, before the first request."""

MAX_SIZE: Final = "group.consumer.max.size"
DEFAULTS: Final[Json] = {MAX_SIZE: 2**31 - 1}
"""The default configuration of a target, which a trace may change: Kafka's defaults (D3)."""

ERROR_CODES: Final = {
    "NONE": 0,
    "UNKNOWN_TOPIC_OR_PARTITION": 3,
    "COORDINATOR_LOAD_IN_PROGRESS": 14,
    "COORDINATOR_NOT_AVAILABLE": 15,
    "NOT_COORDINATOR": 16,
    "ILLEGAL_GENERATION": 22,
    "INCONSISTENT_GROUP_PROTOCOL": 23,
    "UNKNOWN_MEMBER_ID": 25,
    "REBALANCE_IN_PROGRESS": 27,
    "GROUP_AUTHORIZATION_FAILED": 30,
    "INVALID_CONFIG": 40,
    "INVALID_REQUEST": 42,
    "NON_EMPTY_GROUP": 68,
    "GROUP_ID_NOT_FOUND": 69,
    "MEMBER_ID_REQUIRED": 79,
    "GROUP_MAX_SIZE_REACHED": 81,
    "FENCED_INSTANCE_ID": 82,
    "UNKNOWN_TOPIC_ID": 100,
    "FENCED_MEMBER_EPOCH": 110,
    "UNRELEASED_INSTANCE_ID": 111,
    "UNSUPPORTED_ASSIGNOR": 112,
    "STALE_MEMBER_EPOCH": 113,
    "INVALID_ASSIGNMENT": 848,
}
"""Kafka's error codes, by the specification's names; 848 is the kit's own, as Kafka has no such error (A7,
W4)."""

ERROR_NAMES: Final = {code: name for name, code in ERROR_CODES.items()} | {12: "OFFSET_METADATA_TOO_LARGE"}
"""Names of Kafka's error codes, for reports; no model has the code for metadata that is too long."""

NOT_ADMITTED: Final = frozenset(
    {"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}
    | {"GROUP_AUTHORIZATION_FAILED"}
)
"""Errors of a request that is refused before its group is read (H5, D5)."""

KEY_NUMBERS: Final = {
    "OffsetCommit": 1,
    "ConsumerGroupMetadata": 3,
    "ConsumerGroupPartitionMetadata": 4,
    "ConsumerGroupMemberMetadata": 5,
    "ConsumerGroupTargetAssignmentMetadata": 6,
    "ConsumerGroupTargetAssignmentMember": 7,
    "ConsumerGroupCurrentMemberAssignment": 8,
}
"""Kafka's number of each record type that a consumer group has."""

TOPIC_NAMES: Final[dict[str, str]] = {}
"""The names of the ids that `topic_id` has made, for reports."""

_TOPICS: Final = uuid.UUID("8480c0de-0848-4848-8848-000000000848")


def topic_name(topic: str) -> str:
    """The name of a topic of the spec."""
    return topic.partition("#")[0]


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
    """`topic_partitions`, with one list for equal sets: only for comparison, never for a target."""
    return topic_partitions(partitions)


SHOWN: Final[Forms] = {"partitions": expected_partitions, "texts": sorted, "text": lambda text: text or None}
"""The forms of fields in JSON, by the names of `harness.kinds.rows`; only for comparison."""
GIVEN: Final[Forms] = {**SHOWN, "partitions": topic_partitions}
"""Forms of values for a target."""


def metadata(topics: Mapping[str, int]) -> list[Json]:
    """[{"topicId", "topicName", "numPartitions"}] by name: the metadata that a group records."""
    return [
        {"topicId": topic_id(topic), "topicName": topic_name(topic), "numPartitions": topics[topic]}
        for topic in sorted(topics, key=topic_name)
    ]


def topic(topic: str, partitions: int) -> Json:
    """A topic of the specification in the form of the operation `topics`."""
    return {"name": topic_name(topic), "id": topic_id(topic), "partitions": partitions}


def client_id(member: str) -> str:
    """The client of a member's requests: each member has a client of its own, named after it."""
    return f"client-{member}"


CLIENT_HOST: Final = "/127.0.0.1"


def client(member: str) -> Json:
    """The client that sends a member's requests."""
    return {"id": client_id(member), "host": CLIENT_HOST, "principal": f"User:{member}"}
