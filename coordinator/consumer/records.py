"""The records that persist a group (P1), and replaying them: the only way a group's durable state changes.

On the wire a record is {"offset": n, "key": {"type": T, "groupId": g[, "memberId": m]}, "value": {...}}; the
value of a tombstone is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from coordinator.classic.records import GROUP_METADATA as CLASSIC_METADATA
from coordinator.classic.records import (
    ClassicRecord,
    classic_from_json,
    classic_from_wire,
    classic_to_json,
    classic_to_wire,
)
from coordinator.consumer import partition_epochs
from coordinator.consumer.model import (
    AWAY,
    NO_TARGET,
    NOTHING,
    UNKNOWN_METADATA,
    ClientAssignor,
    Given,
    Group,
    Member,
    MemberMetadata,
    Partitions,
    Target,
    TopicImage,
    Topics,
    exists,
)
from coordinator.consumer.partition_epochs import NOTHING_GIVEN
from coordinator.consumer.subscription import regex_problem, shared
from coordinator.core import fields, wire
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.offsets.records import OFFSET_COMMIT, OffsetRecord, offset_from_wire, offset_to_wire

if TYPE_CHECKING:
    from coordinator.connect.records import ConnectRecord

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
    """Value of ConsumerGroupCurrentMemberAssignment (key 8): what the member holds, at its epoch.

    The previous epoch and what it revokes are None where the dialect does not record them.
    """

    member_epoch: int
    held: Partitions
    previous_epoch: int | None = None
    revoking: Partitions | None = None
    told: Target = NO_TARGET
    """The assignor's error and metadata, for the member (H9)."""
    given: Given = NOTHING_GIVEN
    """When it was given what it holds (PartitionEpochs)."""


Value = GroupEpoch | PartitionMetadata | MemberUpdate | AssignmentEpoch | Target | CurrentAssignment


class Record(NamedTuple):
    """One record; `member_id` is None where the key names no member."""

    type: str
    group_id: str
    member_id: str | None
    value: Value | None


AnyRecord: TypeAlias = "Record | OffsetRecord | ClassicRecord | ConnectRecord"


def replay(groups: dict[str, Group], record: Record, initial_epoch: int) -> None:
    """Apply one record. What results is a function of the last record of each key alone.

    A group starts at `initial_epoch`, and so does its target. Any compaction leaves the same state (P3), and
    the records of one group may come in any order.
    """
    group = groups.get(record.group_id)
    value = record.value
    if value is None:
        if group is not None:
            _replay_tombstone(group, record)
            if not exists(group):
                del groups[group.id]
        return
    if group is None:
        group = groups[record.group_id] = Group(record.group_id, initial_epoch, initial_epoch)
    if isinstance(value, CurrentAssignment):
        _hold(group, record, value.member_epoch, value.held)
        if value.previous_epoch is not None and value.revoking is not None:
            _recorded(group.members[record.member_id or ""], value.previous_epoch, value.revoking)
        group.members[record.member_id or ""].given = value.given
    elif isinstance(value, Target):
        group.targets[record.member_id or ""] = value
    elif isinstance(value, AssignmentEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, GroupEpoch):
        group.epoch = value.epoch
    elif isinstance(value, MemberUpdate):
        _set_metadata(group, record, value.metadata)
    else:
        group.metadata = value.topics


def _replay_tombstone(group: Group, record: Record) -> None:
    member_id = record.member_id or ""
    if record.type == GROUP_METADATA:
        group.epoch = 0
    elif record.type == PARTITION_METADATA:
        group.metadata = {}
    elif record.type == TARGET_METADATA:
        group.assignment_epoch = 0
    elif record.type == TARGET_MEMBER:
        group.targets.pop(member_id, None)
    elif member_id in group.members:
        if record.type == MEMBER_METADATA:
            _set_metadata(group, record, UNKNOWN_METADATA)
        else:
            _hold(group, record, 0, NOTHING)
        member = group.members[member_id]
        if member.metadata is UNKNOWN_METADATA and not member.epoch:
            del group.members[member_id]


def _member(group: Group, member_id: str) -> Member:
    member = group.members.get(member_id)
    if member is None:
        member = group.members[member_id] = Member(UNKNOWN_METADATA)
    return member


def _hold(group: Group, record: Record, epoch: int, held: Partitions) -> None:
    """Set what a member holds. Compaction may show a former owner's release after its successor's gain."""
    member_id = record.member_id or ""
    member = _member(group, member_id)
    for partition in member.held - held:
        if group.owners.get(partition) == member_id:
            del group.owners[partition]
    group.owners.update(dict.fromkeys(held, member_id))
    member.epoch = epoch
    member.held = held
    member.assigned = held - member.revoking


def _recorded(member: Member, previous_epoch: int, revoking: Partitions) -> None:
    """RevocationRecorded: what is volatile in KIP-848's text."""
    member.previous_epoch = previous_epoch
    member.revoking = revoking
    member.assigned = member.held - revoking


def _set_metadata(group: Group, record: Record, metadata: MemberMetadata) -> None:
    """Set what a member says about itself, and the indexes of it; order as in `_hold`."""
    member_id = record.member_id or ""
    member = _member(group, member_id)
    old, subscriptions = member.metadata, group.subscriptions
    member.metadata = metadata
    if old.instance_id is not None and group.instances.get(old.instance_id) == member_id:
        del group.instances[old.instance_id]
    if metadata.instance_id is not None:
        group.instances[metadata.instance_id] = member_id
    if metadata.classic is None:
        group.classic.discard(member_id)
    else:
        group.classic.add(member_id)
    if old is not UNKNOWN_METADATA:
        before = (old.subscription, old.regex)
        subscriptions[before] -= 1
        if not subscriptions[before]:
            del subscriptions[before]
    if metadata is not UNKNOWN_METADATA:
        now = (metadata.subscription, metadata.regex)
        subscriptions[now] = subscriptions.get(now, 0) + 1


@cache
def _kinds() -> ModuleType:
    """The records of other kinds of groups, which may have the values of this module and so import it."""
    return import_module("coordinator.record_kinds")


def topics_to_wire(topics: Topics) -> list[Json]:
    """[{"topicId", "topicName", "numPartitions"}] by name."""
    return [
        {"topicId": image.id, "topicName": name, "numPartitions": image.partitions}
        for name, image in sorted(topics.items())
    ]


def to_wire(record: AnyRecord, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    if isinstance(record, OffsetRecord):
        return offset_to_wire(record, offset)
    if isinstance(record, ClassicRecord):
        return classic_to_wire(record, offset)
    if not isinstance(record, Record):
        written: Json = _kinds().BY_CLASS[type(record)].write(record, offset)
        return written
    key = {"type": record.type, "groupId": record.group_id}
    if record.member_id is not None:
        key["memberId"] = record.member_id
    value = None if record.value is None else _value_to_wire(record.value)
    return {"offset": offset, "key": key, "value": value}


def _value_to_wire(value: Value) -> Json:
    if isinstance(value, CurrentAssignment):
        if value.revoking is not None:
            return {
                "memberEpoch": value.member_epoch,
                "previousMemberEpoch": value.previous_epoch,
                "assignedPartitions": wire.to_wire(value.held - value.revoking),
                "partitionsPendingRevocation": wire.to_wire(value.revoking),
                **partition_epochs.to_wire(value.given),
            }
        return {
            "memberEpoch": value.member_epoch,
            "error": value.told.error,
            "topicPartitions": wire.to_wire(value.held),
            "metadataVersion": value.told.metadata_version,
            "metadataBytes": value.told.metadata_bytes,
        }
    if isinstance(value, Target):
        return {
            "error": value.error,
            "topicPartitions": wire.to_wire(value.partitions),
            "metadataVersion": value.metadata_version,
            "metadataBytes": value.metadata_bytes,
        }
    if isinstance(value, AssignmentEpoch):
        return {"assignmentEpoch": value.assignment_epoch}
    if isinstance(value, GroupEpoch):
        return {"epoch": value.epoch}
    if isinstance(value, PartitionMetadata):
        return {"epoch": value.epoch, "topics": topics_to_wire(value.topics)}
    return {
        "groupEpoch": value.group_epoch,
        "instanceId": value.metadata.instance_id,
        "rackId": value.metadata.rack_id,
        "clientId": value.metadata.client_id,
        "clientHost": value.metadata.client_host,
        "subscribedTopicNames": sorted(value.metadata.subscription),
        "subscribedTopicRegex": value.metadata.regex,
        "rebalanceTimeoutMs": value.metadata.rebalance_timeout_ms,
        "serverAssignor": value.metadata.server_assignor,
        "assignors": [assignor_to_wire(assignor) for assignor in value.metadata.client_assignors],
        **classic_to_json(value.metadata.classic),
    }


def assignor_to_wire(assignor: ClientAssignor) -> Json:
    """A client-side assignor as in a request (H10): a record has the same fields by the names of its own."""
    return {
        "name": assignor.name,
        "minimumVersion": assignor.minimum_version,
        "maximumVersion": assignor.maximum_version,
        "reason": assignor.reason,
        "version": assignor.metadata_version,
        "metadata": assignor.metadata_bytes,
    }


def from_wire(value: object) -> AnyRecord:
    """The record that the JSON stands for; its offset is ignored. BadInput where it is none. A record that
    was read before is given back: what is loaded again and again need not be read again."""
    if isinstance(value, tuple):
        return cast("AnyRecord", value)
    source = fields.as_object(value, "a record")
    fields.known(source, ("offset", "key", "value"), "a record")
    key = fields.mapping(source, "key", "a record")
    kind = fields.text(key, "type", "a record's key")
    if kind == OFFSET_COMMIT:
        return offset_from_wire(source)
    if kind == CLASSIC_METADATA:
        return classic_from_wire(source)
    if kind in _kinds().BY_TYPE:
        read_there: AnyRecord = _kinds().BY_TYPE[kind].read(source)
        return read_there
    if kind not in _VALUE_FROM_WIRE:
        kinds = ", ".join(sorted([*_VALUE_FROM_WIRE, OFFSET_COMMIT, CLASSIC_METADATA, *_kinds().BY_TYPE]))
        raise BadInput(f"there is no record type {kind!r}; there are {kinds}")
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
    regex = fields.optional_text(value, "subscribedTopicRegex", where) or None
    if regex is not None and (problem := regex_problem(regex)) is not None:
        raise BadInput(f"the subscribedTopicRegex {regex!r} of {where} is not valid: {problem}")
    metadata = MemberMetadata(
        fields.optional_text(value, "instanceId", where) or None,
        fields.optional_text(value, "rackId", where),
        fields.text(value, "clientId", where),
        fields.text(value, "clientHost", where),
        shared(frozenset(fields.names(value, "subscribedTopicNames", where))),
        regex,
        fields.integer(value, "rebalanceTimeoutMs", where),
        fields.optional_text(value, "serverAssignor", where),
        tuple(
            _assignor(entry, where) for entry in fields.items({"assignors": [], **value}, "assignors", where)
        ),
        classic_from_json(value.get("classicMemberMetadata"), where),
    )
    return MemberUpdate(fields.integer(value, "groupEpoch", where), metadata)


def _current_assignment(value: Mapping[str, object], where: str) -> CurrentAssignment:
    epoch = fields.integer(value, "memberEpoch", where, least=AWAY)
    if epoch != AWAY and epoch <= 0:
        raise BadInput(f"'memberEpoch' of {where} must be at least 1, or {AWAY} for away, not {epoch}")
    if "assignedPartitions" in value:
        assigned = wire.from_wire(value["assignedPartitions"], where)
        revoking = wire.from_wire(value.get("partitionsPendingRevocation"), where)
        previous_epoch = fields.integer(value, "previousMemberEpoch", where, least=AWAY)
        given = partition_epochs.from_wire(value, where)
        return CurrentAssignment(epoch, assigned | revoking, previous_epoch, revoking, given=given)
    return CurrentAssignment(
        epoch, wire.from_wire(value.get("topicPartitions"), where), told=_told({"error": 0, **value}, where)
    )


def _assignor(entry: object, where: str) -> ClientAssignor:
    source = fields.as_object(entry, f"an assignor of {where}")
    return ClientAssignor(
        fields.text(source, "name", where),
        fields.integer(source, "minimumVersion", where, None),
        fields.integer(source, "maximumVersion", where, None),
        fields.integer(source, "reason", where, None),
        fields.integer(source, "version", where, None),
        fields.text(source, "metadata", where),
    )


def _told(value: Mapping[str, object], where: str, partitions: Partitions = NOTHING) -> Target:
    """A member's part of a target, or what it is told with it; the metadata may be left out."""
    return Target(
        partitions,
        fields.integer(value, "error", where, None),
        fields.integer({"metadataVersion": 0, **value}, "metadataVersion", where, None),
        fields.text({"metadataBytes": "", **value}, "metadataBytes", where),
    )


_VALUE_FROM_WIRE: Final[dict[str, Callable[[Mapping[str, object], str], Value]]] = {
    GROUP_METADATA: lambda value, where: GroupEpoch(fields.integer(value, "epoch", where)),
    PARTITION_METADATA: _partition_metadata,
    MEMBER_METADATA: _member_update,
    TARGET_METADATA: lambda value, where: AssignmentEpoch(fields.integer(value, "assignmentEpoch", where)),
    TARGET_MEMBER: lambda value, where: _told(
        value, where, wire.from_wire(value.get("topicPartitions"), where)
    ),
    CURRENT_ASSIGNMENT: _current_assignment,
}
