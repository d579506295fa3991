"""Sizes of records and batches (P4). Each expected number is counted by hand from the schemas."""

from __future__ import annotations

import pytest

from coordinator.classic.records import ClassicRecord, GroupMetadata, SavedMember
from coordinator.connect.records import LOST, ConnectRecord, Lost
from coordinator.consumer.model import ClassicMetadata, ClientAssignor, MemberMetadata, Target, TopicImage
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
)
from coordinator.core.record_size import BATCH_HEADER, batch_bytes, parts_of, record_bytes
from coordinator.offsets.records import CommittedOffset, OffsetRecord
from coordinator.record_kinds import AnyRecord

FOO, BAR = "00000000-0000-4000-8000-0000000000f0", "00000000-0000-4000-8000-0000000000b0"
EPOCH = Record(GROUP_METADATA, "g", None, GroupEpoch(5))
HELD = frozenset({(FOO, 0), (FOO, 1), (BAR, 7)})
TOPIC_PARTITIONS = 1 + (16 + 1 + 2 * 4 + 1) + (16 + 1 + 4 + 1)
PLAIN = MemberMetadata(None, None, "c", "/h", frozenset(), None, 1000, None)
PLAIN_BYTES = 2 + 4 + (1 + 1 + 2 + 3) + 1 + 1 + 4 + 1 + 1 + 1
KEY, MEMBER_KEY = 2 + 2 + 1, 2 + 2 + 1 + 2 + 2
"""Bytes of the keys of the group "g" and of its member "m1": version, then each text after its length."""


def _batch(key: int, value: int) -> int:
    """The batch of one record whose lengths all have one byte, or the value's and the record's two."""
    record = 1 + 1 + 1 + 1 + key + (1 if value < 64 else 2) + value + 1
    return 61 + (1 if record < 64 else 2) + record


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (EPOCH, KEY, 2 + 4 + 1),
        (Record(PARTITION_METADATA, "g", None, PartitionMetadata(5, {})), KEY, 2 + 4 + 1 + 1),
        (
            Record(PARTITION_METADATA, "g", None, PartitionMetadata(5, {"foo": TopicImage(FOO, 3)})),
            KEY,
            2 + 4 + 1 + (16 + 4 + 4 + 1) + 1,
        ),
        (Record(MEMBER_METADATA, "g", "m1", MemberUpdate(5, PLAIN)), MEMBER_KEY, PLAIN_BYTES),
        (
            Record(
                MEMBER_METADATA,
                "g",
                "m1",
                MemberUpdate(
                    5, PLAIN._replace(instance_id="i", rack_id="r", regex="fo*", server_assignor="u")
                ),
            ),
            MEMBER_KEY,
            PLAIN_BYTES + 1 + 1 + 3 + 1,
        ),
        (
            Record(
                MEMBER_METADATA,
                "g",
                "m1",
                MemberUpdate(5, PLAIN._replace(subscription=frozenset({"foo", "ü"}))),
            ),
            MEMBER_KEY,
            PLAIN_BYTES + 4 + 3,
        ),
        (
            Record(
                MEMBER_METADATA,
                "g",
                "m1",
                MemberUpdate(5, PLAIN._replace(client_assignors=(ClientAssignor("a", 0, 1, 0, 1, "AAEC"),))),
            ),
            MEMBER_KEY,
            PLAIN_BYTES + (2 + 2 + 2 + 1 + 2 + 1 + 3 + 1),
        ),
        (
            Record(
                MEMBER_METADATA,
                "g",
                "m1",
                MemberUpdate(5, PLAIN._replace(classic=ClassicMetadata(1, (("range", "AA=="),)))),
            ),
            MEMBER_KEY,
            PLAIN_BYTES + 1 + 1 + (1 + 4 + 1 + (1 + 5 + 1 + 1 + 1) + 1),
        ),
        (Record(TARGET_MEMBER, "g", "m1", Target(HELD, 0)), MEMBER_KEY, 2 + 1 + 2 + 1 + TOPIC_PARTITIONS + 1),
        (
            Record(CURRENT_ASSIGNMENT, "g", "m1", CurrentAssignment(5, HELD)),
            MEMBER_KEY,
            2 + 4 + 1 + 2 + 1 + TOPIC_PARTITIONS + 1,
        ),
        (
            Record(CURRENT_ASSIGNMENT, "g", "m1", CurrentAssignment(5, HELD, 4, HELD)),
            MEMBER_KEY,
            2 + 4 + 4 + 1 + 1 + TOPIC_PARTITIONS + 1,
        ),
        (
            Record(CURRENT_ASSIGNMENT, "g", "m1", CurrentAssignment(5, HELD, 4, HELD, given=((5, HELD),))),
            MEMBER_KEY,
            2 + 4 + 4 + 1 + 1 + TOPIC_PARTITIONS + 1 + 2 + (1 + 4 + TOPIC_PARTITIONS + 1),
        ),
        (
            OffsetRecord("g", "foo", 0, CommittedOffset(5, -1, "x", 0, FOO)),
            KEY + 2 + 3 + 4,
            2 + 8 + 4 + 2 + 8 + 16 + 1,
        ),
        (
            ClassicRecord("g", GroupMetadata("consumer", 1, None, None, 0, ())),
            KEY,
            2 + (2 + 8) + 4 + 2 + 2 + 8 + 4,
        ),
        (
            ClassicRecord(
                "g",
                GroupMetadata(
                    "c", 1, "p", "m1", 0, (SavedMember("m1", None, "c", "/h", 1, 1, "AAE=", "AAEC"),)
                ),
            ),
            KEY,
            (2 + 3 + 4 + 3 + 4 + 8 + 4) + (4 + 2 + 3 + 4 + 4 + 4 + (4 + 2) + (4 + 3)),
        ),
        (
            ConnectRecord(LOST, "g", "m1", Lost(frozenset({("A", 0), ("A", 1)}))),
            MEMBER_KEY,
            2 + 1 + (1 + 2) + (1 + 2 + 4 + 1) + 1 + 1,
        ),
        (ConnectRecord(TARGET_MEMBER, "g", "m1", Target(frozenset(), 0)), MEMBER_KEY, 2 + 1 + 2 + 1 + 1 + 1),
    ],
)
def test_p4_a_batch_has_the_bytes_of_its_fields(record: AnyRecord, key: int, value: int) -> None:
    assert batch_bytes([record]) == _batch(key, value)
    here = batch_bytes([record]) - BATCH_HEADER
    assert here + 4 <= record_bytes(record) <= here + 5, "the offset has five bytes, the length one more"


def test_p4_a_tombstone_is_its_key_and_no_value() -> None:
    assert batch_bytes([Record(GROUP_METADATA, "g", None, None)]) == 61 + 1 + (1 + 1 + 1 + 1 + 5 + 1 + 1)


def test_p4_lengths_grow_with_what_they_count() -> None:
    """The 65th record of a batch has two bytes for its offset; a text of 127 bytes has two for its length."""
    assert batch_bytes([EPOCH] * 65) == BATCH_HEADER + 64 * 19 + 20
    long = Record(MEMBER_METADATA, "g", "m1", MemberUpdate(5, PLAIN._replace(rack_id="r" * 127)))
    short = Record(MEMBER_METADATA, "g", "m1", MemberUpdate(5, PLAIN._replace(rack_id="r" * 126)))
    assert batch_bytes([long]) == batch_bytes([short]) + 2


def test_p4_records_are_parted_in_their_order_below_the_limit() -> None:
    parts = parts_of([EPOCH] * 10, BATCH_HEADER + 3 * record_bytes(EPOCH))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    assert [len(part) for part in parts_of([EPOCH] * 2, 10)] == [1, 1], "one that is too large is alone"
    assert parts_of([], 10) == []
