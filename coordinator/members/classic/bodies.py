"""The bodies of JoinGroup, SyncGroup, Heartbeat, LeaveGroup and OffsetCommit that a member sends."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Final

from coordinator.assignors.spec import TopicPartition
from coordinator.classic.assignors import ClassicAssignor
from coordinator.classic.embedded import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from coordinator.members.classic.types import Partitions, Settings
from coordinator.members.consumer.types import Json

VERSIONS: Final = {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 9}
TYPE: Final = "consumer"


def join(
    settings: Settings,
    member_id: str,
    assignors: Sequence[ClassicAssignor],
    topics: frozenset[str],
    owned: Partitions,
    generation: int,
    last: tuple[Partitions, int],
    reason: str | None = None,
) -> Json:
    """C3: the member's owned partitions with their generation, and for each assignor its user data: from the
    last assignment and its generation. `reason` is the application's reason for a rebalance (K4)."""

    def metadata(assignor: ClassicAssignor) -> str:
        subscription = Subscription(topics, assignor.user_data(*last), owned, generation, settings.rack_id)
        return base64.b64encode(write_subscription(subscription, settings.subscription_version)).decode()

    return {
        "groupId": settings.group_id,
        "sessionTimeoutMs": settings.session_timeout_ms,
        "rebalanceTimeoutMs": settings.rebalance_timeout_ms,
        "memberId": member_id,
        "groupInstanceId": settings.instance_id,
        "protocolType": TYPE,
        "protocols": [{"name": assignor.name, "metadata": metadata(assignor)} for assignor in assignors],
        "reason": reason,
    }


def heartbeat(settings: Settings, member_id: str, generation: int) -> Json:
    """Heartbeat; a SyncGroup has the same fields and more."""
    return {
        "groupId": settings.group_id,
        "generationId": generation,
        "memberId": member_id,
        "groupInstanceId": settings.instance_id,
    }


def sync(
    settings: Settings, member_id: str, generation: int, protocol: str, handed: Mapping[str, Assignment]
) -> Json:
    """C1: a leader sends the assignment of each member; a follower sends none."""
    version = settings.subscription_version
    return {
        **heartbeat(settings, member_id, generation),
        "protocolType": TYPE,
        "protocolName": protocol,
        "assignments": [
            {
                "memberId": name,
                "assignment": base64.b64encode(write_assignment(given, version)).decode(),
            }
            for name, given in sorted(handed.items())
        ],
    }


def leave(settings: Settings, member_id: str) -> Json:
    """C1."""
    leaving = {"memberId": member_id, "groupInstanceId": settings.instance_id, "reason": None}
    return {"groupId": settings.group_id, "members": [leaving]}


def commit(
    settings: Settings, member_id: str, generation: int, offsets: Mapping[TopicPartition, int]
) -> Json:
    """O2: fenced by the generation."""
    topics: dict[str, list[Json]] = {}
    for (topic, index), offset in sorted(offsets.items()):
        topics.setdefault(topic, []).append({"partitionIndex": index, "committedOffset": offset})
    return {
        "groupId": settings.group_id,
        "generationIdOrMemberEpoch": generation,
        "memberId": member_id,
        "groupInstanceId": settings.instance_id,
        "topics": [{"name": name, "partitions": partitions} for name, partitions in topics.items()],
    }
