"""The bodies of ConsumerGroupHeartbeat that a member sends (H1, H2, H7)."""

from __future__ import annotations

from typing import Final

from coordinator.members.consumer.types import Json, Partitions, Settings, Subscription, to_wire

API: Final = "ConsumerGroupHeartbeat"
VERSION: Final = 0
JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_TEMPORARILY_EPOCH: Final = -2


def keep_alive(settings: Settings, member_id: str, epoch: int) -> Json:
    """H7: a heartbeat without news."""
    return {
        "groupId": settings.group_id,
        "memberId": member_id,
        "memberEpoch": epoch,
        "instanceId": None,
        "rackId": None,
        "rebalanceTimeoutMs": -1,
        "subscribedTopicNames": None,
        "subscribedTopicRegex": None,
        "serverAssignor": None,
        "topicPartitions": None,
    }


def full(
    settings: Settings,
    member_id: str,
    epoch: int,
    subscription: Subscription,
    regex: str | None,
    owned: Partitions | None,
) -> Json:
    """H7: all fields. `regex` is "" where the coordinator may still have an expression that is void; `owned`
    is None before the member has carried out the last assignment."""
    return {
        **keep_alive(settings, member_id, epoch),
        "instanceId": settings.instance_id,
        "rackId": settings.rack_id,
        "rebalanceTimeoutMs": settings.max_poll_interval_ms,
        "subscribedTopicNames": sorted(subscription.topics),
        "subscribedTopicRegex": regex,
        "serverAssignor": settings.server_assignor,
        "topicPartitions": None if owned is None else to_wire(owned),
    }


def leave(settings: Settings, member_id: str, temporarily: bool) -> Json:
    """H2: leave for good or, for a static member that may return (S1), for a while."""
    if settings.instance_id is None or not temporarily:
        return keep_alive(settings, member_id, LEAVE_EPOCH)
    return {**keep_alive(settings, member_id, LEAVE_TEMPORARILY_EPOCH), "instanceId": settings.instance_id}
