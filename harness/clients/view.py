"""The state of a client from event to event: the assignments in its answers, the partitions in use, the last
report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.clients.timeline import HEARTBEAT, NONE, REMOVED, Event, Partitions, Setup, partitions_of
from harness.targets.base import Json

NOTHING: Partitions = frozenset()


@dataclass(slots=True)
class View:
    """The state of one client before an event; `update` takes the event in. `names` is topic id -> name."""

    setup: Setup
    names: Mapping[str, str]
    process: int = 1
    ids: set[str] = field(default_factory=set)
    """Member ids of this process."""
    old_ids: set[str] = field(default_factory=set)
    """Member ids of earlier processes."""
    epochs: set[int] = field(default_factory=set)
    """The member epochs in answers since the last join was received."""
    joined: bool = False
    """Tell if a heartbeat was answered with an epoch above 0, and no event since has ended the membership."""
    assigned: Partitions = NOTHING
    """The last assignment in an answer."""
    ever_assigned: set[str] = field(default_factory=set)
    """Partitions of all answers since the last join, without those that were acknowledged as given up."""
    before: set[str] = field(default_factory=set)
    """Partitions that answers gave to the incarnation before, until the join is answered."""
    given: set[str] = field(default_factory=set)
    """Partitions that `assigned` announced and no released callback has taken back."""
    using: set[str] = field(default_factory=set)
    """Partitions of `given` whose callback `assigned` was released."""
    shown: set[str] = field(default_factory=set)
    """The part of `given` that the client has reported since."""
    ended: set[str] = field(default_factory=set)
    """Partitions that a released callback took back, and that were not given since."""
    running: Event | None = None
    in_flight: dict[int, Event] = field(default_factory=dict)
    confirmed: bool = False
    """Tell if a heartbeat with an epoch above 0 has come since the last join: then its answer has arrived."""
    last_connection: int = 0
    reported: Partitions | None = None
    subscribed: frozenset[str] = NOTHING
    giving_up: bool = False
    """Tell if the application has closed or unsubscribed."""
    fatal: bool = False
    up: bool = False

    @property
    def certainly_used(self) -> set[str]:
        """The part of `using` that the client certainly knows; over a wire only the reported partitions."""
        return self.using & self.shown if self.setup.wire else self.using

    @property
    def knows_epochs(self) -> bool:
        """Tell if the answers with `epochs` have certainly arrived."""
        return self.joined and (self.confirmed or not self.setup.wire)

    def owned(self, body: Json) -> Partitions | None:
        """The partitions that a heartbeat reports; None where the field is left out."""
        topics = body.get("topicPartitions")
        return None if topics is None else partitions_of(topics, self.names)

    def update(self, event: Event) -> None:
        """Take an event in."""
        handler: Callable[[Event], None] | None = getattr(self, f"_{event.kind}", None)
        if handler is not None:
            handler(event)

    def _request(self, event: Event) -> None:
        assert event.body is not None
        self.in_flight[event.number] = event
        if event.api != HEARTBEAT:
            return
        self.last_connection = event.connection
        if event.body.get("memberId"):
            self.ids.add(event.body["memberId"])
        if event.body["memberEpoch"] == 0:
            self.before, self.ever_assigned, self.epochs = self.ever_assigned, set(), set()
            self.joined, self.reported, self.confirmed = False, None, False
        elif event.body["memberEpoch"] > 0 and self.joined:
            self.confirmed = True
        owned = self.owned(event.body)
        if owned is not None:
            self.reported = owned
            self.shown = (self.shown | owned) & self.given
            # the partitions of the last answer are about to be given once more
            self.ever_assigned -= self.ended - owned - self.assigned

    def _answer(self, event: Event) -> None:
        request = self.in_flight.pop(event.number, None)
        body = event.body
        if request is None or request.api != HEARTBEAT or body is None or request.body is None:
            return
        if request.body["memberEpoch"] < 0 or body["errorCode"] in REMOVED:
            self.joined = False
        elif body["errorCode"] == NONE:
            if request.body["memberEpoch"] == 0:
                self.before = set()
            self.joined = True
            self.ids |= {body["memberId"]} if body.get("memberId") else set()
            self.epochs.add(body["memberEpoch"])
            if body.get("assignment") is not None:
                self.assigned = partitions_of(body["assignment"]["assignedTopicPartitions"], self.names)
                self.ever_assigned |= self.assigned
        elif body["errorCode"] == 111:
            self.fatal = True

    def _callback(self, event: Event) -> None:
        self.running = event
        if event.name == "assigned":
            self.given |= event.partitions
            self.ended -= event.partitions

    def _released(self, event: Event) -> None:
        self.running = None
        if event.name == "assigned":
            self.using |= event.partitions
        else:
            self.using -= event.partitions
            self.given -= event.partitions
            self.shown -= event.partitions
            self.ended |= event.partitions

    def _did(self, event: Event) -> None:
        step = event.body or {}
        match step["do"]:
            case "start":
                self.up, self.giving_up = True, False
                self.subscribed = frozenset(step["topics"])
            case "subscribe":
                self.subscribed = frozenset(step["topics"])
            case "close":
                self.giving_up = True
            case "crash":
                self.up = self.joined = self.fatal = self.giving_up = False
                self.process += 1
                self.old_ids |= self.ids
                self.ids, self.running, self.reported = set(), None, None
                for known in (self.given, self.using, self.shown, self.ended):
                    known.clear()
                for known in (self.ever_assigned, self.before):
                    known.clear()
                self.epochs.clear()
                self.in_flight.clear()

    def _closed(self, event: Event) -> None:
        self.up = not self.giving_up  # one that closes unasked must still be in the group
