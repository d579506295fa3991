"""Calls: the operation that a step sends to a target, prepared when its trace is decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConformError
from harness.replay import wire
from harness.replay.features import used
from harness.targets.base import Answer, Json, Target, refusing


class Call(ABC):
    """One operation of a target, prepared."""

    __slots__ = ()

    @abstractmethod
    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Do the operation, and observe the group if the call has one; `end` is the number of records in the
        target's log before it, None if its log cannot be read."""

    @abstractmethod
    def needs(self) -> frozenset[str]:
        """The API, the features of a request, or the operations, that the target must have."""

    def fired(self) -> Sequence[Json]:
        """The timers that the call makes run out."""
        return ()

    @abstractmethod
    def operation(self) -> Json:
        """The call as a line of the line protocol, for reports."""


@dataclass(frozen=True, slots=True)
class SendRequest(Call):
    """A request, of the version that `wire.VERSIONS` gives."""

    api: str
    client: Json
    body: Json

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Send it."""
        return target.request(self.api, wire.VERSIONS[self.api], self.client, self.body, observe)

    def needs(self) -> frozenset[str]:
        """The API of the request, and the features that the request uses. Members that offer assignors (A1)
        also need the APIs to run an assignor."""
        computes = {wire.PREPARE} if self.body.get("clientAssignors") else set()
        return frozenset({self.api, *computes, *used(self.body)})

    def operation(self) -> Json:
        """The operation `request`."""
        return {
            "op": "request",
            "api": self.api,
            "version": wire.VERSIONS[self.api],
            "client": self.client,
            "body": self.body,
        }


@dataclass(frozen=True, slots=True)
class FireTimer(Call):
    """One timer runs out."""

    timer: str
    member: str

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Fire it."""
        return target.fire(self.timer, wire.GROUP, self.member, observe)

    def needs(self) -> frozenset[str]:
        """`fire`."""
        return frozenset({"fire"})

    def fired(self) -> Sequence[Json]:
        """The timer that runs out."""
        return [{"timer": self.timer, "group": wire.GROUP, "member": self.member}]

    def operation(self) -> Json:
        """The operation `fire`."""
        return {"op": "fire", "timer": self.timer, "group": wire.GROUP, "member": self.member}


@dataclass(frozen=True, slots=True)
class ChangeTopics(Call):
    """A topic is created, changed or deleted."""

    upsert: tuple[Json, ...]
    delete: tuple[str, ...]

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Send the change to the target."""
        return target.topics(self.upsert, self.delete, observe)

    def needs(self) -> frozenset[str]:
        """`topics`."""
        return frozenset({"topics"})

    def operation(self) -> Json:
        """The operation `topics`."""
        return {"op": "topics", "upsert": list(self.upsert), "delete": list(self.delete)}


@dataclass(frozen=True, slots=True)
class Restart(Call):
    """A new coordinator loads the log (P2), perhaps after a change of the topics.

    The old coordinator gets the change first, but its records about it are lost, so the new one must notice
    the change by itself. The answer has the records of the new one.
    """

    change: ChangeTopics | None

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Let the new coordinator take over the first `end` records, or all."""
        answer = target.restart(end)
        group = None if observe is None else target.describe(observe)
        return answer._replace(group=group, records=() if end is None else target.records(end))

    def needs(self) -> frozenset[str]:
        """`restart`, and for a lost change the number of kept records."""
        return frozenset({"restart"} if self.change is None else {"restart", "topics", "records"})

    def operation(self) -> Json:
        """The operation `restart`, with the change before it."""
        return {"op": "restart", "after": None if self.change is None else self.change.operation()}


@dataclass(frozen=True, slots=True)
class SetCoordinator(Call):
    """The coordinator loads, has moved, is unavailable, or is active again (H5)."""

    state: str

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Set the state; the target's answer has the records of a coordinator that is active again (P2)."""
        return refusing(target, "coordinator").coordinator(self.state, observe)

    def needs(self) -> frozenset[str]:
        """`coordinator`."""
        return frozenset({"coordinator"})

    def operation(self) -> Json:
        """The operation `coordinator`."""
        return {"op": "coordinator", "state": self.state}


@dataclass(frozen=True, slots=True)
class DenyRights(Call):
    """The operations that no client may do from now on (D5)."""

    denied: tuple[str, ...]

    def send(self, target: Target, end: int | None, observe: str | None = wire.GROUP) -> Answer:
        """Send them to the target."""
        return refusing(target, "rights").rights(self.denied, observe)

    def needs(self) -> frozenset[str]:
        """`rights`."""
        return frozenset({"rights"})

    def operation(self) -> Json:
        """The operation `rights`."""
        return {"op": "rights", "denied": list(self.denied)}


def call_of(operation: Json) -> Call:
    """The call with this `operation`. ConformError for an unknown operation."""
    match operation:
        case {"op": "request", "api": api, "client": client, "body": body}:
            return SendRequest(api, client, body)
        case {"op": "fire", "timer": timer, "member": member}:
            return FireTimer(timer, member)
        case {"op": "topics", "upsert": upsert, "delete": delete}:
            return ChangeTopics(tuple(upsert), tuple(delete))
        case {"op": "restart", "after": None}:
            return Restart(None)
        case {"op": "restart", "after": {"upsert": upsert, "delete": delete}}:
            return Restart(ChangeTopics(tuple(upsert), tuple(delete)))
        case {"op": "coordinator", "state": state}:
            return SetCoordinator(state)
        case {"op": "rights", "denied": denied}:
            return DenyRights(tuple(denied))
    raise ConformError(f"There is no call for the operation {operation.get('op')!r}.")
