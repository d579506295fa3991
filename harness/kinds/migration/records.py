"""The records that a step of a group that migrates must write (P1), from the states before and after it.

A conversion is one batch: the old group's tombstones and all of the new one, as if written at once; then, for
a consumer group, the changes of the join.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.kinds.classic import records as classic
from harness.kinds.consumer import records
from harness.kinds.consumer.state import Group
from harness.kinds.migration.expect import as_heartbeat
from harness.kinds.migration.state import MigrationState
from harness.kinds.migration.steps import OFFSETS
from harness.replay.dialects import Forms
from harness.targets.base import Json


def written(before: MigrationState, after: MigrationState, now_ms: int, forms: Forms) -> list[Json]:
    """The records of a step at `now_ms`, without their offsets."""
    records = _written(before, after, now_ms, forms)
    return _once(records) if forms.once else records


def _once(records: list[Json]) -> list[Json]:
    """The batch with the last value of each key that it has twice: removals of keys without a value, then
    values in P1's order."""
    last = {tuple(record["key"].items()): record for record in records}
    if len(last) == len(records):
        return records
    wrote = {tuple(record["key"].items()) for record in records if record["value"]}
    return sorted(
        last.values(),
        key=lambda record: (
            _KINDS.index(record["key"]["type"]) if tuple(record["key"].items()) in wrote else -1
        ),
    )


_KINDS: Final = (
    *("GroupMetadata", "ConsumerGroupMemberMetadata", "ConsumerGroupPartitionMetadata"),
    *("ConsumerGroupMetadata", "ConsumerGroupTargetAssignmentMember"),
    *("ConsumerGroupTargetAssignmentMetadata", "ConsumerGroupCurrentMemberAssignment"),
)


def _written(before: MigrationState, after: MigrationState, now_ms: int, forms: Forms) -> list[Json]:
    if after.step.action in OFFSETS:
        return list(records.offset_records(before.shared, after.shared, now_ms))
    if after.is_classic and before.group.exists:
        return [*_tombstones(before.group, forms), *_brought_back(before, after, now_ms)]
    if not after.group.exists and not before.group.exists:
        return classic.written(before.old, after.old, now_ms)
    view = replace(before.shared, group=before.group_of_step(after))
    step = records.written(view, as_heartbeat(before, after), now_ms, forms)
    if not before.is_classic:
        return step
    return [classic.TOMBSTONE, *records.whole(replace(view, offsets={}), forms), *step]


def _brought_back(before: MigrationState, after: MigrationState, now_ms: int) -> list[Json]:
    """The classic group at the epoch of the consumer group; and the next generation, where it need not wait
    for members."""
    group = after.old.group
    if group.saved is None or group.saved.generation == before.group.epoch:
        return classic.group_at(after.old, now_ms)
    first = replace(group.saved, generation=before.group.epoch)
    states = replace(after.old, group=replace(group, saved=first)), after.old
    return [record for state in states for record in classic.group_at(state, now_ms)]


def whole(state: MigrationState, forms: Forms) -> list[Json]:
    """The records of a state as one log that was never written step by step: the input of `load`."""
    return classic.whole(state.old) if state.is_classic else records.whole(state.shared, forms)


def _tombstones(group: Group, forms: Forms) -> list[Json]:
    """M1: tombstones for all records of a consumer group."""
    target, *others = records.deletion()
    assigned = _of_each(group, "ConsumerGroupCurrentMemberAssignment", "ConsumerGroupTargetAssignmentMember")
    members = _of_each(group, "ConsumerGroupMemberMetadata")
    ended = [target, *members] if forms.once else [*members, target]
    return [*assigned, *ended, *others]


def _of_each(group: Group, *kinds: str) -> list[Json]:
    return [{"key": records.group_key(kind, name), "value": None} for kind in kinds for name in group.members]
