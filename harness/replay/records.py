"""The records that a step must write (P1), from the spec's group before and after it.

KIP-848 "Records": only differences are written; a removed member's tombstones, then the group (members,
partition metadata, group epoch last), then the target assignment (members, assignment epoch last), then the
current assignment of the member that was reconciled.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.replay import wire
from harness.replay.state import Group, Member, SpecStep
from harness.targets.base import Json

KEY_NUMBERS = {
    "ConsumerGroupMetadata": 3,
    "ConsumerGroupPartitionMetadata": 4,
    "ConsumerGroupMemberMetadata": 5,
    "ConsumerGroupTargetAssignmentMetadata": 6,
    "ConsumerGroupTargetAssignmentMember": 7,
    "ConsumerGroupCurrentMemberAssignment": 8,
}
"""Kafka's number of each record type that a consumer group has."""


def written(before: Group, after: Group, step: SpecStep) -> list[Json]:
    """The records, without offsets, in P1's order; members in the order of their ids."""
    if before.exists and not after.exists:
        return _deletion()
    fresh = {name for name in after.members if name not in before.members}
    if step.action == "Rejoin" and step.response.error == "NONE":
        fresh.add(step.member)
    return [
        *_removals(before, after),
        *_group(before, after, fresh),
        *_target(before, after, fresh),
        *_current(before, after, fresh),
    ]


def whole(group: Group) -> list[Json]:
    """The records of a group as one log that was never written step by step: what `load` is given."""
    if not group.exists:
        return []
    everyone = set(group.members)
    nothing = Group(epoch=0, assignment_epoch=-1, targets={}, metadata={}, members={})
    return [
        *_group(nothing, group, everyone),
        *_target(nothing, group, everyone),
        *_current(nothing, group, everyone),
    ]


def _record(kind: str, member: str | None, value: Json | None) -> Json:
    key: Json = {"type": kind, "groupId": wire.GROUP}
    if member is not None:
        key["memberId"] = member
    return {"key": key, "value": value}


def _deletion() -> list[Json]:
    """E5 DEAD: what an empty group still has in the log."""
    return [
        _record("ConsumerGroupTargetAssignmentMetadata", None, None),
        _record("ConsumerGroupPartitionMetadata", None, None),
        _record("ConsumerGroupMetadata", None, None),
    ]


def _removals(before: Group, after: Group) -> Iterator[Json]:
    for name in before.members:
        if name not in after.members:
            yield _record("ConsumerGroupCurrentMemberAssignment", name, None)
            yield _record("ConsumerGroupTargetAssignmentMember", name, None)
            yield _record("ConsumerGroupMemberMetadata", name, None)


def _group(before: Group, after: Group, fresh: set[str]) -> Iterator[Json]:
    for name, member in after.members.items():
        if name in fresh or _described(member) != _described(before.members[name]):
            yield _record("ConsumerGroupMemberMetadata", name, _member_metadata(after, name, member))
    if after.metadata != before.metadata or (after.exists and not before.exists):
        value = {"epoch": after.epoch, "topics": wire.metadata(after.metadata)}
        yield _record("ConsumerGroupPartitionMetadata", None, value)
    if after.epoch != before.epoch:
        yield _record("ConsumerGroupMetadata", None, {"epoch": after.epoch})


def _described(member: Member) -> tuple[frozenset[str], str]:
    """What a member says of itself."""
    return member.subscription, member.assignor


def _member_metadata(group: Group, name: str, member: Member) -> Json:
    return {
        "groupEpoch": group.epoch,
        "instanceId": None,
        "rackId": None,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
        "subscribedTopicNames": sorted(member.subscription),
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "serverAssignor": member.assignor or None,
        "assignors": [],
    }


def _target(before: Group, after: Group, fresh: set[str]) -> Iterator[Json]:
    if after.assignment_epoch == before.assignment_epoch:
        return
    for name in after.members:
        if name in fresh or after.target(name) != before.target(name):
            value = {"error": 0, "topicPartitions": wire.expected_partitions(after.target(name))}
            yield _record("ConsumerGroupTargetAssignmentMember", name, {**value, **_NO_ASSIGNOR_METADATA})
    yield _record("ConsumerGroupTargetAssignmentMetadata", None, {"assignmentEpoch": after.assignment_epoch})


def _current(before: Group, after: Group, fresh: set[str]) -> Iterator[Json]:
    for name, member in after.members.items():
        if name not in fresh:
            old = before.members[name]
            if (member.epoch, member.held) == (old.epoch, old.held):
                continue
        value = {
            "memberEpoch": member.epoch,
            "error": 0,
            "topicPartitions": wire.expected_partitions(member.held),
        }
        yield _record("ConsumerGroupCurrentMemberAssignment", name, {**value, **_NO_ASSIGNOR_METADATA})


# Server side assignors have no metadata of their own.
_NO_ASSIGNOR_METADATA: Json = {"metadataVersion": 0, "metadataBytes": ""}
