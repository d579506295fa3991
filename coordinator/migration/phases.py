"""Where a member of a consumer group that uses the classic protocol is in its rebalance (M2, M3).

    PreparingRebalance   it must rejoin: its Heartbeat says so       until its join timer runs out
    CompletingRebalance  it has rejoined, and owes its SyncGroup     until its sync timer runs out
    Stable               neither

So the armed timer is the state. KIP-848 has every member rebalanced whenever a target is installed; one that
only waits for a partition, once all that it waits for are free.
"""

from __future__ import annotations

from typing import Final, Literal

from coordinator.consumer.model import NO_TARGET, Group, Member, held_by_others
from coordinator.core.step import Timer

Phase = Literal["PreparingRebalance", "CompletingRebalance", "Stable"]

CLASSIC_TIMERS: Final = ("join", "sync")
"""The timers of a member that uses the classic protocol, beside its session and its revocation."""


def phase(member: Member) -> Phase:
    """The member's state in KIP-848's words."""
    if member.join_deadline_ms is not None:
        return "PreparingRebalance"
    return "Stable" if member.sync_deadline_ms is None else "CompletingRebalance"


def must_rejoin(group: Group, member_id: str) -> bool:
    """MustRejoin (M3): has a target been installed that the member does not know, must it give a partition
    up, or are all partitions free that it waits for?

    A member that has rejoined first collects the assignment of its JoinGroup, unless a target has been
    installed meanwhile.
    """
    member = group.members[member_id]
    behind = member.epoch < group.assignment_epoch
    if member.sync_deadline_ms is not None:
        return behind and not member.revoking
    target = group.targets.get(member_id, NO_TARGET).partitions
    if behind or member.assigned - target:
        return True
    waits_for = target - member.assigned
    return bool(waits_for and not held_by_others(group, waits_for, (member_id,)))


def rejoined(group: Group, member_id: str) -> list[Timer]:
    """M2: cancel the timers that a member no longer needs: it used the classic protocol and has rejoined, or
    uses the consumer protocol from now on."""
    member = group.members.get(member_id)
    if member is None or member.metadata.classic is None:
        return []
    return [Timer(name, member_id, None) for name in CLASSIC_TIMERS]


def follow(group: Group, now_ms: int) -> list[Timer]:
    """FollowPhases (M2): the rebalance time-out of every member that must rejoin starts now."""
    timers = []
    for member_id in sorted(group.classic):
        member = group.members[member_id]
        if member.join_deadline_ms is None and must_rejoin(group, member_id):
            timers.append(Timer("join", member_id, now_ms + member.metadata.rebalance_timeout_ms))
            timers.append(Timer("sync", member_id, None))
    return timers
