"""The armed timers of a classic group (C1, H8, E5). They follow from its state; only their deadlines are kept
here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from coordinator.classic.model import ClassicGroup

Deadlines: TypeAlias = dict[tuple[str, str], int]
"""(timer, member id or "") -> when it runs out, in milliseconds of the coordinator's clock."""


def armed(group: ClassicGroup) -> list[tuple[str, str]]:
    """(timer, member id): first the group's own timer, whose member id is "", then each session.

    "group" deletes the group, "join" opens the barrier, "sync" removes members that have not sent a
    SyncGroup.
    """
    timers = []
    if group.state == "Empty":
        timers.append(("group", ""))
    if group.state == "PreparingRebalance":
        timers.append(("join", ""))
    if any(member.owes_sync for member in group.members.values()):
        timers.append(("sync", ""))
    sessions = {name for name, member in group.members.items() if member.fresh or not member.waits}
    return timers + [("session", name) for name in sorted(sessions | group.pending)]


def followed(group: ClassicGroup, before: Deadlines, anew: Mapping[tuple[str, str], int]) -> Deadlines:
    """The deadlines after a step that starts some timers `anew`; the other timers keep their deadlines or
    end."""
    return {timer: anew.get(timer, before.get(timer, 0)) for timer in armed(group)}


def restarted(deadlines: Deadlines, anew: Mapping[tuple[str, str], int]) -> Deadlines:
    """Deadlines after a step that did not change its group, so that the same timers are armed.

    A heartbeat is such a step. Its cost does not depend on the size of the group: `deadlines` are changed in
    place.
    """
    for timer, deadline_ms in anew.items():
        if timer in deadlines:
            deadlines[timer] = deadline_ms
    return deadlines


def started(group: ClassicGroup, now_ms: int, retention_ms: int) -> Deadlines:
    """Every timer at full length: a new coordinator does not know how long the timers have run (P2)."""

    def length_ms(timer: str, name: str) -> int:
        if timer == "group":
            return retention_ms
        if timer in ("join", "sync"):
            return group.rebalance_timeout_ms()
        return group.members[name].session_timeout_ms

    return {(timer, name): now_ms + length_ms(timer, name) for timer, name in armed(group)}
