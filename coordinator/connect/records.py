"""The records of a Connect group (P1): KIP-848's layout under names of their own, and one record for lost
work (W2), which the draft does not have.

Each value is that of a consumer group's record, except for the form of connectors and tasks (wire.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from coordinator.connect import wire
from coordinator.connect.request import EVERY_CONNECTOR, assignor_given
from coordinator.consumer.model import NOTHING, MemberMetadata, Partitions, Target, TopicImage
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
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

LOST: Final = "ConnectGroupLostAssignment"
NAMES: Final = {
    GROUP_METADATA: "ConnectGroupMetadata",
    PARTITION_METADATA: "ConnectGroupConnectorsTasksMetadata",
    MEMBER_METADATA: "ConnectGroupMemberMetadata",
    TARGET_METADATA: "ConnectGroupTargetAssignmentMetadata",
    TARGET_MEMBER: "ConnectGroupTargetAssignmentMember",
    CURRENT_ASSIGNMENT: "ConnectGroupCurrentMemberAssignment",
}
"""The record types of a consumer group -> their names in a Connect group."""
KINDS: Final = {**{ours: shared for shared, ours in NAMES.items()}, LOST: LOST}
"""Record types of Connect groups -> those of consumer groups; with the type for lost work."""


class Lost(NamedTuple):
    """Value of ConnectGroupLostAssignment: the work that a worker had when it left, and that no worker has
    now."""

    resources: Partitions


class ConnectRecord(NamedTuple):
    """A record of a Connect group; `type` is that of a consumer group's, or LOST."""

    type: str
    group_id: str
    member_id: str | None
    value: Value | Lost | None


def connect_to_wire(record: ConnectRecord, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    key = {"type": NAMES.get(record.type, record.type), "groupId": record.group_id}
    if record.member_id is not None:
        key["memberId"] = record.member_id
    value = None if record.value is None else _value_to_wire(record.value)
    return {"offset": offset, "key": key, "value": value}


def _value_to_wire(value: Value | Lost) -> Json:
    if isinstance(value, Lost):
        return {"connectorsAndTasks": wire.to_wire(value.resources)}
    if isinstance(value, CurrentAssignment):
        return {"memberEpoch": value.member_epoch, **_target_to_wire(value.assignor_data, value.held)}
    if isinstance(value, Target):
        return _target_to_wire(value, value.partitions)
    if isinstance(value, AssignmentEpoch):
        return {"assignmentEpoch": value.assignment_epoch}
    if isinstance(value, GroupEpoch):
        return {"epoch": value.epoch}
    if isinstance(value, PartitionMetadata):
        counts = {name: image.partitions - 1 for name, image in value.topics.items()}
        return {"epoch": value.epoch, "connectors": connectors_to_wire(counts)}
    metadata = value.metadata
    return {
        "groupEpoch": value.group_epoch,
        "instanceId": metadata.instance_id,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        "rebalanceTimeoutMs": metadata.rebalance_timeout_ms,
        "assignors": assignors_to_wire(metadata),
    }


def _target_to_wire(target: Target, resources: Partitions) -> Json:
    """Work with the error and the metadata of its assignor."""
    return {
        "error": target.error,
        "connectorsAndTasks": wire.to_wire(resources),
        "version": target.metadata_version,
        "metadata": target.metadata_bytes,
    }


def assignors_to_wire(metadata: MemberMetadata) -> list[Json]:
    """A worker's assignors, by the draft's names."""
    return [
        {
            "name": one.name,
            "minimumVersion": one.minimum_version,
            "maximumVersion": one.maximum_version,
            "reason": one.reason,
            "version": one.metadata_version,
            "metadata": one.metadata_bytes,
        }
        for one in metadata.client_assignors
    ]


def connectors_to_wire(tasks: Mapping[str, int]) -> list[Json]:
    """[{"connectorId", "numTasks"}] by id."""
    return [{"connectorId": name, "numTasks": count} for name, count in sorted(tasks.items())]


def connectors_from_wire(value: Mapping[str, object], where: str) -> dict[str, int]:
    """The number of tasks of each connector, by id. BadInput where the list is malformed."""
    tasks: dict[str, int] = {}
    for entry in fields.items(value, "connectors", where):
        connector = fields.as_object(entry, f"a connector of {where}")
        fields.known(connector, ("connectorId", "numTasks"), f"a connector of {where}")
        name = fields.text(connector, "connectorId", where)
        if name in tasks:
            raise BadInput(f"{where} names the connector {name!r} twice; name it once")
        tasks[name] = fields.integer(connector, "numTasks", where, bits=32)
    return tasks


_RESULT: Final = ("error", "connectorsAndTasks", "version", "metadata")
_FIELDS: Final[Mapping[str, Collection[str]]] = {
    GROUP_METADATA: ("epoch",),
    PARTITION_METADATA: ("epoch", "connectors"),
    MEMBER_METADATA: (
        *("groupEpoch", "instanceId", "clientId", "clientHost", "rebalanceTimeoutMs", "assignors"),
    ),
    TARGET_METADATA: ("assignmentEpoch",),
    TARGET_MEMBER: _RESULT,
    CURRENT_ASSIGNMENT: ("memberEpoch", *_RESULT),
    LOST: ("connectorsAndTasks",),
}
"""Type of a record -> the fields of its value."""


def connect_from_wire(source: Mapping[str, object]) -> ConnectRecord:
    """The record in the JSON. BadInput where the JSON is no such record."""
    key = fields.mapping(source, "key", "a record")
    kind = fields.text(key, "type", "a record's key")
    where = f"a {kind} record"
    shared = KINDS[kind]
    of_member = shared in (LOST, MEMBER_METADATA, TARGET_MEMBER, CURRENT_ASSIGNMENT)
    fields.known(
        key, ("type", "groupId", "memberId") if of_member else ("type", "groupId"), f"the key of {where}"
    )
    member_id = fields.text(key, "memberId", f"the key of {where}") if of_member else None
    group_id = fields.text(key, "groupId", f"the key of {where}")
    if "value" not in source:
        raise BadInput(f"{where} needs the field 'value', null for a tombstone")
    value = None if source["value"] is None else fields.mapping(source, "value", where)
    return ConnectRecord(shared, group_id, member_id, None if value is None else _value(shared, value, where))


def _value(kind: str, value: Mapping[str, object], where: str) -> Value | Lost:
    fields.known(value, _FIELDS[kind], where)
    if kind == GROUP_METADATA:
        return GroupEpoch(fields.integer(value, "epoch", where, bits=32))
    if kind == TARGET_METADATA:
        return AssignmentEpoch(fields.integer(value, "assignmentEpoch", where, bits=32))
    if kind == PARTITION_METADATA:
        counts = connectors_from_wire(value, where)
        topics = {name: TopicImage(name, count + 1) for name, count in counts.items()}
        return PartitionMetadata(fields.integer(value, "epoch", where, bits=32), topics)
    if kind == MEMBER_METADATA:
        return _member_update(value, where)
    resources = wire.from_wire(value.get("connectorsAndTasks"), where)
    if kind == TARGET_MEMBER:
        return _target(value, where, resources)
    if kind == CURRENT_ASSIGNMENT:
        epoch = fields.integer(value, "memberEpoch", where, bits=32)
        return CurrentAssignment(epoch, resources, assignor_data=_target({"error": 0, **value}, where))
    return Lost(resources)


def _target(value: Mapping[str, object], where: str, resources: Partitions = NOTHING) -> Target:
    """Read the target of a member from JSON. Records of earlier releases have no version and no metadata."""
    return Target(
        resources,
        fields.integer(value, "error", where, None, 8),
        fields.integer({"version": 0, **value}, "version", where, None, 16),
        fields.text({"metadata": "", **value}, "metadata", where),
    )


def _member_update(value: Mapping[str, object], where: str) -> MemberUpdate:
    metadata = MemberMetadata(
        fields.optional_text(value, "instanceId", where),
        None,
        fields.text(value, "clientId", where),
        fields.text(value, "clientHost", where),
        frozenset(),
        EVERY_CONNECTOR,
        fields.integer(value, "rebalanceTimeoutMs", where, least=1),
        None,
        tuple(assignor_given(one) for one in fields.items(value, "assignors", where)),
    )
    return MemberUpdate(fields.integer(value, "groupEpoch", where, bits=32), metadata)


def shared_record(record: ConnectRecord) -> Record | None:
    """The record as a record of a consumer group; None for lost work."""
    if record.type == LOST or isinstance(record.value, Lost):
        return None
    return Record(record.type, record.group_id, record.member_id, record.value)
