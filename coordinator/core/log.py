"""The log of records and the one path on which a step becomes state: append, replay, volatile changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from coordinator.consumer.load import groups_from
from coordinator.consumer.model import Group
from coordinator.consumer.records import Record
from coordinator.consumer.replay import replay
from coordinator.core import fields
from coordinator.core.errors import AppendFailed, BadInput, BatchTooLarge
from coordinator.core.fields import Json
from coordinator.core.record_size import batch_bytes, parts_of
from coordinator.core.step import Result, Timer, Volatile
from coordinator.core.storage import LogStorage
from coordinator.migration.batches import batches_of, leftovers
from coordinator.offsets.records import OffsetRecord, Offsets, replay_offset
from coordinator.record_kinds import AnyRecord, from_wire, to_wire


class Log:
    """Records in the order in which they were written. The records of one step are one batch; those of a
    conversion that is too large are several (P4).

    With a storage, a batch is a line of JSON there: {"records": [...]}. A change of the cluster is a line,
    too, as a later run must know it (P2): {"topics": {"upsert": [...], "delete": [...]}} for topics,
    {"configs": {"group": id, "values": {name: number}}} for the configurations of a group, or a list of these
    for several groups; configurations outlive the records of their group (D1).
    """

    def __init__(
        self,
        records: Sequence[AnyRecord] = (),
        batch_ends: Sequence[int] | None = None,
        storage: LogStorage | None = None,
    ) -> None:
        """`batch_ends` are offsets; without them each record is a batch. `storage` has the records."""
        self.records: list[AnyRecord] = list(records)
        self._batch_ends = list(range(1, len(records) + 1) if batch_ends is None else batch_ends)
        self._storage = storage
        self._left_over = [one for ones in leftovers(self.records).values() for one in ones]
        self.failing: bool = False
        """Refuse every append, as a log without its quorum does."""

    def append(
        self, batches: Iterable[Sequence[AnyRecord]], limit_bytes: int, change: Json | None = None
    ) -> None:
        """Take batches and a change of the cluster, all of it durably or nothing at all (P3).

        Records that a torn conversion has left are removed first. Raises AppendFailed, or BatchTooLarge for a
        batch of more than `limit_bytes` (P4).
        """
        written = [batch for batch in batches if batch]
        if not written and change is None:
            return
        if self.failing:
            raise AppendFailed("the log took no records; try again")
        for batch in written:
            check_size(batch, limit_bytes)
        written[:0] = parts_of(self._left_over, limit_bytes)
        if self._storage is not None:
            changes = [] if change is None else [_line(change)]
            self._storage.append([*changes, *map(_encoded, written)])
        for batch in written:
            self.records.extend(batch)
            self._batch_ends.append(len(self.records))
        self._left_over = []

    def kept(self, count: int, changes: Sequence[Json]) -> Log:
        """A log of the whole batches among the first `count` records, as if the rest were lost; `changes`
        make the cluster as it is."""
        records = self.whole(count)
        ends = [end for end in self._batch_ends if end <= len(records)]
        if len(ends) == len(self._batch_ends):
            return Log(self.records, ends, self._storage)
        return self.replaced(records, ends, changes)

    def whole(self, count: int) -> list[AnyRecord]:
        """The records of the whole batches among the first `count` records. The storage stays as it is."""
        return self.records[: max((end for end in self._batch_ends if end <= count), default=0)]

    def replaced(
        self, records: Sequence[AnyRecord], batch_ends: Sequence[int] | None, changes: Sequence[Json]
    ) -> Log:
        """A log of these records in its place, on the same storage, which changes whole or not at all."""
        log = Log(records, batch_ends, self._storage)
        if self._storage is not None:
            batches = [log.records[start:end] for start, end in pairwise([0, *log._batch_ends])]
            self._storage.rewrite([*map(_line, changes), *map(_encoded, batches)])
        return log

    def compacted(self, changes: Sequence[Json], first: int = 0, tombstones: bool = False) -> Log:
        """A log that keeps, of the records from `first` on, the last one of each key (P3), and its tombstone
        only if `tombstones` is set. `changes` make the cluster as it is."""
        last = {_key(record): number for number, record in enumerate(self.records)}
        left = [
            record
            for number, record in enumerate(self.records)
            if number < first or (last[_key(record)] == number and (tombstones or record.value is not None))
        ]
        log = self.replaced(left, None, changes)
        log.failing = self.failing
        return log


def _key(record: AnyRecord) -> tuple[object, ...]:
    """The key of a record with its kind: all of the record except its value."""
    return type(record), *(part for name, part in record._asdict().items() if name != "value")


def opened(storage: LogStorage) -> tuple[Log, list[Json]]:
    """The log in a storage, and the changes of the cluster in it. BadInput where the storage has no such
    log."""
    records: list[AnyRecord] = []
    batch_ends = []
    changes = []
    for entry in storage.read():
        content = _entry(entry)
        if "records" in content:
            records.extend(from_wire(record) for record in fields.items(content, "records", _ENTRY))
            batch_ends.append(len(records))
        else:
            changes.append(content)
    return Log(records, batch_ends, storage), changes


_ENTRY: Final = "an entry of the log"


def _entry(text: str) -> Json:
    """An entry of a storage. BadInput where it is neither a batch nor a change of the cluster."""
    try:
        content = fields.as_object(json.loads(text), _ENTRY)
    except RecursionError:
        raise BadInput(f"{_ENTRY} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"{_ENTRY} is not JSON: {error}") from None
    fields.known(content, ("records", "topics", "configs"), _ENTRY)
    if len(content) != 1:
        raise BadInput(f"{_ENTRY} has one of the fields records, topics and configs, not {len(content)}")
    return content


def _encoded(batch: Sequence[AnyRecord]) -> str:
    records = [to_wire(record, 0) for record in batch]
    return _line({"records": [{"key": record["key"], "value": record["value"]} for record in records]})


def _line(content: Json) -> str:
    return json.dumps(content, separators=(",", ":"))


def check_size(batch: Sequence[AnyRecord], limit_bytes: int) -> None:
    """P4: check the sizes of batches. Raises BatchTooLarge."""
    if (size := batch_bytes(batch)) > limit_bytes:
        raise BatchTooLarge(
            f"the {len(batch)} records of this step are a batch of {size} bytes, more than the {limit_bytes} "
            "that message.max.bytes allows; raise it, or ask for less at once"
        )


def commit(
    log: Log,
    groups: dict[str, Group],
    offsets: Offsets,
    results: Sequence[Result],
    limit_bytes: int,
    change: Json | None = None,
    initial_epoch: int = 0,
    others: Sequence[Sequence[AnyRecord]] = (),
) -> None:
    """Make steps durable, all or none, and then visible. `others` are batches of groups of other kinds
    (others.py).

    Raises AppendFailed where the log refuses them; nothing has changed then (P3).
    """
    batches = [batch for result in results for batch in batches_of(result.records, limit_bytes)]
    log.append([*batches, *others], limit_bytes, change)
    for result in results:
        show(groups, offsets, result, initial_epoch)


def show(groups: dict[str, Group], offsets: Offsets, result: Result, initial_epoch: int = 0) -> None:
    """Make a step visible, once its records are durable."""
    for record in result.records:
        if isinstance(record, OffsetRecord):
            replay_offset(offsets, record)
        elif isinstance(record, Record):
            replay(groups, record, initial_epoch)
    group = groups.get(result.group_id)
    if group is None:
        return
    if result.computation is not None:
        group.computation = result.computation
    for change in result.volatile:
        _apply_volatile(group, change)
    for timer in result.timers:
        set_timer(group, timer)
    if result.target_computed_ms is not None:
        group.target_computed_ms = result.target_computed_ms


def with_tombstones(tombstones: Sequence[OffsetRecord], result: Result, limit_bytes: int) -> list[Result]:
    """A step that also deletes offsets: one batch if possible, else several, the step's own last (P4)."""
    *before, result.records = with_own_last(tombstones, result.records, limit_bytes)
    return [*(Result(result.group_id, batch) for batch in before), result]


def with_own_last(
    tombstones: Sequence[OffsetRecord], own: Sequence[AnyRecord], limit_bytes: int
) -> list[list[AnyRecord]]:
    """The batch `own` and tombstones of offsets: one batch if possible, else several, `own` last (P4)."""
    batches: list[list[AnyRecord]] = [[*part] for part in parts_of(tombstones, limit_bytes)]
    if batches and batch_bytes([*batches[-1], *own]) <= limit_bytes:
        return [*batches[:-1], [*batches[-1], *own]]
    return [*batches, [*own]]


def state_from(records: Iterable[AnyRecord], initial_epoch: int) -> tuple[dict[str, Group], Offsets]:
    """The consumer groups and offsets of the records, without leftovers of a torn conversion (P4). BadInput
    where a member's metadata is missing."""
    records = list(records)
    torn = leftovers(records)
    of_groups: list[Record] = []
    offsets: Offsets = {}
    for record in records:
        if isinstance(record, OffsetRecord):
            replay_offset(offsets, record)
        elif isinstance(record, Record) and record.group_id not in torn:
            of_groups.append(record)
    return groups_from(of_groups, initial_epoch), offsets


def _apply_volatile(group: Group, change: Volatile) -> None:
    member = group.members[change.member_id]
    member.previous_epoch = change.previous_epoch
    member.revoking = change.revoking
    member.acknowledged = change.acknowledged
    member.assigned = member.held - change.revoking


def set_timer(group: Group, timer: Timer) -> None:
    """Arm or cancel one timer."""
    if timer.name == "group":
        group.empty_deadline_ms = timer.deadline_ms
    elif timer.name == "computation":
        group.computation = group.computation._replace(deadline_ms=timer.deadline_ms)
    elif timer.name == "rebalance":
        group.members[timer.member_id].rebalance_deadline_ms = timer.deadline_ms
    elif timer.name == "join":
        group.members[timer.member_id].join_deadline_ms = timer.deadline_ms
    elif timer.name == "sync":
        group.members[timer.member_id].sync_deadline_ms = timer.deadline_ms
    elif timer.deadline_ms is not None:
        group.members[timer.member_id].session_deadline_ms = timer.deadline_ms
