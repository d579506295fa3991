"""The state of a coordinator that has read a log (P2): groups of every kind, and offsets."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from coordinator.consumer.load import configs_of, restore_volatile
from coordinator.consumer.model import Group
from coordinator.core.clock import Clock, SimulatedClock, clock_in
from coordinator.core.log import state_from
from coordinator.core.step import Env
from coordinator.core.topics import changed_topics
from coordinator.offsets.records import Offsets
from coordinator.others import OtherGroups
from coordinator.record_kinds import AnyRecord, from_wire


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


class Loaded(NamedTuple):
    """A state that was read, for a coordinator that becomes it. The coordinator changes the last three."""

    env: Env
    now_ms: int
    records: Sequence[AnyRecord]
    volatile: Mapping[str, object]
    groups: dict[str, Group]
    offsets: Offsets
    others: OtherGroups

    def copies(self) -> Callable[[], Loaded]:
        """A maker of copies as the state is now. A copy is made sooner than the same state is read again."""
        kept = pickle.dumps(self[-3:], pickle.HIGHEST_PROTOCOL)
        return lambda: Loaded(*self[:-3], *pickle.loads(kept))


def read(
    records: Sequence[object],
    topics: Sequence[object],
    volatile: Mapping[str, object],
    env: Env,
    clock: Clock,
) -> Loaded:
    """Read a state that a coordinator of this configuration and with this clock may become, in the form of
    its `load`. BadInput for what is no such state."""
    there = changed_topics({}, topics, ())
    env = dataclasses.replace(env, topics=there, group_configs=configs_of(volatile))
    replayed = [from_wire(record) for record in records]
    clock_ms = clock_in(volatile)
    simulated = isinstance(clock, SimulatedClock)
    now_ms = clock_ms if simulated and clock_ms is not None else clock.now_ms()
    return Loaded(env, now_ms, replayed, volatile, *loaded(replayed, volatile, env, now_ms))
