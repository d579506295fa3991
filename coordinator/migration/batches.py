"""A conversion of several batches, and the leftovers of one that a crash has torn (P4, M1).

A conversion that fits is one batch. A larger one has several batches, one of which decides: the batch with
the classic group's record and ConsumerGroupMetadata. On the way up that batch is the last, with the target,
and the classic tombstone is its last record. On the way back that batch is the first. So a group whose
classic record has a value, and whose ConsumerGroupMetadata has none, is the classic group, whatever other
records of the consumer group the log has: these are leftovers, which are not loaded, and are removed before
anything else is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from coordinator.classic.records import ClassicRecord
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    Record,
)
from coordinator.core.record_size import batch_bytes, parts_of
from coordinator.record_kinds import AnyRecord

INDEPENDENT: Final = frozenset({MEMBER_METADATA, PARTITION_METADATA, CURRENT_ASSIGNMENT})
"""Records that can be applied independently, in the KIP's words, and the partitions that members hold, sorted
by their target."""


def batches_of(records: Sequence[AnyRecord], limit_bytes: int) -> list[Sequence[AnyRecord]]:
    """The batches of one step: a single one, unless the step is a conversion of more than `limit_bytes`."""
    classic = [record for record in records if isinstance(record, ClassicRecord)]
    if not classic or len(records) == len(classic) or batch_bytes(records) <= limit_bytes:
        return [records]
    if classic[-1].value is None:
        apart = [record for record in records if _is_independent(record)]
        others = [one for one in records if not _is_independent(one)]
        deciding = sorted(others, key=lambda one: isinstance(one, ClassicRecord))
        return [*parts_of(apart, limit_bytes), deciding]
    removed = [one for one in records if isinstance(one, Record) and one.type != GROUP_METADATA]
    deciding = [one for one in records if not (isinstance(one, Record) and one.type != GROUP_METADATA)]
    return [deciding, *parts_of(removed, limit_bytes)]


def _is_independent(record: AnyRecord) -> bool:
    return isinstance(record, Record) and record.type in INDEPENDENT


def leftovers(records: Iterable[AnyRecord]) -> dict[str, list[Record]]:
    """By group id, tombstones for the leftovers of a torn conversion beside a classic group.

    Only the last record of each key counts, so compaction changes nothing. A group with a value of both
    GroupMetadata and ConsumerGroupMetadata has no leftovers: only a log that was changed by hand has such a
    group.
    """
    records = list(records)
    classic = {one.group_id: one.value is not None for one in records if isinstance(one, ClassicRecord)}
    if not any(classic.values()):
        return {}
    last = {
        (one.group_id, one.type, one.member_id or ""): one
        for one in records
        if isinstance(one, Record) and classic.get(one.group_id)
    }
    removals: dict[str, list[Record]] = {}
    for (group_id, kind, _), record in sorted(last.items()):
        whole = last.get((group_id, GROUP_METADATA, ""))
        if record.value is not None and (whole is None or whole.value is None):
            removals.setdefault(group_id, []).append(Record(kind, group_id, record.member_id, None))
    return removals
