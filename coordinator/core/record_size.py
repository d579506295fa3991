"""Sizes in bytes of records and batches in Kafka's log (P4), computed without encoding anything.

A batch has magic 2: a header of 61 bytes, then the records. A record is its length, attributes, the
differences of its time (0: a batch has one time) and of its offset, key, value and no headers, in varints.
The key of a record is its version and its fields, not flexible. The value is its version and its fields by
the KIP's schemas, flexible: lengths are varints and each structure ends with its tagged fields. GroupMetadata
alone is not flexible (value version 3). Bytes that are text in base64 here are measured as bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from coordinator.classic.records import ClassicRecord, GroupMetadata
from coordinator.connect.records import ConnectRecord, Lost
from coordinator.consumer.model import ClassicMetadata, ClientAssignor, MemberMetadata, Partitions, Target
from coordinator.consumer.records import (
    AssignmentEpoch,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
    Value,
)
from coordinator.offsets.records import OffsetRecord
from coordinator.record_kinds import BY_CLASS, AnyRecord

BATCH_HEADER: Final = 61
MOST_OFFSET: Final = 5
"""The most bytes of a varint of 32 bits."""
_INT8, _INT16, _INT32, _INT64, _UUID = 1, 2, 4, 8, 16
_TAGS: Final = 1
"""The bytes of a structure's tagged fields where the structure has none."""


def batch_bytes(records: Sequence[AnyRecord]) -> int:
    """Bytes of one batch of these records."""
    return BATCH_HEADER + sum(_record(record, _signed(index)) for index, record in enumerate(records))


def record_bytes(record: AnyRecord) -> int:
    """The most bytes of the record in a batch, at any place in the batch."""
    return _record(record, MOST_OFFSET)


def _record(record: AnyRecord, offset_bytes: int) -> int:
    key, value = _key(record), _value(record)
    body = _INT8 + _signed(0) + offset_bytes + _signed(key) + key + _signed(0)
    body += _signed(-1) if value is None else _signed(value) + value
    return _signed(body) + body


def _key(record: AnyRecord) -> int:
    size = _INT16 + _INT16 + _utf8(record.group_id)
    if isinstance(record, OffsetRecord):
        return size + _INT16 + _utf8(record.topic) + _INT32
    if isinstance(record, ClassicRecord) or record.member_id is None:
        return size
    return size + _INT16 + _utf8(record.member_id)


def _value(record: AnyRecord) -> int | None:
    """Bytes of the value; None for a tombstone."""
    if record.value is None:
        return None
    if (measured := BY_CLASS[type(record)].value_bytes) is not None:
        return _INT16 + measured(record.value) + _TAGS
    if isinstance(record, OffsetRecord):
        return _INT16 + _INT64 + _INT32 + _text(record.value.metadata) + _INT64 + _UUID + _TAGS
    if isinstance(record, ClassicRecord):
        return _INT16 + _group_metadata(record.value)
    if isinstance(record, ConnectRecord):
        return _INT16 + _connect_value(record.value) + _TAGS
    assert isinstance(record, Record)  # records of other kinds measure their own values
    return _INT16 + _consumer_value(record.value) + _TAGS


def _group_metadata(value: GroupMetadata) -> int:
    """GroupMetadataValue, version 3."""
    size = _plain(value.protocol_type) + _INT32 + _plain(value.protocol) + _plain(value.leader) + _INT64
    size += _INT32
    for member in value.members:
        size += _plain(member.member_id) + _plain(member.instance_id) + _plain(member.client_id)
        size += _plain(member.client_host) + _INT32 + _INT32
        size += _INT32 + _base64(member.subscription) + _INT32 + _base64(member.assignment)
    return size


def _consumer_value(value: Value) -> int:
    if isinstance(value, (GroupEpoch, AssignmentEpoch)):
        return _INT32
    if isinstance(value, CurrentAssignment):
        return _current(value)
    if isinstance(value, Target):
        return _assignor_data(value) + _topic_partitions(value.partitions)
    if isinstance(value, PartitionMetadata):
        topics = sum(_UUID + _text(name) + _INT32 + _TAGS for name in value.topics)
        return _INT32 + _count(len(value.topics)) + topics
    metadata = value.metadata
    size = _INT32 + _text(metadata.instance_id) + _text(metadata.rack_id) + _client(metadata)
    size += _count(len(metadata.subscription)) + sum(map(_text, metadata.subscription))
    size += _text(metadata.regex) + _INT32 + _text(metadata.server_assignor)
    return size + _assignors(metadata.client_assignors) + _classic(metadata.classic)


def _current(value: CurrentAssignment) -> int:
    """ConsumerGroupCurrentMemberAssignmentValue: the form of KIP-848's text, or where revocations are
    recorded Kafka's, which has the previous epoch and a state; epochs of partitions are a tagged field."""
    if value.revoking is None:
        return _INT32 + _assignor_data(value.assignor_data) + _topic_partitions(value.held)
    size = _INT32 + _INT32 + _INT8
    size += _topic_partitions(value.held - value.revoking) + _topic_partitions(value.revoking)
    if not value.given:
        return size
    epochs = sum(_INT32 + _topic_partitions(partitions) + _TAGS for _, partitions in value.given)
    return size + _tagged(_count(len(value.given)) + epochs)


def _connect_value(value: Value | Lost | None) -> int:
    """The values of a Connect group: connectors and their tasks where a consumer group has topics."""
    if isinstance(value, Lost):
        return _work(value.resources)
    if isinstance(value, CurrentAssignment):
        return _INT32 + _assignor_data(value.assignor_data) + _work(value.held)
    if isinstance(value, Target):
        return _assignor_data(value) + _work(value.partitions)
    if isinstance(value, PartitionMetadata):
        return _INT32 + _count(len(value.topics)) + sum(_text(name) + _INT32 + _TAGS for name in value.topics)
    if isinstance(value, MemberUpdate):
        metadata = value.metadata
        size = _INT32 + _text(metadata.instance_id) + _client(metadata) + _INT32
        return size + _assignors(metadata.client_assignors)
    return _INT32


def _client(metadata: MemberMetadata) -> int:
    return _text(metadata.client_id) + _text(metadata.client_host)


def _assignors(assignors: Sequence[ClientAssignor]) -> int:
    numbers = _INT16 + _INT16 + _INT8 + _INT16
    return _count(len(assignors)) + sum(
        _text(one.name) + numbers + _bytes(one.metadata_bytes) + _TAGS for one in assignors
    )


def _classic(metadata: ClassicMetadata | None) -> int:
    """ClassicMemberMetadata: a tagged field, with one byte that tells if the structure is null."""
    if metadata is None:
        return 0
    protocols = sum(_text(name) + _bytes(content) + _TAGS for name, content in metadata.protocols)
    return _tagged(_INT8 + _INT32 + _count(len(metadata.protocols)) + protocols + _TAGS)


def _assignor_data(target: Target) -> int:
    return _INT8 + _INT16 + _bytes(target.metadata_bytes)


def _topic_partitions(partitions: Partitions) -> int:
    topics = Counter(topic for topic, _ in partitions)
    return _count(len(topics)) + sum(_UUID + _numbers(count) + _TAGS for count in topics.values())


def _work(resources: Partitions) -> int:
    """A list with no or one structure: names of connectors, and tasks with their connectors."""
    if not resources:
        return _count(0)
    connectors = [name for name, task in resources if not task]
    tasks = [name for name, task in resources if task]
    size = _count(len(connectors)) + sum(map(_text, connectors))
    size += _count(len(tasks)) + sum(_text(name) + _INT32 + _TAGS for name in tasks)
    return _count(1) + size + _TAGS


def _numbers(count: int) -> int:
    return _count(count) + count * _INT32


def _tagged(size: int) -> int:
    """A tagged field with a tag below 128, without the byte that counts the fields."""
    return 1 + _unsigned(size) + size


def _text(value: str | None) -> int:
    return _unsigned(0) if value is None else _count(size := _utf8(value)) + size


def _bytes(value: str) -> int:
    return _count(size := _base64(value)) + size


def _plain(value: str | None) -> int:
    return _INT16 if value is None else _INT16 + _utf8(value)


def _utf8(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode(errors="surrogatepass"))


def _base64(value: str) -> int:
    """The number of bytes behind text in base64; other text (M4) is measured as it is."""
    if len(value) % 4:
        return _utf8(value)
    return len(value) // 4 * 3 - value[-2:].count("=")


def _count(count: int) -> int:
    """The length of an array or text; 0 stands for null."""
    return _unsigned(count + 1)


def _unsigned(value: int) -> int:
    return 1 if value < 128 else (value.bit_length() + 6) // 7


def _signed(value: int) -> int:
    return 1 if -64 <= value < 64 else _unsigned(value * 2 if value >= 0 else -value * 2 - 1)


def parts_of(records: Iterable[AnyRecord], limit_bytes: int) -> list[list[AnyRecord]]:
    """The records in their order as batches of at most `limit_bytes`; a larger record has a batch of its
    own."""
    parts: list[list[AnyRecord]] = []
    size = limit_bytes
    for record in records:
        more = record_bytes(record)
        if size + more > limit_bytes:
            parts.append([])
            size = BATCH_HEADER
        parts[-1].append(record)
        size += more
    return parts
