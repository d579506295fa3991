"""Rules about the owned partitions and the requests of a client: KIP-848's text and REQUIREMENTS.md, as
properties of the client's view.

A rule reports a breach only where every order of the two channels breaks it (timeline.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from harness.clients.timeline import (
    CALLBACKS,
    FIND,
    HEARTBEAT,
    NOT_COORDINATOR,
    REMOVED,
    RETRIABLE,
    Event,
    Partitions,
)
from harness.clients.view import View
from harness.targets.base import Json


@dataclass
class Rule:
    """A rule: its requirement, its sentence. `see` gets each event with the view before it, and yields the
    faults; `judged` counts the events that the rule had to judge. `needs` are the abilities (`ABILITIES`)
    that a client must have to be judged by the rule."""

    requirement: ClassVar[str] = ""
    sentence: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    judged: int = 0

    @property
    def name(self) -> str:
        return type(self).__name__

    def see(self, event: Event, view: View) -> Iterator[str]:
        """The sentences about the faults of this event."""
        yield from ()


def shown(partitions: frozenset[str] | set[str]) -> str:
    """Partitions in a sentence."""
    return ", ".join(sorted(partitions)) or "nothing"


def heartbeat(event: Event) -> Json | None:
    """The body of a heartbeat request; None for another event."""
    return event.body if event.kind == "request" and event.api == HEARTBEAT else None


def is_full(body: Json) -> bool:
    """H7: tell if the heartbeat has the fields of the subscription and the rebalance time-out."""
    names, regex = body.get("subscribedTopicNames"), body.get("subscribedTopicRegex")
    return (names is not None or regex is not None) and body.get("rebalanceTimeoutMs", -1) > 0


def heartbeat_answer(event: Event, view: View) -> tuple[Json, Json | None] | None:
    """The request and the answer (None: the connection was cut) of a heartbeat."""
    request = view.in_flight.get(event.number) if event.kind == "answer" else None
    if request is None or request.api != HEARTBEAT or request.body is None:
        return None
    return request.body, event.body


def report(event: Event, view: View) -> Partitions | None:
    """The partitions that a heartbeat of a joined member reports as owned; None for another event."""
    body = heartbeat(event)
    return None if body is None or body["memberEpoch"] <= 0 else view.owned(body)


class OwnsOnlyAssigned(Rule):
    requirement = "H7"
    sentence = "A heartbeat reports as owned only partitions that an answer assigned to the member."

    def see(self, event: Event, view: View) -> Iterator[str]:
        owned = report(event, view)
        if owned is None:
            return
        self.judged += 1
        if view.last_connection == event.connection and (extra := owned - view.ever_assigned):
            yield f"reports {shown(extra)}, which no answer assigned"


class IsGivenOnlyAssigned(Rule):
    requirement = "K3"
    sentence = (
        "The callback `assigned` gives only what an answer assigned, and nothing that was given before."
    )
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "callback" or event.name != "assigned":
            return
        self.judged += 1
        if extra := event.partitions - view.ever_assigned - view.before:
            yield f"`assigned` gives {shown(extra)}, which no answer assigned"
        if again := event.partitions & view.given:
            yield f"`assigned` gives {shown(again)} once more, which was never taken back"


class AcknowledgesAfterCallback(Rule):
    requirement = "K2"
    sentence = "A heartbeat leaves out a partition only after the callback that took it back has ended."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        owned = report(event, view)
        if owned is None:
            return
        self.judged += 1
        if early := view.certainly_used - owned:
            yield f"leaves {shown(early)} out of its report while the application uses it"


class ReportsAfterAssigned(Rule):
    requirement = "K3"
    sentence = "A heartbeat reports a new partition only after the callback `assigned` of it has ended."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        body, running = heartbeat(event), view.running
        if body is None or running is None or running.name != "assigned":
            return
        self.judged += 1
        if early := (view.owned(body) or frozenset()) & running.partitions:
            yield f"reports {shown(early)} while `assigned` is still running"


class LeavesAfterCallback(Rule):
    requirement = "K2"
    sentence = "The member leaves only after the callback `revoked` has ended."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is None or body["memberEpoch"] >= 0:
            return
        self.judged += 1
        if view.running is not None and view.running.name == "revoked":
            yield f"leaves while `revoked` of {shown(view.running.partitions)} is running"


class JoinsWithAllFields(Rule):
    requirement = "H7"
    sentence = "A heartbeat with epoch 0 carries all fields, and no partition."

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is None or body["memberEpoch"] != 0:
            return
        self.judged += 1
        if not is_full(body):
            yield "joins without its subscription or its rebalance timeout"
        if owned := view.owned(body):
            yield f"joins and reports {shown(owned)}"
        elif owned is None:
            yield "joins without its list of partitions"
        if body.get("instanceId") != view.setup.instance:
            yield f"joins with the instance id {body.get('instanceId')!r}, not {view.setup.instance!r}"


@dataclass
class RepeatsAllAfterError(Rule):
    requirement = "H7"
    sentence = "The heartbeat after an error, or after an answer that was lost, carries all fields."
    due: bool = False

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is not None:
            if self.due and body["memberEpoch"] >= 0 and not view.giving_up:
                self.judged += 1
                if not is_full(body):
                    yield "repeats only a part of its fields after an error or a lost answer"
            self.due = False
        elif (answered := heartbeat_answer(event, view)) is not None:
            request, answer = answered
            self.due = request["memberEpoch"] >= 0 and (answer is None or answer["errorCode"] in RETRIABLE)
        elif event.kind == "did" and (event.body or {})["do"] == "crash":
            self.due = False


@dataclass
class RejoinsWhenRemoved(Rule):
    requirement = "K1"
    sentence = "A member that is fenced or unknown joins again with epoch 0 and the same member id."
    member_id: str | None = None

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is not None and self.member_id is not None:
            self.judged += 1
            if body["memberEpoch"] > 0:
                yield f"continues with epoch {body['memberEpoch']} after it was removed"
            elif body["memberEpoch"] == 0 and self.member_id and body["memberId"] != self.member_id:
                yield "joins again with another member id"
            self.member_id = None
        elif (answered := heartbeat_answer(event, view)) is not None:
            request, answer = answered
            if answer is not None and answer["errorCode"] in REMOVED and request["memberEpoch"] >= 0:
                self.member_id = None if view.giving_up else request["memberId"]
        elif event.kind == "did" and (event.body or {})["do"] in ("crash", "close"):
            self.member_id = None
        elif event.kind == "settled" and self.member_id is not None and view.up and not view.fatal:
            self.judged += 1
            yield "does not join again after it was removed"


@dataclass
class LosesAllWhenRemoved(Rule):
    requirement = "K1"
    sentence = "A member that is fenced or unknown gives everything up at once, and `lost` says so."
    needs = frozenset({CALLBACKS})
    due: set[str] = field(default_factory=set)

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind == "callback" and event.name == "revoked" and not view.giving_up:
            self.judged += 1
            if self.due and event.partitions <= self.due and event.partitions <= view.assigned:
                yield f"`revoked` takes {shown(event.partitions)}, which is lost since the member was removed"
        if event.kind == "callback" and event.name == "lost":
            self.judged += 1
            self.due -= event.partitions
        elif event.kind == "released":
            self.due -= event.partitions
        elif event.kind == "callback" and event.name == "assigned" and self.due and view.joined:
            self.judged += 1
            yield f"`assigned` comes before `lost` of {shown(self.due)}"
        elif event.kind == "did" and (event.body or {})["do"] in ("crash", "close"):
            self.due = set()
        elif event.kind == "settled" and self.due and view.up:
            yield f"the application never hears that {shown(self.due)} is lost"
            self.due = set()
        elif (answered := heartbeat_answer(event, view)) is not None:
            request, answer = answered
            if answer is not None and answer["errorCode"] in REMOVED and request["memberEpoch"] > 0:
                running = view.running
                taken = running.partitions if running is not None and running.name == "revoked" else set()
                self.due = set() if view.giving_up else view.given - taken


@dataclass
class LeavesWhenClosed(Rule):
    requirement = "H2"
    sentence = "A consumer that closes leaves with epoch -1; a static one with -2 (S1)."
    left: bool = False

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is not None:
            if body["memberEpoch"] < 0:
                self.judged += 1
                self.left = True
                wanted = -1 if view.setup.instance is None else -2
                if view.giving_up and body["memberEpoch"] != wanted:
                    yield f"leaves with epoch {body['memberEpoch']}, not {wanted}"
            elif self.left and body["memberEpoch"] > 0:
                yield f"sends a heartbeat with epoch {body['memberEpoch']} after it has left"
            else:
                self.left = False
        elif event.kind == "closed" and view.joined and not self.left and not view.fatal:
            self.judged += 1
            yield "closes without leaving the group"
        elif event.kind == "did" and (event.body or {})["do"] in ("crash", "start"):
            self.left = False


class NewProcessHasNewId(Rule):
    requirement = "H1"
    sentence = "A new process does not use a member id of an earlier one."

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is None or not view.old_ids or body["memberEpoch"] != 0:
            return
        self.judged += 1
        if body["memberId"] in view.old_ids:
            yield "a new process joins with the member id of the process before"


@dataclass
class FindsCoordinatorAnew(Rule):
    requirement = "H5"
    sentence = "After NOT_COORDINATOR a client finds the coordinator before its next heartbeat."
    due: bool = False

    def see(self, event: Event, view: View) -> Iterator[str]:
        finding = event.kind == "request" and event.api == FIND
        if finding or (event.kind == "did" and (event.body or {})["do"] == "crash"):
            self.due = False
        elif heartbeat(event) is not None and self.due:
            self.due = False
            yield "sends the next heartbeat without finding the coordinator"
        elif (answered := heartbeat_answer(event, view)) is not None:
            answer = answered[1]
            self.due = answer is not None and answer["errorCode"] == NOT_COORDINATOR
            self.judged += self.due


class OneHeartbeatInFlight(Rule):
    requirement = "H7"
    sentence = "A member has one heartbeat in flight; only its leave does not wait."

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is None or body["memberEpoch"] < 0:
            return
        self.judged += 1
        if any(other.api == HEARTBEAT for other in view.in_flight.values()):
            yield "sends a heartbeat before the one before it was answered"
