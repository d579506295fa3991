"""One handler per action of a Connect group: what a target is sent for it (see `harness.replay.steps`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from harness.kinds.connect import wire as connect
from harness.kinds.connect.state import ConnectState
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, Restart, SendRequest
from harness.replay.steps import add_partitions as topic_grows
from harness.replay.steps import create_topic as topic_appears
from harness.replay.steps import delete_topic as topic_goes
from harness.targets.base import Json

ConnectHandler: TypeAlias = Callable[[ConnectState, ConnectState], Call]
"""From the states before and after a step to its call; ValueError, in words, if they contradict it."""

H = TypeVar("H", bound=ConnectHandler)

CONNECT_HANDLERS: Final[dict[str, ConnectHandler]] = {}
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


def action(handler: H) -> H:
    """Register a handler under the name of its action: PrepareAssignment is handled by prepare_assignment."""
    CONNECT_HANDLERS["".join(part.capitalize() for part in handler.__name__.split("_"))] = handler
    return handler


def _request(after: ConnectState, api: str, body: Json) -> Call:
    if after.step.response.error not in wire.ERROR_CODES:
        raise ValueError(f"the response has the error {after.step.response.error!r}, which has no code")
    return SendRequest(api, wire.client(after.step.member), body)


def _heartbeat(after: ConnectState) -> Call:
    return _request(after, connect.HEARTBEAT, connect.heartbeat(after))


@action
def join(before: ConnectState, after: ConnectState) -> Call:
    """H1, W1: epoch 0, of a worker that the group does not have."""
    if after.step.member in before.group.members:
        raise ValueError(f"{after.step.member} joins, but is in the group already")
    return _heartbeat(after)


@action
def rejoin(before: ConnectState, after: ConnectState) -> Call:
    """H1: epoch 0, of a worker that has had work."""
    if after.step.member not in before.group.members:
        raise ValueError(f"{after.step.member} rejoins, but is not in the group")
    return _heartbeat(after)


@action
def heartbeat(before: ConnectState, after: ConnectState) -> Call:
    """A heartbeat of whatever epoch; of epoch 0 from a worker that waits for its first target."""
    return _heartbeat(after)


@action
def leave(before: ConnectState, after: ConnectState) -> Call:
    """H2: epoch -1."""
    return _heartbeat(after)


@action
def leave_temporarily(before: ConnectState, after: ConnectState) -> Call:
    """W4: epoch -2, which no worker may send."""
    return _heartbeat(after)


@action
def prepare_assignment(before: ConnectState, after: ConnectState) -> Call:
    """W1: a worker asks for what it computes a target from."""
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
def session_timeout(before: ConnectState, after: ConnectState) -> Call:
    """H8: no heartbeat for the session time-out."""
    if after.step.member not in before.group.members:
        raise ValueError(f"the session of {after.step.member} runs out, but it is not in the group")
    return FireTimer("session", after.step.member)


@action
def rebalance_timeout(before: ConnectState, after: ConnectState) -> Call:
    """R4: the revocation was not acknowledged in time."""
    member = before.group.members.get(after.step.member)
    if member is None or not member.revoking:
        raise ValueError(f"the revocation of {after.step.member} runs out, but it revokes nothing")
    return FireTimer("rebalance", after.step.member)


@action
def create_topic(before: ConnectState, after: ConnectState) -> Call:
    """E1: a connector appears."""
    return topic_appears(before.shared, after.shared)


@action
def add_partitions(before: ConnectState, after: ConnectState) -> Call:
    """E1: a connector has more tasks."""
    return topic_grows(before.shared, after.shared)


@action
def delete_topic(before: ConnectState, after: ConnectState) -> Call:
    """E1: a connector is removed."""
    return topic_goes(before.shared, after.shared)


@action
def delete_group(before: ConnectState, after: ConnectState) -> Call:
    """E5: the group has been empty long enough."""
    if not before.group.exists or before.group.members:
        raise ValueError("the group is deleted, but it is not empty")
    return FireTimer("group", "")


@action
def fail_over(before: ConnectState, after: ConnectState) -> Call:
    """P2: a new coordinator loads the log."""
    if before.key[1] != after.key[1]:
        raise ValueError("the connectors change in a fail-over that names none")
    return Restart(None)
