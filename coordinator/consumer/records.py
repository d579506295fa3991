"""The records that persist a consumer group (P1).

On the wire a record is {"offset": n, "key": {"type": T, "groupId": g[, "memberId": m]}, "value": {...}}; the
value of a tombstone is null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from coordinator.classic.records import classic_from_json, classic_to_json
from coordinator.consumer import partition_epochs
from coordinator.consumer.model import (
    AWAY,
    NO_TARGET,
    NOTHING,
    ClientAssignor,
    Given,
    MemberMetadata,
    Partitions,
    Target,
    Topics,
)
from coordinator.consumer.partition_epochs import NOTHING_GIVEN
from coordinator.consumer.subscription import regex_problem, shared
from coordinator.core import fields, wire
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.core.topics import topics_in

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
    """Value of ConsumerGroupMemberMetadata (key 5), with the group epoch of the time of writing."""

    group_epoch: int
    metadata: MemberMetadata


class AssignmentEpoch(NamedTuple):
    """Value of ConsumerGroupTargetAssignmentMetadata (key 6)."""

    assignment_epoch: int


class CurrentAssignment(NamedTuple):
    """Value of ConsumerGroupCurrentMemberAssignment (key 8): the partitions that the member holds, and its
    epoch.

    The previous epoch and the partitions to revoke are None where the dialect does not record them.
    """

    member_epoch: int
    held: Partitions
    previous_epoch: int | None = None
    revoking: Partitions | None = None
    assignor_data: Target = NO_TARGET
    """The assignor's error and metadata, for the member (H9)."""
    given: Given = NOTHING_GIVEN
    """The epochs at which the member was given its partitions (PartitionEpochs)."""


Value = GroupEpoch | PartitionMetadata | MemberUpdate | AssignmentEpoch | Target | CurrentAssignment


class Record(NamedTuple):
    """One record; `member_id` is None where the key names no member."""

    type: str
    group_id: str
    member_id: str | None
    value: Value | None


def topics_to_wire(topics: Topics) -> list[Json]:
    """[{"topicId", "topicName", "numPartitions"}] by name."""
    return [
        {"topicId": image.id, "topicName": name, "numPartitions": image.partitions}
        for name, image in sorted(topics.items())
    ]


def consumer_to_wire(record: Record, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
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
            "error": value.assignor_data.error,
            "topicPartitions": wire.to_wire(value.held),
            "metadataVersion": value.assignor_data.metadata_version,
            "metadataBytes": value.assignor_data.metadata_bytes,
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
    """A client-side assignor with the fields of a request (H10): a record has the same fields under its own
    names."""
    return {
        "name": assignor.name,
        "minimumVersion": assignor.minimum_version,
        "maximumVersion": assignor.maximum_version,
        "reason": assignor.reason,
        "version": assignor.metadata_version,
        "metadata": assignor.metadata_bytes,
    }


def consumer_from_wire(source: Mapping[str, object]) -> Record:
    """The record in the JSON. BadInput where the JSON is no such record."""
    key = fields.mapping(source, "key", "a record")
    kind = fields.text(key, "type", "a record's key")
    where = f"a {kind} record"
    names = ("type", "groupId", "memberId") if kind in MEMBER_TYPES else ("type", "groupId")
    fields.known(key, names, f"the key of {where}")
    member_id = fields.text(key, "memberId", f"the key of {where}") if kind in MEMBER_TYPES else None
    group_id = fields.text(key, "groupId", f"the key of {where}")
    if "value" not in source:
        raise BadInput(f"{where} needs the field 'value', null for a tombstone")
    if source["value"] is None:
        return Record(kind, group_id, member_id, None)
    value = fields.mapping(source, "value", where)
    fields.known(value, _fields_of(kind, value), where)
    return Record(kind, group_id, member_id, _VALUE_FROM_WIRE[kind](value, where))


_RESULT: Final = ("error", "topicPartitions", "metadataVersion", "metadataBytes")
_FIELDS: Final[Mapping[str, Collection[str]]] = {
    GROUP_METADATA: ("epoch",),
    PARTITION_METADATA: ("epoch", "topics"),
    MEMBER_METADATA: (
        *("groupEpoch", "instanceId", "rackId", "clientId", "clientHost", "subscribedTopicNames"),
        *("subscribedTopicRegex", "rebalanceTimeoutMs", "serverAssignor", "assignors"),
        "classicMemberMetadata",
    ),
    TARGET_METADATA: ("assignmentEpoch",),
    TARGET_MEMBER: _RESULT,
    CURRENT_ASSIGNMENT: ("memberEpoch", *_RESULT),
}
"""Type of a record -> the fields of its value."""
_RECORDED: Final = (
    *("memberEpoch", "previousMemberEpoch", "assignedPartitions", "partitionsPendingRevocation"),
    "assignmentEpochs",
)
"""The fields of ConsumerGroupCurrentMemberAssignment where the dialect records revocations."""


def _fields_of(kind: str, value: Mapping[str, object]) -> Collection[str]:
    return _RECORDED if kind == CURRENT_ASSIGNMENT and "assignedPartitions" in value else _FIELDS[kind]


def _partition_metadata(value: Mapping[str, object], where: str) -> PartitionMetadata:
    topics = topics_in(value, "topics", where)
    return PartitionMetadata(fields.integer(value, "epoch", where, bits=32), topics)


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
    return MemberUpdate(fields.integer(value, "groupEpoch", where, bits=32), metadata)


def _current_assignment(value: Mapping[str, object], where: str) -> CurrentAssignment:
    epoch = fields.integer(value, "memberEpoch", where, least=AWAY, bits=32)
    if epoch != AWAY and epoch <= 0:
        raise BadInput(f"'memberEpoch' of {where} must be at least 1, or {AWAY} for away, not {epoch}")
    if "assignedPartitions" in value:
        assigned = wire.from_wire(value["assignedPartitions"], where)
        revoking = wire.from_wire(value.get("partitionsPendingRevocation"), where)
        previous_epoch = fields.integer(value, "previousMemberEpoch", where, least=AWAY, bits=32)
        given = partition_epochs.from_wire(value, where)
        return CurrentAssignment(epoch, assigned | revoking, previous_epoch, revoking, given=given)
    return CurrentAssignment(
        epoch,
        wire.from_wire(value.get("topicPartitions"), where),
        assignor_data=_target({"error": 0, **value}, where),
    )


def _assignor(entry: object, where: str) -> ClientAssignor:
    source = fields.as_object(entry, f"an assignor of {where}")
    names = ("name", "minimumVersion", "maximumVersion", "reason", "version", "metadata")
    fields.known(source, names, f"an assignor of {where}")
    return ClientAssignor(
        fields.text(source, "name", where),
        fields.integer(source, "minimumVersion", where, None, 16),
        fields.integer(source, "maximumVersion", where, None, 16),
        fields.integer(source, "reason", where, None, 8),
        fields.integer(source, "version", where, None, 16),
        fields.text(source, "metadata", where),
    )


def _target(value: Mapping[str, object], where: str, partitions: Partitions = NOTHING) -> Target:
    """Read a member's part of a target, or the assignor's data of an assignment; the metadata may be left
    out."""
    return Target(
        partitions,
        fields.integer(value, "error", where, None, 8),
        fields.integer({"metadataVersion": 0, **value}, "metadataVersion", where, None, 16),
        fields.text({"metadataBytes": "", **value}, "metadataBytes", where),
    )


_VALUE_FROM_WIRE: Final[dict[str, Callable[[Mapping[str, object], str], Value]]] = {
    GROUP_METADATA: lambda value, where: GroupEpoch(fields.integer(value, "epoch", where, bits=32)),
    PARTITION_METADATA: _partition_metadata,
    MEMBER_METADATA: _member_update,
    TARGET_METADATA: lambda value, where: AssignmentEpoch(
        fields.integer(value, "assignmentEpoch", where, bits=32)
    ),
    TARGET_MEMBER: lambda value, where: _target(
        value, where, wire.from_wire(value.get("topicPartitions"), where)
    ),
    CURRENT_ASSIGNMENT: _current_assignment,
}
TYPES: Final = frozenset(_VALUE_FROM_WIRE)
