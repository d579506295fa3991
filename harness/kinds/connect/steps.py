"""One handler for each action of a Connect group: the call that it sends to a target."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeAlias

from harness.kinds.actions import registering
from harness.kinds.connect import wire as connect
from harness.kinds.connect.state import ConnectState
from harness.kinds.consumer.steps import HANDLERS
from harness.kinds.features.admin import Handler
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, Restart, SendRequest
from harness.targets.base import Json

ConnectHandler: TypeAlias = Callable[[ConnectState, ConnectState], Call]
"""A function from the states before and after a step to its call; ValueError, in words, if they contradict
the call."""

CONNECT_HANDLERS: dict[str, ConnectHandler] = {}
"""The actions that call the target."""

CONNECT_OTHERS: Final = frozenset(
    {
        "ReceiveResponse",
        "FinishRevocation",
        "Abandon",
        "DelayEnds",  # workers
        "Crash",
        "Start",  # their processes
        "LoseRequest",
        "LoseResponse",  # the network
    }
)
"""Actions that the coordinator never sees; group, work and connectors must not change."""


action: Final = registering(CONNECT_HANDLERS)


def _request(after: ConnectState, api: str, body: Json) -> Call:
    if after.step.response.error not in wire.ERROR_CODES:
        raise ValueError(f"the response has the error {after.step.response.error!r}, which has no code")
    return SendRequest(api, wire.client(after.step.member), body)


def _heartbeat(before: ConnectState, after: ConnectState) -> Call:
    """H2, W4: a heartbeat of any epoch; -1 leaves, and no worker may send -2."""
    return _request(after, connect.HEARTBEAT, connect.heartbeat(after))


@action
def join(before: ConnectState, after: ConnectState) -> Call:
    """H1, W1: epoch 0, of a worker that the group does not have."""
    if after.step.member in before.group.members:
        raise ValueError(f"{after.step.member} joins, but is in the group already")
    return _heartbeat(before, after)


@action
def rejoin(before: ConnectState, after: ConnectState) -> Call:
    """H1: epoch 0, of a worker that has had work."""
    if after.step.member not in before.group.members:
        raise ValueError(f"{after.step.member} rejoins, but is not in the group")
    return _heartbeat(before, after)


@action
def prepare_assignment(before: ConnectState, after: ConnectState) -> Call:
    """W1: a worker requests the input of its assignor."""
    return _request(after, connect.PREPARE, connect.prepare(after))


@action
def install_assignment(before: ConnectState, after: ConnectState) -> Call:
    """W4: a worker gives the group a target."""
    return _request(after, connect.INSTALL, connect.install(after))


@action
def assignment_timeout(before: ConnectState, after: ConnectState) -> Call:
    """W1: no target in time; another worker is chosen."""
    if not before.due or before.work.chosen != after.step.member:
        raise ValueError(f"{after.step.member} runs out of time, but is not to compute a target")
    return FireTimer("assignment", after.step.member)


@action
def fail_over(before: ConnectState, after: ConnectState) -> Call:
    """P2: a new coordinator loads the log."""
    if before.key[1] != after.key[1]:
        raise ValueError("the connectors change in a fail-over that names none")
    return Restart(None)


def _shared(handler: Handler) -> ConnectHandler:
    """The handler of the same action of a consumer group, with connectors as topics."""

    @wraps(handler)
    def shared(before: ConnectState, after: ConnectState) -> Call:
        return handler(before.shared, after.shared)

    return shared


CONNECT_HANDLERS |= dict.fromkeys(("Heartbeat", "Leave", "LeaveTemporarily"), _heartbeat)
CONNECT_HANDLERS |= {
    name: _shared(HANDLERS[name])
    for name in (
        *("SessionTimeout", "RebalanceTimeout", "DeleteGroup"),
        *("CreateTopic", "AddPartitions", "DeleteTopic"),
    )
}
