"""The log of a coordinator: whole batches, compaction, and the sizes of batches (P3, P4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coordinator import BadInput, Coordinator
from coordinator.connect.records import ConnectRecord
from coordinator.consumer.records import GroupEpoch, Record
from coordinator.core.log import Log, opened, with_own_last
from coordinator.core.record_size import batch_bytes
from coordinator.core.storage import SqliteStorage
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
    assert log.kept(4, []).kept(2, []).records == [], "a log that has lost nothing has its batches, too"


def test_a_log_that_is_read_has_the_batches_that_were_written(tmp_path: Path) -> None:
    storage = SqliteStorage(str(tmp_path / "log.db"))
    Log(storage=storage).append([GONE, OWN], LIMIT)
    log, _ = opened(storage)
    storage.close()
    assert [log.whole(count) for count in (4, 3, 2)] == [[*GONE, *OWN], GONE, []]


def test_compaction_keeps_the_last_record_of_each_key_and_no_tombstones() -> None:
    log = Log([*KEPT, *GONE[:2], *OWN])
    assert log.compacted([]).records == KEPT[2:]
    assert log.compacted([], tombstones=True).records == [KEPT[2], *GONE[:2], *OWN]
    assert log.compacted([], first=1).records == [KEPT[0], KEPT[2]]


def test_a_connect_group_has_other_keys_than_a_consumer_group_of_its_name() -> None:
    """P3: the group of consumers is gone, and a Connect group has its id now; a reader of the shorter log
    needs the tombstone, as it may know the first group."""
    records = [*OWN, ConnectRecord("ConsumerGroupMetadata", "g", None, GroupEpoch(1))]
    assert Log(records).compacted([], tombstones=True).records == records


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


class Entries:
    """A storage that has these entries."""

    def __init__(self, *entries: str) -> None:
        self._entries = entries

    def read(self) -> Sequence[str]:
        return self._entries

    def append(self, entries: Sequence[str]) -> None:
        raise AssertionError(entries)

    def rewrite(self, entries: Sequence[str]) -> None:
        raise AssertionError(entries)

    def close(self) -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("x", "an entry of the log is not JSON: Expecting value"),
        ("[" * 100_000, "an entry of the log is nested too deeply"),
        ("[]", r"an entry of the log must be an object, not \[\]"),
        ("{}", "an entry of the log has one of the fields records, topics and configs, not 0"),
        ('{"records": [], "more": 1}', "an entry of the log has no field 'more'"),
        ('{"records": null}', "'records' of an entry of the log must be a list, not None"),
        ('{"records": [1]}', "a record must be an object, not 1"),
        ('{"records": [], "topics": {"upsert": [], "delete": []}}', "configs, not 2"),
        ('{"topics": 1}', "'topics' of a change of topics must be an object, not 1"),
        ('{"topics": {"upsert": []}}', "a change of topics needs the field 'delete'"),
        ('{"topics": {"upsert": 1, "delete": []}}', "'upsert' of a change of topics must be a list"),
        ('{"topics": {"upsert": [], "delete": [1]}}', "'delete' of a change of topics must be a list of"),
        ('{"topics": {"upsert": [], "delete": [], "more": 1}}', "a change of topics has no field 'more'"),
        ('{"configs": 1}', "a change of configurations must be an object, not 1"),
    ],
)
def test_a_storage_with_another_entry_is_no_log(entry: str, sentence: str) -> None:
    """The checksum may be right, where another program has written the entry."""
    with pytest.raises(BadInput, match=sentence):
        Coordinator(storage=Entries(entry))
