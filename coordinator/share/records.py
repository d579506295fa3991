"""The records of share groups (Q8), by the names and fields of KIP-932.

The value of a record is its JSON: partitions and topics in their normal form, so that equal values are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from coordinator.consumer.records import topics_to_wire
from coordinator.core import fields, plain_records, topics, wire
from coordinator.core.fields import Json
from coordinator.core.plain_records import PlainRecord, Tables, epoch, epoch_before
from coordinator.share.model import NO_GROUP, ShareGroup, ShareMember

GROUP: Final = "ShareGroupMetadata"
TOPICS: Final = "ShareGroupPartitionMetadata"
MEMBER: Final = "ShareGroupMemberMetadata"
TARGET: Final = "ShareGroupTargetAssignmentMetadata"
TARGET_MEMBER: Final = "ShareGroupTargetAssignmentMember"
CURRENT: Final = "ShareGroupCurrentMemberAssignment"


class ShareRecord(PlainRecord):
    """A record of a share group."""


def records_of(group_id: str, before: ShareGroup | None, after: ShareGroup | None) -> list[ShareRecord]:
    """The records that change one group into the other: those of removed members come first."""
    if after is None:
        return [ShareRecord(kind, group_id, None, None) for kind in (TARGET, TOPICS, GROUP)]
    before = before or NO_GROUP
    removals = [
        ShareRecord(kind, group_id, name, None)
        for name in sorted(before.members.keys() - after.members.keys())
        for kind in (CURRENT, TARGET_MEMBER, MEMBER)
    ]
    return removals + [
        ShareRecord(kind, group_id, name, value) for kind, name, value in _changes(before, after)
    ]


def _changes(before: ShareGroup, after: ShareGroup) -> Iterator[tuple[str, str | None, Json]]:
    pairs = [(name, before.member(name), member) for name, member in sorted(after.members.items())]
    for name, old, new in pairs:
        if not old.epoch or old.description != new.description:
            yield MEMBER, name, new.description
    if before.metadata != after.metadata:
        yield TOPICS, None, {"topics": topics_to_wire(after.metadata)}
    if before.epoch != after.epoch:
        yield GROUP, None, {"epoch": after.epoch}
    for name, old, new in pairs:
        if old.target != new.target:
            yield TARGET_MEMBER, name, {"topicPartitions": wire.to_wire(new.target)}
    if before.assignment_epoch != after.assignment_epoch:
        yield TARGET, None, {"assignmentEpoch": after.assignment_epoch}
    for name, old, new in pairs:
        if old.epoch != new.epoch:
            yield CURRENT, name, _current(new)


def _current(member: ShareMember) -> Json:
    """A member is always stable, 0: a share group never waits."""
    epochs = {"memberEpoch": member.epoch, "previousMemberEpoch": member.previous_epoch}
    return {**epochs, "state": 0, "assignedPartitions": wire.to_wire(member.assigned)}


def _applied(group: ShareGroup, record: ShareRecord) -> ShareGroup:
    """The group after a record. Only the last record of each key decides, so the log may be compacted."""
    value: Json = record.value or {}
    if record.member_id is None:
        if record.type == GROUP:
            return replace(group, epoch=value.get("epoch", 0))
        if record.type == TARGET:
            return replace(group, assignment_epoch=value.get("assignmentEpoch", 0))
        return replace(group, metadata=topics.topics_in({"topics": [], **value}, "topics", TOPICS))
    member = group.member(record.member_id)
    if record.type == TARGET_MEMBER:
        member = member._replace(target=wire.from_wire(value.get("topicPartitions", []), TARGET_MEMBER))
    elif record.type == CURRENT:
        member = member._replace(
            epoch=value.get("memberEpoch", 0),
            previous_epoch=value.get("previousMemberEpoch", 0),
            assigned=wire.from_wire(value.get("assignedPartitions", []), CURRENT),
        )
    else:
        member = member._replace(description=value)
    return group.having(record.member_id, member)


def groups_from(records: Iterable[object], before: ShareGroup | None) -> dict[str, ShareGroup]:
    """The groups in a log (Q8), or after a step that changes one. A member whose epoch the log has lost does
    not exist."""
    groups: dict[str, ShareGroup] = {}
    for record in records:
        if isinstance(record, ShareRecord):
            groups[record.group_id] = _applied(groups.get(record.group_id, before or NO_GROUP), record)
    return {
        name: replace(group, members={id: one for id, one in group.members.items() if one.epoch})
        for name, group in groups.items()
        if group.epoch
    }


def share_from_wire(source: Mapping[str, object]) -> ShareRecord:
    """The record in the JSON. BadInput where the JSON is no such record."""
    return plain_records.plain_from_wire(
        ShareRecord, TYPES, frozenset({MEMBER, TARGET_MEMBER, CURRENT}), source
    )


def _metadata(value: Json, name: str, where: str) -> list[Json]:
    return topics_to_wire(topics.topics_in(value, name, where))


TYPES: Final[Tables] = {
    GROUP: {"epoch": epoch},
    TOPICS: {"topics": _metadata},
    MEMBER: {
        "rackId": fields.optional_text,
        "clientId": fields.text,
        "clientHost": fields.text,
        "subscribedTopicNames": fields.names,
    },
    TARGET: {"assignmentEpoch": epoch},
    TARGET_MEMBER: {"topicPartitions": plain_records.partitions},
    CURRENT: {
        "memberEpoch": epoch,
        "previousMemberEpoch": epoch_before,
        "state": fields.integer,
        "assignedPartitions": plain_records.partitions,
    },
}
"""By record type: the fields of its value."""
