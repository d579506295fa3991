"""Committed offsets, and the record that persists one: OffsetCommit, Kafka's key 1, value version 4 (O1, P4).

On the wire: {"offset": n, "key": {"type": "OffsetCommit", "groupId": g, "topic": name, "partition": p},
"value": {"offset", "leaderEpoch", "metadata", "commitTimestamp", "topicId"}}; a tombstone's value is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

OFFSET_COMMIT: Final = "OffsetCommit"


class CommittedOffset(NamedTuple):
    """A committed offset of one partition; the time is in milliseconds of the coordinator's clock."""

    offset: int
    leader_epoch: int
    """-1 where the member gave none."""
    metadata: str
    timestamp_ms: int
    topic_id: str
    """The topic for which the offset was committed: a recreated topic has the key's name, but another id
    (T2)."""


OffsetsOfGroup = Mapping[tuple[str, int], CommittedOffset]
"""Topic name and partition, as in the record's key -> the committed offset."""

Offsets = dict[str, dict[tuple[str, int], CommittedOffset]]
"""Group id -> its offsets. A group with offsets need not have members, and need never have had any."""


class OffsetRecord(NamedTuple):
    """One OffsetCommit record; no value is a tombstone."""

    group_id: str
    topic: str
    partition: int
    value: CommittedOffset | None


def replay_offset(offsets: Offsets, record: OffsetRecord) -> None:
    """Apply one record. Records may come in any order of keys, with any subset that compaction leaves."""
    key = (record.topic, record.partition)
    if record.value is not None:
        offsets.setdefault(record.group_id, {})[key] = record.value
    elif record.group_id in offsets:
        of_group = offsets[record.group_id]
        of_group.pop(key, None)
        if not of_group:
            del offsets[record.group_id]


def offset_to_wire(record: OffsetRecord, offset: int) -> Json:
    """The record as JSON, with its own offset in the log."""
    key = {
        "type": OFFSET_COMMIT,
        "groupId": record.group_id,
        "topic": record.topic,
        "partition": record.partition,
    }
    value = record.value
    if value is None:
        return {"offset": offset, "key": key, "value": None}
    return {
        "offset": offset,
        "key": key,
        "value": {
            "offset": value.offset,
            "leaderEpoch": value.leader_epoch,
            "metadata": value.metadata,
            "commitTimestamp": value.timestamp_ms,
            "topicId": value.topic_id,
        },
    }


def offset_from_wire(source: Mapping[str, object]) -> OffsetRecord:
    """The record in the JSON object. BadInput where the JSON is no such record."""
    where = f"an {OFFSET_COMMIT} record"
    key = fields.mapping(source, "key", where)
    fields.known(key, ("type", "groupId", "topic", "partition"), f"the key of {where}")
    group_id = fields.text(key, "groupId", f"the key of {where}")
    topic = fields.text(key, "topic", f"the key of {where}")
    partition = fields.integer(key, "partition", f"the key of {where}", bits=32)
    if "value" not in source:
        raise BadInput(f"{where} needs the field 'value', null for a tombstone")
    if source["value"] is None:
        return OffsetRecord(group_id, topic, partition, None)
    value = fields.mapping(source, "value", where)
    fields.known(value, ("offset", "leaderEpoch", "metadata", "commitTimestamp", "topicId"), where)
    committed = CommittedOffset(
        fields.integer(value, "offset", where),
        fields.integer(value, "leaderEpoch", where, least=-1, bits=32),
        fields.text(value, "metadata", where),
        fields.integer(value, "commitTimestamp", where),
        fields.topic_id(value.get("topicId"), where),
    )
    return OffsetRecord(group_id, topic, partition, committed)
