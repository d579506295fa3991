"""Requests to a target for each action of a group that migrates: those for the same action of its present
kind of group (see `harness.kinds.consumer.steps`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.kinds.classic.steps import CLASSIC_HANDLERS
from harness.kinds.consumer.steps import HANDLERS
from harness.kinds.migration.state import MigrationState
from harness.replay.calls import Call, FireTimer

TRANSLATED: Final = frozenset({"JoinGroup", "SyncGroup", "ClassicHeartbeat", "LeaveGroup"})
"""The requests of the classic protocol, for any kind of group (M2)."""
OFFSETS: Final = frozenset({"OffsetCommit", "OffsetFetch"})
"""Actions of neither protocol (O2)."""
INSTALL: Final = "InstallAssignment"
WAITS_FOR: Final = {"join": ("prepare", "both"), "sync": ("complete", "both")}
"""The timers of a member of the classic protocol in a consumer group, and the phases that have them."""
_EXPIRED: Final = {"JoinTimeout": "join", "SyncTimeout": "sync"}
"""Actions of such a member, by the timer that runs out."""
MIGRATION_ACTIONS: Final = frozenset(
    {
        *TRANSLATED,
        *OFFSETS,
        *("PrepareAssignment", INSTALL),
        *_EXPIRED,
        *("Join", "Rejoin", "Return", "Heartbeat", "Leave"),
        *("LeaveTemporarily", "AddPartitions"),
        *("SessionTimeout", "RebalanceTimeout", "FailOver", "DeleteGroup"),
    }
)
"""The actions that call the target."""
MIGRATION_OTHERS: Final = frozenset(
    {
        "ReceiveResponse",
        "FinishRevocation",
        "GiveUp",  # members
        "Crash",
        "Start",  # client processes
        "LoseResponse",  # the network
    }
)
"""Actions that the coordinator never sees; the group must not change."""


def call_of(before: MigrationState, after: MigrationState) -> Call:
    """The call of a step. ValueError, in words, if its states contradict it."""
    action, member = after.step.action, after.step.member
    if action in TRANSLATED or (before.is_classic and action in CLASSIC_HANDLERS.keys() - OFFSETS):
        return CLASSIC_HANDLERS[action](before.old, after.old)
    if action in _EXPIRED:
        timer = _EXPIRED[action]
        one = before.group.members.get(member)
        if one is None or one.classic is None or one.classic.phase not in WAITS_FOR[timer]:
            raise ValueError(f"the timer {timer!r} of {member!r} runs out, but is not armed")
        return FireTimer(timer, member)
    group = before.group_of_step(after)
    holder = group.members.get(group.holder(after.step.request.instance) or "")
    if action == "Return" and holder is not None and holder.classic:  # the member is not away
        action = "Join"
    return HANDLERS[action](replace(before.shared, group=group), after.shared)
