"""The state of a coordinator that has read a log (P2): groups of every kind, and offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coordinator.consumer.load import restore_volatile
from coordinator.consumer.model import Group
from coordinator.core.log import state_from
from coordinator.core.step import Env
from coordinator.offsets.records import Offsets
from coordinator.others import OtherGroups
from coordinator.record_kinds import AnyRecord


def loaded(
    records: Iterable[AnyRecord], volatile: Mapping[str, object], env: Env, now_ms: int
) -> tuple[dict[str, Group], Offsets, OtherGroups]:
    """The consumer groups, offsets and groups of other kinds of these records and this volatile state.

    BadInput where no coordinator can have written the records, or `volatile` does not belong to them.
    """
    records = list(records)
    groups, offsets = state_from(records, env.dialect.initial_epoch)
    others = OtherGroups()
    others.replay(records, env, now_ms)
    others.restore(volatile, now_ms)
    others.check_kinds(groups)
    restore_volatile(groups, volatile, env, now_ms, env.dialect.RevocationRecorded)
    return groups, offsets, others
