"""The offsets of a deleted group: they are deleted with the group, in any kind of group (E5, D1)."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.core.log import Log, with_own_last
from coordinator.offsets.handlers import offsets_of_deleted_group
from coordinator.offsets.records import Offsets, replay_offset
from coordinator.record_kinds import AnyRecord


def append_deletion(
    log: Log, offsets: Offsets, group_id: str, batch: Sequence[AnyRecord], limit_bytes: int
) -> None:
    """Make tombstones of a group durable with those of its offsets, which are gone then. The caller removes
    the group itself. AppendFailed where the log refuses, and nothing has changed (P3)."""
    tombstones = offsets_of_deleted_group(offsets, group_id)
    log.append(with_own_last(tombstones, batch, limit_bytes), limit_bytes)
    for record in tombstones:
        replay_offset(offsets, record)
