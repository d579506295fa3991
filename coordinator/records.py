"""The records that persist a group (P1), and replaying them: the only way a group's durable state changes.

On the wire a record is {"offset": n, "key": {"type": T, "groupId": g[, "memberId": m]}, "value": {...}}; the
value of a tombstone is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from coordinator import fields, wire
from coordinator.errors import BadInput
from coordinator.fields import Json
from coordinator.model import (
    NOTHING,
    UNKNOWN_METADATA,
    Group,
    Member,
    MemberMetadata,
    Partitions,
    Target,
    TopicImage,
    Topics,
)

GROUP_METADATA: Final = "ConsumerGroupMetadata"
PARTITION_METADATA: Final = "ConsumerGroupPartitionMetadata"
MEMBER_METADATA: Final = "ConsumerGroupMemberMetadata"
TARGET_METADATA: Final = "ConsumerGroupTargetAssignmentMetadata"
TARGET_MEMBER: Final = "ConsumerGroupTargetAssignmentMember"
CURRENT_ASSIGNMENT: Final = "ConsumerGroupCurrentMemberAssignment"

MEMBER_TYPES: Final = frozenset({MEMBER_METADATA, TARGET_MEMBER, CURRENT_ASSIGNMENT})
"""The record types whose key names a member."""


class GroupEpoch(NamedTuple):
    """Value of ConsumerGroupMetadata (key 3)."""

    epoch: int


class PartitionMetadata(NamedTuple):
    """Value of ConsumerGroupPartitionMetadata (key 4)."""

    epoch: int
    topics: Topics


class MemberUpdate(NamedTuple):
    """Value of ConsumerGroupMemberMetadata (key 5); the group epoch is the one when written."""

    group_epoch: int
    metadata: MemberMetadata


class AssignmentEpoch(NamedTuple):
    """Value of ConsumerGroupTargetAssignmentMetadata (key 6)."""

    assignment_epoch: int


class CurrentAssignment(NamedTuple):
    """Value of ConsumerGroupCurrentMemberAssignment (key 8): what the member holds, at its epoch."""

    member_epoch: int
    held: Partitions


Value = GroupEpoch | PartitionMetadata | MemberUpdate | AssignmentEpoch | Target | CurrentAssignment


class Record(NamedTuple):
    """One record; `member_id` is None where the key names no member."""

    type: str
    group_id: str
    member_id: str | None
    value: Value | None


def replay(groups: dict[str, Group], record: Record) -> None:
    """Apply one record. Any order and any subset that compaction leaves is accepted."""
    group = groups.get(record.group_id)
    if record.value is None:
        if group is not None:
            _replay_tombstone(groups, group, record)
        return
    if group is None:
        group = groups[record.group_id] = Group(record.group_id)
    value = record.value
    if isinstance(value, CurrentAssignment):
        member = _member(group, record)
        member.epoch = value.member_epoch
        member.held = value.held
        member.assigned = value.held - member.revoking
    elif isinstance(value, Target):
        group.targets[record.member_id or ""] = value
    elif isinstance(value, AssignmentEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, GroupEpoch):
        group.epoch = value.epoch
    elif isinstance(value, MemberUpdate):
        _member(group, record).metadata = value.metadata
    else:
        group.metadata = value.topics


def _member(group: Group, record: Record) -> Member:
    member_id = record.member_id or ""
    member = group.members.get(member_id)
    if member is None:
        member = group.members[member_id] = Member(UNKNOWN_METADATA)
    return member


def _replay_tombstone(groups: dict[str, Group], group: Group, record: Record) -> None:
    member_id = record.member_id or ""
    if record.type == GROUP_METADATA:
        del groups[group.id]
    elif record.type == PARTITION_METADATA:
        group.metadata = {}
    elif record.type == TARGET_METADATA:
        group.assignment_epoch = 0
    elif record.type == TARGET_MEMBER:
        group.targets.pop(member_id, None)
    elif record.type == MEMBER_METADATA:
        group.members.pop(member_id, None)
    elif member_id in group.members:
        member = group.members[member_id]
        member.epoch, member.held, member.assigned = 0, NOTHING, NOTHING


def topics_to_wire(topics: Topics) -> list[Json]:
    """[{"topicId", "topicName", "numPartitions"}] by name."""
    return [
        {"topicId": image.id, "topicName": name, "numPartitions": image.partitions}
        for name, image in sorted(topics.items())
    ]


def to_wire(record: Record, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    key = {"type": record.type, "groupId": record.group_id}
    if record.member_id is not None:
        key["memberId"] = record.member_id
    value = None if record.value is None else _value_to_wire(record.value)
    return {"offset": offset, "key": key, "value": value}


def _value_to_wire(value: Value) -> Json:
    if isinstance(value, CurrentAssignment):
        return {
            "memberEpoch": value.member_epoch,
            "error": 0,
            "topicPartitions": wire.to_wire(value.held),
            "metadataVersion": 0,
            "metadataBytes": "",
        }
    if isinstance(value, Target):
        return {
            "error": value.error,
            "topicPartitions": wire.to_wire(value.partitions),
            "metadataVersion": 0,
            "metadataBytes": "",
        }
    if isinstance(value, AssignmentEpoch):
        return {"assignmentEpoch": value.assignment_epoch}
    if isinstance(value, GroupEpoch):
        return {"epoch": value.epoch}
    if isinstance(value, PartitionMetadata):
        return {"epoch": value.epoch, "topics": topics_to_wire(value.topics)}
    return {
        "groupEpoch": value.group_epoch,
        "instanceId": None,
        "rackId": value.metadata.rack_id,
        "clientId": value.metadata.client_id,
        "clientHost": value.metadata.client_host,
        "subscribedTopicNames": sorted(value.metadata.subscription),
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": value.metadata.rebalance_timeout_ms,
        "serverAssignor": value.metadata.server_assignor,
        "assignors": [],
    }


def from_wire(value: object) -> Record:
    """The record that the JSON stands for; its offset is ignored. BadInput where it is none."""
    source = fields.as_object(value, "a record")
    fields.known(source, ("offset", "key", "value"), "a record")
    key = fields.mapping(source, "key", "a record")
    kind = fields.text(key, "type", "a record's key")
    if kind not in _VALUE_FROM_WIRE:
        raise BadInput(f"there is no record type {kind!r}; there are {', '.join(sorted(_VALUE_FROM_WIRE))}")
    where = f"a {kind} record"
    names = ("type", "groupId", "memberId") if kind in MEMBER_TYPES else ("type", "groupId")
    fields.known(key, names, f"the key of {where}")
    member_id = fields.text(key, "memberId", f"the key of {where}") if kind in MEMBER_TYPES else None
    group_id = fields.text(key, "groupId", f"the key of {where}")
    if "value" not in source:
        raise BadInput(f"{where} needs the field 'value', null for a tombstone")
    if source["value"] is None:
        return Record(kind, group_id, member_id, None)
    read = _VALUE_FROM_WIRE[kind]
    return Record(kind, group_id, member_id, read(fields.mapping(source, "value", where), where))


def _partition_metadata(value: Mapping[str, object], where: str) -> PartitionMetadata:
    topics = {}
    for entry in fields.items(value, "topics", where):
        topic = fields.as_object(entry, f"a topic of {where}")
        image = TopicImage(
            fields.topic_id(topic.get("topicId"), where),
            fields.integer(topic, "numPartitions", where, least=1),
        )
        topics[fields.text(topic, "topicName", where)] = image
    return PartitionMetadata(fields.integer(value, "epoch", where), topics)


def _member_update(value: Mapping[str, object], where: str) -> MemberUpdate:
    for name in ("instanceId", "subscribedTopicRegex"):
        if value.get(name):
            raise BadInput(f"{where} has a {name}, which this coordinator does not implement")
    metadata = MemberMetadata(
        fields.optional_text(value, "rackId", where),
        fields.text(value, "clientId", where),
        fields.text(value, "clientHost", where),
        frozenset(fields.names(value, "subscribedTopicNames", where)),
        fields.integer(value, "rebalanceTimeoutMs", where),
        fields.optional_text(value, "serverAssignor", where),
    )
    return MemberUpdate(fields.integer(value, "groupEpoch", where), metadata)


_VALUE_FROM_WIRE: Final[dict[str, Callable[[Mapping[str, object], str], Value]]] = {
    GROUP_METADATA: lambda value, where: GroupEpoch(fields.integer(value, "epoch", where)),
    PARTITION_METADATA: _partition_metadata,
    MEMBER_METADATA: _member_update,
    TARGET_METADATA: lambda value, where: AssignmentEpoch(fields.integer(value, "assignmentEpoch", where)),
    TARGET_MEMBER: lambda value, where: Target(
        wire.from_wire(value.get("topicPartitions"), where), fields.integer(value, "error", where)
    ),
    CURRENT_ASSIGNMENT: lambda value, where: CurrentAssignment(
        fields.integer(value, "memberEpoch", where), wire.from_wire(value.get("topicPartitions"), where)
    ),
}
