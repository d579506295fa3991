"""The timer that is due next, without a look at every member of every group.

A queue stands beside the deadlines, which the groups have: each armed timer has an entry that is due no later
than the timer. An entry whose time comes is compared with its timer: the entry of a cancelled timer is
dropped, that of a prolonged timer is queued again. So a heartbeat, which only prolongs its session, costs
nothing here. When the number of entries has doubled, all are compared: entries of groups that are gone would
stay for days, until their time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from coordinator.consumer.model import Group
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

FEW: Final = 1024
"""The number of entries that a queue may have without a comparison of all."""


class Due(NamedTuple):
    """A timer and the time at which it is due, in milliseconds; sorts by time, then by group, timer and
    member."""

    deadline_ms: int
    group_id: str
    timer: str
    member_id: str

    def fired(self) -> Json:
        """The timer in the report that it ran out."""
        return {"timer": self.timer, "group": self.group_id, "member": self.member_id}

    def described(self) -> Json:
        """The timer as it is shown while it is armed."""
        return {**self.fired(), "deadlineMs": self.deadline_ms}


class Timers:
    """The armed timers of all groups by the time at which they are due."""

    def __init__(self) -> None:
        self._queue: list[Due] = []
        self._queued_ms: dict[tuple[str, str, str], int] = {}
        """Each timer's earliest entry in the queue; other entries of the timer are leftovers."""
        self._put_off: dict[tuple[str, str, str], tuple[int, int]] = {}
        """Timers whose records were refused -> the time until which each was delayed, and the length of the
        delay."""
        self._many = FEW
        """The number of entries at which all are compared with their timers."""

    def arm(self, due: Due) -> None:
        """Note that a timer is armed, prolonged, or brought forward."""
        queued_ms = self._queued_ms.get(due[1:])
        if queued_ms is None or due.deadline_ms < queued_ms:
            self._queued_ms[due[1:]] = due.deadline_ms
            heappush(self._queue, due)

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> int:
        """Delay a timer whose records the log refuses; the time at which it runs out again. The delay is
        `first_ms`, then each time twice as long, so that the timer runs out only a few times however long the
        log refuses."""
        deadline_ms, wait_ms = self._put_off.get(due[1:], (None, 0))
        wait_ms = 2 * wait_ms if deadline_ms == due.deadline_ms else first_ms
        self._put_off[due[1:]] = now_ms + wait_ms, wait_ms
        self.arm(due._replace(deadline_ms=now_ms + wait_ms))
        return now_ms + wait_ms

    def is_put_off(self, due: Due) -> bool:
        """True where a timer waits until this deadline, because the log refused its records."""
        deadline_ms, _ = self._put_off.get(due[1:], (None, 0))
        return deadline_ms == due.deadline_ms

    def arm_all(self, groups: Iterable[Group]) -> None:
        """Note every armed timer of these groups."""
        for group in groups:
            for due in armed_timers(group):
                self.arm(due)

    def next_due(self, deadline_ms_of: Callable[[Due], int | None], now_ms: int) -> Due | None:
        """The first timer that is due by `now_ms`; it stays armed. `deadline_ms_of` gives None for a timer
        that is not armed."""
        if len(self._queue) >= self._many:
            self._compare_all(deadline_ms_of)
        while self._queue and self._queue[0].deadline_ms <= now_ms:
            entry = self._queue[0]
            deadline_ms = None
            if self._queued_ms.get(entry[1:]) == entry.deadline_ms:
                deadline_ms = deadline_ms_of(entry)
                if deadline_ms == entry.deadline_ms:
                    return entry
                del self._queued_ms[entry[1:]]
            heappop(self._queue)
            if deadline_ms is not None:
                self.arm(entry._replace(deadline_ms=deadline_ms))
            elif entry[1:] not in self._queued_ms:
                self._put_off.pop(entry[1:], None)
        return None

    def _compare_all(self, deadline_ms_of: Callable[[Due], int | None]) -> None:
        """Keep one entry of each armed timer, and drop all others."""
        deadlines_ms = {entry[1:]: deadline_ms_of(entry) for entry in self._queue}
        self._queued_ms = {timer: ms for timer, ms in deadlines_ms.items() if ms is not None}
        self._queue = [Due(ms, *timer) for timer, ms in self._queued_ms.items()]
        heapify(self._queue)
        self._put_off = {timer: until for timer, until in self._put_off.items() if timer in self._queued_ms}
        self._many = max(FEW, 2 * len(self._queue))


def run_out(
    next_due: Callable[[], Due | None], fire: Callable[[Due], bool], put_off: Callable[[Due], object]
) -> list[Json]:
    """Let each timer run out that `next_due` gives, until there is none; those that ran out. `fire` gives
    False for a timer that was put off.

    A timer whose handler has a fault is put off, so that all others run out at their times all the same; the
    first exception is raised after them. One that cannot be put off is raised at once.
    """
    fired: list[Json] = []
    faults: dict[Due, Exception] = {}
    while (due := next_due()) is not None:
        try:
            if fire(due):
                fired.append(due.fired())
        except Exception as fault:
            if due in faults:
                raise
            faults[due] = fault
            put_off(due)
    if faults:
        raise next(iter(faults.values()))
    return fired


def armed_timers(group: Group) -> list[Due]:
    """All armed timers: the group's own, whose member id is "" or the computing member's, then each
    member's."""
    timers = []
    if group.empty_deadline_ms is not None:
        timers.append(Due(group.empty_deadline_ms, group.id, "group", ""))
    computation = group.computation
    if computation.deadline_ms is not None:
        timers.append(Due(computation.deadline_ms, group.id, "computation", computation.chosen))
    for member_id, member in sorted(group.members.items()):
        timers.append(Due(member.session_deadline_ms, group.id, "session", member_id))
        if member.rebalance_deadline_ms is not None:
            timers.append(Due(member.rebalance_deadline_ms, group.id, "rebalance", member_id))
        if member.join_deadline_ms is not None:
            timers.append(Due(member.join_deadline_ms, group.id, "join", member_id))
        if member.sync_deadline_ms is not None:
            timers.append(Due(member.sync_deadline_ms, group.id, "sync", member_id))
    return timers


def one_of(armed: Iterable[Due], timer: str, group_id: str, member_id: str) -> Due:
    """The armed timer with this name and member; BadInput, with the list of armed ones, where it is not
    armed."""
    armed = list(armed)
    for due in armed:
        if (due.timer, due.member_id) == (timer, member_id):
            return due
    listed = ", ".join(f"{other.timer} {other.member_id}".strip() for other in armed) or "none"
    raise BadInput(f"timer {timer!r} of {member_id!r} in group {group_id!r} is not armed; armed: {listed}")


def deadline_ms(groups: Mapping[str, Group], due: Due) -> int | None:
    """The time at which a timer of a consumer group is due; None where it is not armed."""
    group = groups.get(due.group_id)
    if group is None:
        return None
    if due.timer == "group":
        return group.empty_deadline_ms
    if due.timer == "computation":
        return group.computation.deadline_ms if group.computation.chosen == due.member_id else None
    member = group.members.get(due.member_id)
    if member is None:
        return None
    return member.deadline_ms(due.timer)
