"""The log of a coordinator: whole batches, compaction, and the sizes of batches (P3, P4)."""

from __future__ import annotations

import pytest

from coordinator.consumer.records import Record
from coordinator.core.log import Log, with_own_last
from coordinator.core.record_size import batch_bytes
from coordinator.offsets.records import CommittedOffset, OffsetRecord

LIMIT = 1_000_000
GONE = [OffsetRecord("g", "foo", partition, None) for partition in range(3)]
OWN = [Record("ConsumerGroupMetadata", "g", None, None)]
KEPT = [OffsetRecord("g", "foo", partition, CommittedOffset(5, -1, "", 0, "")) for partition in range(3)]


def test_a_log_without_its_end_still_has_whole_batches() -> None:
    """A batch is lost as a whole, also where the log has lost its end before (P3)."""
    log = Log()
    log.append([KEPT, OWN], LIMIT)
    shorter = log.kept(3, [])
    assert shorter.records == KEPT
    assert [shorter.kept(count, []).records for count in (3, 2, 1)] == [KEPT, [], []]


def test_compaction_keeps_the_last_record_of_each_key_and_no_tombstones() -> None:
    log = Log([*KEPT, *GONE[:2], *OWN])
    assert log.compacted([]).records == KEPT[2:]
    assert log.compacted([], tombstones=True).records == [KEPT[2], *GONE[:2], *OWN]
    assert log.compacted([], first=1).records == [KEPT[0], KEPT[2]]


@pytest.mark.parametrize("tombstones", [GONE, GONE[:1]])
def test_tombstones_of_offsets_share_the_batch_of_a_step_that_has_room(
    tombstones: list[OffsetRecord],
) -> None:
    """One batch is taken whole or not at all; a larger one than the limit would be refused (P4)."""
    one_batch = [*tombstones, *OWN]
    room = batch_bytes(one_batch)
    assert with_own_last(tombstones, OWN, room) == [one_batch]
    several = with_own_last(tombstones, OWN, room - 1)
    assert len(several) == 2 and max(map(batch_bytes, several)) < room
    assert [record for batch in several for record in batch] == one_batch
    assert with_own_last([], OWN, room) == [OWN]
