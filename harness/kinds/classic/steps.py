"""One handler for each action of a classic group: the call that it sends to a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from harness.kinds.actions import registering
from harness.kinds.classic import wire as classic
from harness.kinds.classic.expect import armed
from harness.kinds.classic.state import ClassicState
from harness.kinds.features import commits
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, Restart, SendRequest
from harness.targets.base import Json

ClassicHandler: TypeAlias = Callable[[ClassicState, ClassicState], Call]
"""A function from the states before and after a step to its call; ValueError, in words, if they contradict
the call."""

CLASSIC_HANDLERS: Final[dict[str, ClassicHandler]] = {}
"""The actions that call the target."""

CLASSIC_OTHERS: Final = frozenset(
    {
        "ReceiveResponse",
        "NoticeTopics",
        "ChangeSubscription",
        "AssignmentFails",  # members
        "Crash",
        "Start",  # client processes
        "LoseResponse",  # the network
        "AddPartitions",
        "DeleteTopic",  # topics, of which the coordinator of a classic group knows nothing
    }
)
"""Actions that the coordinator never sees; the group must not change."""


action: Final = registering(CLASSIC_HANDLERS)


def _request(after: ClassicState, api: str, body: Json) -> Call:
    request = after.step.request
    if request.member not in ("", after.step.member):
        raise ValueError(f"the step is of {after.step.member!r}, its request of {request.member!r}")
    for response in (after.step.response, *(answer for _, answer in after.step.completed)):
        if response.error and response.error not in wire.ERROR_CODES:
            raise ValueError(f"the response has the error {response.error!r}, which has no code")
    return SendRequest(api, wire.client(after.step.member), body)


def _fire(before: ClassicState, timer: str, member: str) -> Call:
    if (timer, member) not in armed(before.group):
        raise ValueError(f"the timer {timer!r} of {member!r} runs out, but is not armed")
    return FireTimer(timer, member)


@action
def join_group(before: ClassicState, after: ClassicState) -> Call:
    """C1: a member joins, with its member id or without one."""
    return _request(after, classic.JOIN, classic.join(after.step.request))


@action
def sync_group(before: ClassicState, after: ClassicState) -> Call:
    """C1: a member requests its part of the assignment; a leader sends the assignment."""
    return _request(after, classic.SYNC, classic.sync(after.step.request))


@action
def classic_heartbeat(before: ClassicState, after: ClassicState) -> Call:
    """C1: a member asks if it must rejoin."""
    return _request(after, classic.HEARTBEAT, classic.heartbeat(after.step.request))


@action
def leave_group(before: ClassicState, after: ClassicState) -> Call:
    """C1: a member leaves, or is named by its instance id."""
    return _request(after, classic.LEAVE, classic.leave(after.step.request))


@action
def offset_commit(before: ClassicState, after: ClassicState) -> Call:
    """O2: a member of the generation commits, or a client that is no member."""
    return _request(after, wire.COMMIT, commits.offset_commit(after.step))


@action
def session_timeout(before: ClassicState, after: ClassicState) -> Call:
    """H8: the session of a member that does not wait, of a new member, or of an id that has not joined."""
    return _fire(before, "session", after.step.member)


@action
def join_timeout(before: ClassicState, after: ClassicState) -> Call:
    """C1: the barrier's time-out, or the initial delay."""
    return _fire(before, "join", "")


@action
def sync_timeout(before: ClassicState, after: ClassicState) -> Call:
    """C1: a member has not sent its SyncGroup in time."""
    return _fire(before, "sync", "")


@action
def delete_group(before: ClassicState, after: ClassicState) -> Call:
    """E5: the group has been empty for the configured time."""
    return _fire(before, "group", "")


@action
def fail_over(before: ClassicState, after: ClassicState) -> Call:
    """C2, P2: a new coordinator loads the log; requests that waited are lost."""
    if after.step.completed:
        raise ValueError("the coordinator fails, but answers requests that waited")
    return Restart(None)
