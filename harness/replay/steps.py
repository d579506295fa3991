"""One handler per action of the spec: what a target is sent for it.

A handler turns a step into a `Call`, once, when a trace is decoded; replaying sends prepared calls. Actions
of members and the network in closed models do not reach the coordinator and are listed apart. A name in
neither list is an error: a spec that grows must tell the harness what its actions mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from harness.errors import ConformError
from harness.files import read_text
from harness.replay import wire
from harness.replay.state import SpecState
from harness.targets.base import Answer, Json, Target


class Call(Protocol):
    """One operation of a target, prepared."""

    def send(self, target: Target) -> Answer:
        """Do it, and observe the group."""

    def fired(self) -> Sequence[Json]:
        """The timers that it makes run out."""

    def operation(self) -> Json:
        """The same as a line of the line protocol, for reports."""


@dataclass(frozen=True, slots=True)
class SendRequest:
    """A ConsumerGroupHeartbeat."""

    client: Json
    body: Json

    def send(self, target: Target) -> Answer:
        """Send it."""
        return target.request(wire.API, wire.VERSION, self.client, self.body, wire.GROUP)

    def fired(self) -> Sequence[Json]:
        """None."""
        return ()

    def operation(self) -> Json:
        """The operation `request`."""
        return {
            "op": "request",
            "api": wire.API,
            "version": wire.VERSION,
            "client": self.client,
            "body": self.body,
        }


@dataclass(frozen=True, slots=True)
class FireTimer:
    """One timer runs out."""

    timer: str
    member: str

    def send(self, target: Target) -> Answer:
        """Fire it."""
        return target.fire(self.timer, wire.GROUP, self.member, wire.GROUP)

    def fired(self) -> Sequence[Json]:
        """This timer."""
        return [{"timer": self.timer, "group": wire.GROUP, "member": self.member}]

    def operation(self) -> Json:
        """The operation `fire`."""
        return {"op": "fire", "timer": self.timer, "group": wire.GROUP, "member": self.member}


@dataclass(frozen=True, slots=True)
class ChangeTopics:
    """A topic is created, changed or deleted."""

    upsert: tuple[Json, ...]
    delete: tuple[str, ...]

    def send(self, target: Target) -> Answer:
        """Tell the target of it."""
        return target.topics(self.upsert, self.delete, wire.GROUP)

    def fired(self) -> Sequence[Json]:
        """None."""
        return ()

    def operation(self) -> Json:
        """The operation `topics`."""
        return {"op": "topics", "upsert": list(self.upsert), "delete": list(self.delete)}


Handler: TypeAlias = Callable[[SpecState, SpecState], Call]
"""From the states before and after a step to its call; ValueError, in words, if they contradict it."""

HANDLERS: Final[dict[str, Handler]] = {}
"""The actions that call the target."""

OTHER_ACTIONS: Final = frozenset(
    {
        "ReceiveResponse",
        "FinishRevocation",
        "ChangeSubscription",  # members
        "Crash",
        "CrashSending",
        "Start",  # client processes
        "LoseRequest",
        "LoseResponse",  # the network
    }
)
"""Actions of closed models that the coordinator never sees; the group and the topics must not change."""

INITIAL: Final = "Init"
"""What the first state of a behaviour is called; the target is loaded with it."""


def action(handler: Handler) -> Handler:
    """Register a handler under the name of its action: SessionTimeout is handled by session_timeout."""
    HANDLERS["".join(part.capitalize() for part in handler.__name__.split("_"))] = handler
    return handler


def _request(after: SpecState, expected: bool, epoch: str) -> Call:
    request = after.step.request
    if not expected:
        raise ValueError(f"the member epoch of a {after.step.action} is {epoch}, not {request.epoch}")
    if request.member not in ("", after.step.member):
        raise ValueError(f"the step is of {after.step.member!r}, its request of {request.member!r}")
    if after.step.response.error not in wire.ERROR_CODES:
        raise ValueError(f"the response has the error {after.step.response.error!r}, which has no code")
    return SendRequest(wire.client(after.step.member), wire.heartbeat(request))


@action
def join(before: SpecState, after: SpecState) -> Call:
    """H1: epoch 0, of a member that the group does not have."""
    if after.step.member in before.group.members:
        raise ValueError(f"{after.step.member} joins, but is in the group already")
    return _request(after, after.step.request.epoch == 0, "0")


@action
def rejoin(before: SpecState, after: SpecState) -> Call:
    """H1: epoch 0, of a member that the group has."""
    if after.step.member not in before.group.members:
        raise ValueError(f"{after.step.member} rejoins, but is not in the group")
    return _request(after, after.step.request.epoch == 0, "0")


@action
def heartbeat(before: SpecState, after: SpecState) -> Call:
    """A heartbeat of whatever epoch, whether the member is in the group or not."""
    return _request(after, after.step.request.epoch > 0, "above 0")


@action
def leave(before: SpecState, after: SpecState) -> Call:
    """H2: epoch -1."""
    return _request(after, after.step.request.epoch == -1, "-1")


@action
def session_timeout(before: SpecState, after: SpecState) -> Call:
    """H8: no heartbeat for the session time-out."""
    if after.step.member not in before.group.members:
        raise ValueError(f"the session of {after.step.member} runs out, but it is not in the group")
    return FireTimer("session", after.step.member)


@action
def rebalance_timeout(before: SpecState, after: SpecState) -> Call:
    """R4: the revocation was not acknowledged in time."""
    member = before.group.members.get(after.step.member)
    if member is None or not member.revoking:
        raise ValueError(f"the revocation of {after.step.member} runs out, but it revokes nothing")
    return FireTimer("rebalance", after.step.member)


@action
def delete_group(before: SpecState, after: SpecState) -> Call:
    """E5: the group has been empty long enough."""
    if not before.group.exists or before.group.members:
        raise ValueError("the group is deleted, but it is not empty")
    return FireTimer("group", "")


def _upsert(after: SpecState, right: bool, rule: str) -> Call:
    name, partitions = after.step.topic, after.step.partitions
    if not right or after.topics.get(name) != partitions:
        raise ValueError(f"{rule}, but {name!r} has {after.topics.get(name, 0)} partitions after the step")
    return ChangeTopics((wire.topic(name, partitions),), ())


@action
def create_topic(before: SpecState, after: SpecState) -> Call:
    """E1: a topic appears; one that was deleted does not come back (T2)."""
    right = before.topics.get(after.step.topic, 0) == 0 < after.step.partitions
    return _upsert(after, right, f"a topic with {after.step.partitions} partitions is created")


@action
def add_partitions(before: SpecState, after: SpecState) -> Call:
    """E1: a topic grows; `partitions` is how many it has then."""
    right = 0 < before.topics.get(after.step.topic, 0) < after.step.partitions
    return _upsert(after, right, f"a topic grows to {after.step.partitions} partitions")


@action
def delete_topic(before: SpecState, after: SpecState) -> Call:
    """E1: a topic is deleted, for good."""
    if before.topics.get(after.step.topic, 0) <= 0 or after.topics.get(after.step.topic, 0) > 0:
        raise ValueError(f"topic {after.step.topic!r} is deleted, but was not there or is still there")
    return ChangeTopics((), (after.step.topic,))


_LITERAL: Final = re.compile(r'"([A-Z]\w*)"')
_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_ACTION_NAMES: Final = re.compile(
    r'action\s*\|->\s*"(\w+)"|\b(?:\w*Step|ChangeTopic|GiveUp|ProcessEnds)\(\s*"(\w+)"'
)
_ACTION_OF: Final = re.compile(r"^ActionOf\([^)]*\)\s*==(.*?)(?=^\S)", re.DOTALL | re.MULTILINE)


def actions_of_spec(folder: Path) -> frozenset[str]:
    """The action names that the modules of a folder write into `step.action`, as text: no module is run."""
    names: set[str] = set()
    modules = sorted(folder.glob("*.tla"))
    if not modules:
        raise ConformError(f"There is no TLA+ module in {folder}.")
    for module in modules:
        text = _COMMENT.sub("", read_text(module, "The module"))
        names.update(first or second for first, second in _ACTION_NAMES.findall(text))
        for body in _ACTION_OF.findall(text):
            names.update(_LITERAL.findall(body))
    return frozenset(names)
