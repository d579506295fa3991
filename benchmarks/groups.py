"""Groups of any size inside a coordinator, and requests to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.shapes import PARTITIONS_PER_TOPIC, Size, topic_id, topic_name
from coordinator import Config, Coordinator, SimulatedClock
from coordinator.assignors import GroupAssignment
from coordinator.consumer.model import MemberMetadata, Target, TopicImage
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    AssignmentEpoch,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
    Value,
)
from coordinator.core.storage import LogStorage
from coordinator.record_kinds import to_wire
from harness.errors import ENGINE_FAILED, ConformError

API: Final = "ConsumerGroupHeartbeat"
CLIENT: Final = {"id": "bench", "host": "/127.0.0.1", "principal": "User:bench"}
CONFIG: Final = Config(max_batch_bytes=2**30)
"""The configuration. A whole new target of 10,000 members is larger than message.max.bytes, so the batch may
be larger here."""

Json = dict[str, Any]


def new_coordinator(topics: int, partitions: int, storage: LogStorage | None = None) -> Coordinator:
    """A coordinator of so many topics with so many partitions each, and no group yet."""
    coordinator = Coordinator(clock=SimulatedClock(), config=CONFIG, storage=storage)
    coordinator.set_topics(topics_on_wire(topics, partitions), [])
    return coordinator


def topics_on_wire(topics: int, partitions: int) -> list[Json]:
    """The topics in the form of `Coordinator.set_topics` and `load`."""
    return [
        {"name": topic_name(number), "id": topic_id(number), "partitions": partitions}
        for number in range(topics)
    ]


def stable_group(
    assignor: str, size: Size, subscriptions: Mapping[str, frozenset[int]], assignment: GroupAssignment
) -> Coordinator:
    """A coordinator with the group "g", which is Stable at epoch 1 with this assignment."""
    coordinator = Coordinator(clock=SimulatedClock(), config=CONFIG)
    names = {topics: frozenset(map(topic_name, topics)) for topics in set(subscriptions.values())}
    listed = {of_member: sorted(of_member) for of_member in names.values()}
    images = {topic_name(n): TopicImage(topic_id(n), PARTITIONS_PER_TOPIC) for n in range(size.topics)}
    written: list[Json] = []

    def write(kind: str, member: str | None, value: Value) -> None:
        written.append(to_wire(Record(kind, "g", member, value), len(written)))

    write(PARTITION_METADATA, None, PartitionMetadata(1, images))
    write(GROUP_METADATA, None, GroupEpoch(1))
    for member, topics in subscriptions.items():
        given = MemberMetadata(None, None, "bench", "/127.0.0.1", names[topics], None, 300_000, assignor)
        write(MEMBER_METADATA, member, MemberUpdate(1, given))
        written[-1]["value"]["subscribedTopicNames"] = listed[given.subscription]
        write(TARGET_MEMBER, member, Target(assignment[member], 0))
        write(CURRENT_ASSIGNMENT, member, CurrentAssignment(1, assignment[member]))
    write(TARGET_METADATA, None, AssignmentEpoch(1))
    coordinator.load(written, topics_on_wire(size.topics, PARTITIONS_PER_TOPIC), {})
    return coordinator


def request(coordinator: Coordinator, body: Json) -> Json:
    """A heartbeat that must be accepted."""
    response = coordinator.request(API, 0, CLIENT, body)
    if response["errorCode"]:
        raise ConformError(f"The coordinator refused a request: {response['errorMessage']}", ENGINE_FAILED)
    return response


def join(coordinator: Coordinator, group: str, member: str, topics: list[str], assignor: str | None) -> Json:
    """Join."""
    return request(
        coordinator,
        {
            "groupId": group,
            "memberId": member,
            "memberEpoch": 0,
            "rebalanceTimeoutMs": 300_000,
            "subscribedTopicNames": topics,
            "serverAssignor": assignor,
            "topicPartitions": [],
        },
    )


def leave(coordinator: Coordinator, group: str, member: str) -> Json:
    """Leave."""
    return request(coordinator, {"groupId": group, "memberId": member, "memberEpoch": -1})
