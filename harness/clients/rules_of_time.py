"""Rules about the times of requests, about offsets and about fetches.

Where time itself is the rule, it is a window (`Setup.window_ms`) without any fault of the schedule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.clients.rules import Rule, heartbeat, heartbeat_answer, is_full, shown
from harness.clients.timeline import (
    CALLBACKS,
    COMMIT,
    ERRORS,
    NONE,
    OFFSET_FETCH,
    RETRIABLE,
    STALE_MEMBER_EPOCH,
    Event,
    Partition,
)
from harness.clients.view import View
from harness.targets.base import Json


def did(event: Event) -> str:
    """The name of a step of the schedule; "" for another event."""
    return (event.body or {})["do"] if event.kind == "did" else ""


class UsesExactlyAssigned(Rule):
    requirement = "R8"
    sentence = "When faults end, the application uses exactly what the last answer assigned."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "settled" or not view.up or view.giving_up or view.fatal or not view.joined:
            return
        self.judged += 1
        if view.using != view.assigned:
            yield f"the application uses {shown(view.using)}, and the last answer says {shown(view.assigned)}"


class AcknowledgesAtLast(Rule):
    requirement = "K2"
    sentence = "When faults end, the last report is what the last answer assigned."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "settled" or not view.up or view.giving_up or view.fatal or not view.joined:
            return
        self.judged += 1
        if view.using == view.assigned and (view.reported or frozenset()) != view.assigned:
            reported = "nothing" if view.reported is None else shown(view.reported)
            yield f"the last report is {reported}, and the last answer says {shown(view.assigned)}"


@dataclass
class StaysInTheGroup(Rule):
    requirement = "R8"
    sentence = "When faults end, the consumer is a member of the group."

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "settled" or not view.up or view.giving_up or view.fatal:
            return
        self.judged += 1
        if not view.joined:
            yield "is not in the group although nothing keeps it from joining"


@dataclass
class ReportsItsSubscription(Rule):
    requirement = "H7"
    sentence = "A changed subscription reaches the coordinator."
    last: frozenset[str] | None = None

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = heartbeat(event)
        if body is not None and body.get("subscribedTopicNames") is not None:
            self.last = frozenset(body["subscribedTopicNames"])
        elif event.kind == "settled" and view.up and view.joined and not view.giving_up and self.last:
            self.judged += 1
            if self.last != view.subscribed:
                yield f"the last reported subscription is {shown(self.last)}, not {shown(view.subscribed)}"


@dataclass
class HeartbeatsInTime(Rule):
    requirement = "H8"
    sentence = "A member sends a heartbeat at the interval that it was told, and not much more often."
    last_ms: int | None = None
    quiet: list[int] = field(default_factory=list)

    def see(self, event: Event, view: View) -> Iterator[str]:
        ends = view.fatal or view.giving_up or not view.up or not view.joined
        if event.kind == "stalled" and self.last_ms is not None:
            self.last_ms = event.ms
        late = self.last_ms is not None and event.ms - self.last_ms > view.setup.window_ms
        if late and not ends and not any(one.api.endswith("Heartbeat") for one in view.in_flight.values()):
            pause_ms = event.ms - (self.last_ms or 0)
            yield f"sends nothing for {pause_ms} ms; it was told {view.setup.interval_ms}"
            self.last_ms = None
        body = heartbeat(event)
        if ends or did(event) == "crash":
            self.last_ms, self.quiet = None, []
        elif body is not None:
            self.judged += 1
            self.last_ms = event.ms
            alive = not is_full(body) and body.get("topicPartitions") is None and body["memberEpoch"] > 0
            self.quiet = [*self.quiet[-3:], event.ms] if alive else []
            if len(self.quiet) == 4 and self.quiet[-1] - self.quiet[0] < view.setup.interval_ms:
                yield "sends 4 heartbeats that say nothing within one interval"
                self.quiet = []
        elif (answered := heartbeat_answer(event, view)) is not None:
            self.last_ms = event.ms
            if answered[1] is None or answered[1]["errorCode"]:
                self.quiet = []
        elif event.kind == "request" and event.api in (COMMIT, OFFSET_FETCH):
            self.quiet = []  # one that is stale has an early heartbeat (O4)


@dataclass
class BacksOff(Rule):
    requirement = "H5"
    sentence = "After errors in a row a client pauses before the next heartbeat."
    errors: list[int] = field(default_factory=list)

    def see(self, event: Event, view: View) -> Iterator[str]:
        answered = heartbeat_answer(event, view)
        if answered is not None:
            error = answered[1] is not None and answered[1]["errorCode"] in RETRIABLE
            self.errors = [*self.errors[-2:], event.ms] if error else []
        elif did(event) == "crash":
            self.errors = []
        elif heartbeat(event) is not None and len(self.errors) == 3:
            self.judged += 1
            if event.ms - self.errors[0] < 50:
                yield f"sends 4 heartbeats within {event.ms - self.errors[0]} ms although each was refused"
            self.errors = []


class FatalErrorsAreShown(Rule):
    requirement = "K1"
    sentence = "UNRELEASED_INSTANCE_ID reaches the application, and ends the member."
    needs = frozenset({ERRORS})
    shown_: bool = False

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind == "error":
            self.shown_ = True
        elif did(event) == "crash":
            self.shown_ = False
        elif event.kind == "settled" and view.fatal and view.up:
            self.judged += 1
            if not self.shown_:
                yield "the application never hears of UNRELEASED_INSTANCE_ID"
        elif heartbeat(event) is not None and view.fatal and (event.body or {})["memberEpoch"] >= 0:
            yield "continues to send heartbeats after UNRELEASED_INSTANCE_ID"


@dataclass
class CommitsWithItsEpoch(Rule):
    requirement = "O2"
    sentence = "An offset commit carries the member's id and an epoch that the member was told."

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "request" or event.api != COMMIT or event.body is None or not view.epochs:
            return
        self.judged += 1
        yield from _not_its_own("commits", event, view)


class FetchesOffsetsWithItsEpoch(Rule):
    requirement = "O4"
    sentence = (
        "A fetch of committed offsets that names a member carries its id and an epoch that it was told."
    )

    def see(self, event: Event, view: View) -> Iterator[str]:
        body = event.body
        if event.kind != "request" or event.api != OFFSET_FETCH or body is None or not view.epochs:
            return
        if body["memberId"] or body["generationIdOrMemberEpoch"] >= 0:
            self.judged += 1
            yield from _not_its_own("fetches offsets", event, view)


@dataclass
class RetriesStaleCommitLater(Rule):
    requirement = "O4"
    sentence = "A commit that is stale is repeated only after the next heartbeat was answered."
    stale: int | None = None
    wishes: int = 0

    def see(self, event: Event, view: View) -> Iterator[str]:
        if did(event) == "commit":
            self.wishes += 1
        elif did(event) in ("crash", "close"):
            self.stale = None
        elif event.kind == "request" and event.api == COMMIT and event.body is not None:
            epoch = event.body["generationIdOrMemberEpoch"]
            if epoch == self.stale and not self.wishes and not view.setup.auto_commit:
                yield f"repeats a stale commit with epoch {epoch} before a heartbeat was answered"
            self.wishes = max(self.wishes - 1, 0)
        elif event.kind == "answer" and (request := view.in_flight.get(event.number)) is not None:
            refused = event.body is not None and request.api == COMMIT and commit_errors(event.body)
            if refused and STALE_MEMBER_EPOCH in refused and request.body is not None:
                self.judged += 1
                self.stale = request.body["generationIdOrMemberEpoch"]
            answered = heartbeat_answer(event, view)
            if answered is not None and answered[1] is not None and answered[1]["errorCode"] == NONE:
                self.stale = None


@dataclass
class RepeatsStaleCommit(Rule):
    requirement = "O4"
    sentence = "A stale commit of the application is repeated: it does not hear of STALE_MEMBER_EPOCH."
    stale: bool = False

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind == "request" and event.api == COMMIT:
            self.stale = False
        elif event.kind == "answer" and (request := view.in_flight.get(event.number)) is not None:
            if request.api == COMMIT and event.body is not None and not view.setup.auto_commit:
                self.stale = STALE_MEMBER_EPOCH in commit_errors(event.body)
                self.judged += self.stale
        elif event.kind == "committed":
            if event.error == STALE_MEMBER_EPOCH and self.stale and view.joined and not view.giving_up:
                yield "gives a stale commit back to the application"
            self.stale = False
        elif did(event) == "crash":
            self.stale = False


@dataclass
class CommitsEnd(Rule):
    requirement = "O4"
    sentence = "The application hears how each commit that it asked for has ended."
    commits: int = 0

    def see(self, event: Event, view: View) -> Iterator[str]:
        if did(event) == "commit":
            self.commits = 1  # the same request may do a second one
        elif did(event) == "crash":
            self.commits = 0
        elif event.kind == "committed":
            self.judged += 1
            self.commits = 0
        elif event.kind == "settled" and self.commits and view.up and not view.fatal and not view.giving_up:
            yield "the application never hears how its commit has ended"
            self.commits = 0


class FetchesWhatItUses(Rule):
    requirement = "K2"
    sentence = "Nothing is fetched that is being revoked, was revoked, or is lost."
    needs = frozenset({CALLBACKS})

    def see(self, event: Event, view: View) -> Iterator[str]:
        if event.kind != "fetch":
            return
        self.judged += 1
        running = view.running
        taken = running.partitions if running is not None and running.name != "assigned" else frozenset()
        if wrong := event.partitions & (view.ended | taken):
            yield f"fetches {shown(wrong)} after that was taken back"


@dataclass
class CommitsBeforeItAcknowledges(Rule):
    requirement = "O3"
    sentence = "With auto-commit, what was read is committed before the revocation is acknowledged."
    needs = frozenset({CALLBACKS})
    positions: dict[Partition, int] = field(default_factory=dict)
    tried: dict[Partition, int] = field(default_factory=dict)
    revoked: set[Partition] = field(default_factory=set)
    connection: int = 0

    def see(self, event: Event, view: View) -> Iterator[str]:
        if not view.setup.auto_commit:
            return
        body = heartbeat(event)
        if did(event) == "crash" or (body is not None and body["memberEpoch"] == 0):
            self.positions, self.tried, self.revoked = {}, {}, set()
        elif event.kind == "position":
            self.positions.update(event.offsets)
        elif event.kind == "callback" and event.name == "revoked":
            self.revoked |= event.partitions
            self.connection = view.last_connection
        elif body is not None and event.connection != self.connection:
            self.revoked = set()  # a commit may have been lost with the connection before
        elif event.kind in ("callback", "released") and event.name in ("assigned", "lost"):
            for one in event.partitions:
                self.positions.pop(one, None)
            self.revoked -= event.partitions
        elif event.kind == "request" and event.api == COMMIT and event.body is not None:
            self.tried.update(committed(event.body, view))
        elif body is not None and (owned := view.owned(body)) is not None and body["memberEpoch"] > 0:
            for one in sorted(self.revoked - owned - view.given):
                position = self.positions.pop(one, None)
                self.judged += 1
                if position is not None and self.tried.get(one, 0) < position:
                    yield f"acknowledges {one} without a commit of offset {position}"
            self.revoked &= owned


def _not_its_own(does: str, event: Event, view: View) -> Iterator[str]:
    """Check the member id and the epoch of a request for offsets; yields the faults."""
    body = event.body or {}
    epoch, member_id = body["generationIdOrMemberEpoch"], body["memberId"]
    if epoch not in view.epochs and view.knows_epochs and event.connection == view.last_connection:
        yield f"{does} with epoch {epoch}, and was told {', '.join(map(str, sorted(view.epochs)))}"
    if member_id not in view.ids:
        yield f"{does} with the member id {member_id!r}, which is not its own"


def commit_errors(body: Json) -> set[int]:
    """The error codes of an answer to OffsetCommit."""
    return {one["errorCode"] for topic in body["topics"] for one in topic["partitions"]}


def committed(body: Json, view: View) -> dict[Partition, int]:
    """The offsets of a request of OffsetCommit."""
    return {
        f"{view.names.get(topic.get('topicId') or '', topic.get('name'))}-{one['partitionIndex']}": one[
            "committedOffset"
        ]
        for topic in body["topics"]
        for one in topic["partitions"]
    }
