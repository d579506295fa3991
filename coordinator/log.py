"""The log of records and the one path on which a step becomes state: append, replay, volatile changes."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.model import Group
from coordinator.records import Record, replay
from coordinator.step import Result, Timer, Volatile


class Log:
    """Records in the order in which they were written. The records of one step are one batch (P4)."""

    def __init__(self, records: Sequence[Record] = (), batch_ends: Sequence[int] | None = None) -> None:
        """`batch_ends` are offsets; without them each record is a batch."""
        self.records: list[Record] = list(records)
        self._batch_ends = list(range(1, len(records) + 1) if batch_ends is None else batch_ends)
        self.failing = False
        """Refuse every append, as a log without its quorum does."""

    def append(self, records: Sequence[Record]) -> bool:
        """Take one batch, whole or not at all; False says not at all."""
        if records:
            if self.failing:
                return False
            self.records.extend(records)
            self._batch_ends.append(len(self.records))
        return True

    def kept(self, count: int) -> Log:
        """The whole batches among the first `count` records: what is left when the rest is lost."""
        ends = [end for end in self._batch_ends if end <= count]
        return Log(self.records[: ends[-1] if ends else 0], ends)


def commit(log: Log, groups: dict[str, Group], result: Result) -> bool:
    """Make a step durable and then visible. False: the log refused it, and nothing has changed (P3)."""
    if not log.append(result.records):
        return False
    for record in result.records:
        replay(groups, record)
    group = groups.get(result.group_id)
    if group is None:
        return True
    for change in result.volatile:
        _apply_volatile(group, change)
    for timer in result.timers:
        set_timer(group, timer)
    if result.target_computed_ms is not None:
        group.target_computed_ms = result.target_computed_ms
    return True


def _apply_volatile(group: Group, change: Volatile) -> None:
    member = group.members[change.member_id]
    member.previous_epoch = change.previous_epoch
    member.revoking = change.revoking
    member.acknowledged = change.acknowledged
    member.assigned = member.held - change.revoking if change.revoking else member.held


def set_timer(group: Group, timer: Timer) -> None:
    """Arm or cancel one timer."""
    if timer.name == "group":
        group.empty_deadline_ms = timer.deadline_ms
    elif timer.name == "rebalance":
        group.members[timer.member_id].rebalance_deadline_ms = timer.deadline_ms
    elif timer.deadline_ms is not None:
        group.members[timer.member_id].session_deadline_ms = timer.deadline_ms
