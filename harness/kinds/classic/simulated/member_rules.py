"""Rules of one member of a classic group: its requests, its callbacks and its partitions (C1, C3, C6, H8,
O2).

The rules know the answers, the application's calls and the topics of the process, and derive from these alone
which action may come next. They never look into the member except for its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.kinds.classic.simulated.metrics_rules import MetricsRules
from harness.kinds.classic.simulated.parts import BACKOFF_MS, INTERVAL_MS, Consumer
from harness.simulate.groups.parts import CallbackView, Partition, Partitions, Violation, shown
from harness.simulate.groups.process import ASSIGNED, LOST, REVOKED
from harness.targets.base import Json

JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT = "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit"
NOTHING: Final[Partitions] = frozenset()
NO_GENERATION: Final = -1
ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 22, 25, 27, 79
FENCED_INSTANCE_ID: Final = 82
RETRIABLE: Final = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
MENDED: Final = (
    *RETRIABLE,
    *(ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED),
)
"""Errors after which a member goes on, and which no application sees, except those of commits."""


def error_of(body: Json) -> int:
    """The error of an answer; for an OffsetCommit the first error of its partitions."""
    if "errorCode" in body:
        return int(body["errorCode"])
    codes = [one["errorCode"] for topic in body["topics"] for one in topic["partitions"]]
    return int(next((code for code in codes if code), 0))


class MemberRules:
    """The rules of the member of one process; times are of the process's own clock."""

    def __init__(self, name: str, consumer: Consumer) -> None:
        self._name = name
        self._consumer = consumer
        self.member_id = ""
        self.generation = NO_GENERATION
        self.wants: str | None = None
        """The API of the next request, without heartbeats and commits; None while the member is at rest."""
        self.topics: frozenset[str] = frozenset()
        self._joined: frozenset[str] = frozenset()
        self._claims_since = NO_GENERATION
        self.using: set[Partition] = set()
        self._revokes: Partitions = NOTHING
        """Partitions that the last SyncGroup took away, and that no callback has yet."""
        self._assigns: Partitions | None = None
        """Partitions of the next on_partitions_assigned; None where none is due."""
        self.lost: Partitions = NOTHING
        """Partitions that may belong to another member, and that no on_partitions_lost has named yet."""
        self.closing = False
        self._known_topics: Mapping[str, int] | None = None
        self._assigned_from: Mapping[str, int] | None = None
        """The topics in the member's metadata when it sent SyncGroup: a leader rejoins if they change."""
        self._wanted: list[frozenset[str]] = []
        self._there: list[Mapping[str, int]] = []
        """The subscriptions, and the topics in the member's metadata, since it began to rejoin."""
        self._reason: str | None = None
        self._commits: dict[Partition, int] = {}
        """Offsets to commit."""
        self._committing: dict[Partition, int] = {}
        self._beat_ms: int | None = None
        """The beginning of the interval to the next heartbeat."""
        self._not_before_ms = 0
        self._early = False
        self._running: CallbackView | None = None
        self._hears: Partitions | None = None
        """The assignment that the assignor must get next; None where none is due."""
        self._misheard: Violation | None = None
        """A breach that the assignor saw: it is raised later, as members catch exceptions of assignors."""
        self.metrics = MetricsRules(name)

    def _broken(self, requirement: str, rule: str, message: str) -> Violation:
        return Violation(requirement, rule, f"{self._name} {message}")

    @property
    def over(self) -> bool:
        """Tell if the member was closed, and will send nothing more."""
        return self.closing and self.wants == "" and not self.using

    @property
    def alive(self) -> bool:
        """Tell if the member is in a generation."""
        return self.generation != NO_GENERATION

    # The application and the metadata

    def subscribes(self, topics: frozenset[str], now_ms: int) -> None:
        """Note a subscription: the member joins, or rejoins if the subscription is new (C3)."""
        self.topics, self._early = topics, True
        self._wanted.append(topics)
        if self.wants is None and topics != self._joined:
            self._rejoins(now_ms)

    def enforces(self, reason: str, now_ms: int) -> None:
        """Note that the application asks for a rebalance (K4)."""
        if self.wants is None:
            self._reason = reason
            self._rejoins(now_ms)

    def notices(self, topics: Mapping[str, int], leads: bool, assigned: bool, now_ms: int) -> None:
        """Note that the member's metadata have changed; a leader rejoins, also one that has `assigned` before
        it had metadata (C2)."""
        before, self._known_topics = self._known_topics, dict(topics)
        if topics != before and self.wants is None and leads and (before is not None or assigned):
            self._rejoins(now_ms)
        self._there.append(self._known_topics)

    def commits(self, offsets: Mapping[Partition, int], refused: bool) -> None:
        """Note a commit, which is refused during a rebalance (C6)."""
        if refused != (self.wants is not None or not self.alive):
            raise self._broken(
                "C6", "CommitsOutsideOfRebalances", f"{'refuses' * refused or 'takes'} a commit"
            )
        if not refused:
            self._commits |= offsets

    def closes(self, now_ms: int) -> None:
        """Note that the application closes the member: everything is revoked, then a dynamic member leaves
        (C1, S1)."""
        self.closing = True
        self.metrics.fails(now_ms, counts=False)
        self.wants = LEAVE if self.member_id and self._consumer.instance is None else ""
        self._assigns, self._revokes, self._hears = None, NOTHING, None
        self._commits.clear()

    def _rejoins(self, now_ms: int) -> None:
        if self.wants == SYNC:
            self.metrics.fails(now_ms)
        self.metrics.rebalances(now_ms)
        if self.wants is None:
            self._wanted, self._there = [self.topics], [self._known_topics or {}]
        self.wants = JOIN
        self._commits.clear()

    # Requests

    def sends(self, api: str, body: Json, now_ms: int) -> None:
        """Judge a request."""
        busy = self._running is not None
        if now_ms < self._not_before_ms:
            raise self._broken("C1", "BacksOff", f"sends {api} before the pause after an error is over")
        if api == HEARTBEAT:
            return self._heartbeats(body, now_ms, busy)
        if busy or self._owes_callbacks:
            raise self._broken("C6", "CallbacksComeFirst", f"sends {api} before its callbacks have run")
        if api == COMMIT and self.wants is None:
            return self._commits_are(body)
        if api != self.wants:
            wanted = self.wants or "nothing"
            raise self._broken("C3", "AsksForWhatIsNext", f"sends {api}, and {wanted} is next")
        if api == LEAVE:
            left = [one["memberId"] for one in body["members"]]
            if left != [self.member_id] or self.using:
                raise self._broken("C1", "LeavesOnce", f"leaves as {left}, using {shown(self.using)}")
        elif api == SYNC:
            self._in_generation(api, body)
            self._assigned_from = self._known_topics

    def joins(self, body: Json, claims: list[tuple[frozenset[str], Partitions, int]]) -> None:
        """Judge a JoinGroup, with the member's subscription and partitions (C3, C4)."""
        if (body["memberId"], body["groupInstanceId"]) != (self.member_id, self._consumer.instance):
            raise self._broken(
                "C1", "JoinsUnderItsId", f"joins as {body['memberId']!r}, not {self.member_id!r}"
            )
        if tuple(one["name"] for one in body["protocols"]) != self._consumer.assignors:
            raise self._broken("C5", "OffersItsAssignors", "does not offer its assignors in their order")
        if body["reason"] != self._reason:
            raise self._broken("K4", "ReasonIsSent", f"joins with the reason {body['reason']!r}")
        self._reason, self._joined = None, self.topics
        if not self._consumer.cooperative and self.using:
            raise self._broken("C3", "EagerOwnsNothingBetween", f"rejoins using {shown(self.using)}")
        if unwanted := {one for one in self.using if one[0] not in self.topics or all(self._gone(one))}:
            raise self._broken("C3", "GivesUp", f"rejoins using {shown(unwanted)}, which it cannot keep")
        for topics, owned, generation in claims:
            if topics != self.topics:
                raise self._broken(
                    "C1", "JoinIsKept", f"joins for {sorted(topics)}, not {sorted(self.topics)}"
                )
            if owned != self.using or (owned and generation != self._claims_since):
                raise self._broken(
                    "C3", "ClaimsWhatItOwns", f"claims {shown(owned)} since generation {generation}"
                )

    def _in_generation(self, api: str, body: Json) -> None:
        if (body["memberId"], body["generationId"]) != (self.member_id, self.generation):
            raise self._broken(
                "C1", "SendsItsGeneration", f"sends {api} of generation {body['generationId']}"
            )

    def _heartbeats(self, body: Json, now_ms: int, busy: bool) -> None:
        self._in_generation(HEARTBEAT, body)
        pending = busy or self._assigns is not None or bool(self._revokes or self.using)
        if self.wants is not None and not (self.wants == JOIN and pending):
            raise self._broken("C3", "AsksForWhatIsNext", f"sends a heartbeat, and {self.wants} is next")
        if self._beat_ms is not None and now_ms < self._beat_ms + INTERVAL_MS and not self._early:
            raise self._broken("H9", "NotTooOften", f"sends a heartbeat after {now_ms - self._beat_ms} ms")
        self._beat_ms, self._early = now_ms, False

    def _commits_are(self, body: Json) -> None:
        sent = {
            (topic["name"], one["partitionIndex"]): one["committedOffset"]
            for topic in body["topics"]
            for one in topic["partitions"]
        }
        who = body["memberId"], body["generationIdOrMemberEpoch"], body["groupInstanceId"]
        if sent != self._commits or who != (self.member_id, self.generation, self._consumer.instance):
            raise self._broken("O2", "CommitsOfItsGeneration", f"commits {sent} in generation {who[1]}")
        self._committing, self._commits = self._commits, {}

    def waits(self, deadline_ms: int | None) -> None:
        """Judge the time of the member's next request, while no request is in flight (H8, C3)."""
        busy = self._running is not None
        if self.closing and self.wants == "":
            return
        beats = self.alive and (self.wants is None or (self.wants == JOIN and busy))
        if beats and self._beat_ms is not None:
            if deadline_ms is None or deadline_ms > max(self._beat_ms + INTERVAL_MS, self._not_before_ms):
                raise self._broken("H8", "HeartbeatsInTime", f"next sends at {deadline_ms}")
            commits = self.wants is None and self._commits and not busy and self._assigns is None
            if commits and deadline_ms > self._not_before_ms:
                raise self._broken("O2", "CommitsAtOnce", f"commits at {deadline_ms}")
        elif self.wants and not busy and not self._owes_callbacks:
            late = deadline_ms is None or deadline_ms > self._not_before_ms
            if late and not (self.using and self.wants in (JOIN, LEAVE)):  # it may have to revoke first
                raise self._broken("C3", "RejoinsAtOnce", f"sends {self.wants} at {deadline_ms}")

    @property
    def _owes_callbacks(self) -> bool:
        return self._assigns is not None or bool(self._revokes or self.lost)

    # Answers

    def joined(self, body: Json) -> None:
        """Note the answer to a JoinGroup without an error."""
        self.member_id, self.generation, self.wants = body["memberId"], body["generationId"], SYNC

    def synchronised(self, assigned: Partitions, leads: bool, now_ms: int) -> None:
        """Note the answer to a SyncGroup: removed partitions are revoked, then the others are assigned
        (C6)."""
        using = frozenset(self.using)
        self._revokes, self._assigns, self._hears = using - assigned, assigned - using, assigned
        self._claims_since, self._beat_ms, self._early = self.generation, now_ms, False
        self.wants = None
        outdated = leads and self._known_topics != self._assigned_from
        if self._revokes or outdated or self.topics != self._joined:
            self._rejoins(now_ms)

    def refused(self, api: str, error: int, body: Json, now_ms: int) -> None:
        """Note an error (C1). A member that is out of its generation has lost its partitions. One that may
        not join pauses, unless it got its member id just now."""
        if api == JOIN and (error != MEMBER_ID_REQUIRED or self.member_id):
            self._not_before_ms = now_ms + BACKOFF_MS
        if api == JOIN and error == MEMBER_ID_REQUIRED:
            self.member_id = body["memberId"]
        elif error in (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION):
            self._loses(now_ms)
            if error == UNKNOWN_MEMBER_ID:
                self.member_id = ""
            if not self.closing:
                self._rejoins(now_ms)
        elif error == REBALANCE_IN_PROGRESS:
            if self.wants in (None, SYNC):
                self._rejoins(now_ms)
        elif error in RETRIABLE:
            self.unanswered(api, now_ms)
        elif api != COMMIT or error == FENCED_INSTANCE_ID:
            self._loses(now_ms)
            self.wants = ""

    def _loses(self, now_ms: int, fails: bool = True) -> None:
        self.metrics.fails(now_ms, fails)
        running = self._running
        goes = running.partitions if running and running.name.value == REVOKED else NOTHING
        self.lost, self._revokes, self._assigns = frozenset(self.using) - goes, NOTHING, None
        self._hears = None
        self.generation, self._beat_ms = NO_GENERATION, None
        self._commits.clear()

    def unanswered(self, api: str, now_ms: int) -> None:
        """Note that no answer comes, or a retriable error: the member tries again after a pause, but does not
        leave twice."""
        self._not_before_ms = now_ms + BACKOFF_MS
        if api == LEAVE:
            self.left(now_ms)
        elif api == COMMIT and self.wants is None:
            self._commits = self._committing | self._commits

    def left(self, now_ms: int) -> None:
        """Note that the member has left, or will never know (C1)."""
        self._loses(now_ms, fails=False)
        self.wants = ""

    # Callbacks

    def hears(self, partitions: Partitions, generation: int) -> None:
        """Judge the assignment that the member's assignor gets: the whole assignment, before the listener
        (C6)."""
        if partitions != self._hears or generation != self.generation or self._revokes:
            what = f"tells its assignor of {shown(partitions)} in generation {generation}"
            self._misheard = self._broken("C6", "AssignorHearsFirst", what)
        self._hears = None

    def begins(self, callback: CallbackView, now_ms: int) -> None:
        """Judge a callback: its place in the order, and its partitions (C6, C3)."""
        name, partitions, self._running = callback.name.value, callback.partitions, callback
        self.metrics.calls(now_ms)
        if self._misheard:
            raise self._misheard
        if name == ASSIGNED:
            if self._hears is not None:
                raise self._broken("C6", "AssignorHearsFirst", "has not told its assignor of the assignment")
            if self._revokes or self.lost or partitions != self._assigns:
                expected = "nothing" if self._assigns is None else shown(self._assigns)
                raise self._broken(
                    "C6", "AssignedAfterRevoked", f"is given {shown(partitions)}, not {expected}"
                )
            self._assigns = None
            self.using |= partitions
            return
        if not partitions or not partitions <= self.using:
            raise self._broken("C6", "CalledForWhatGoes", f"is to give up {shown(partitions)}, not its own")
        if kept := {one for one in partitions if not self._may_go(one, name)}:
            raise self._broken("C3", "KeepsWhatStays", f"is to give up {shown(kept)} ({name})")

    def no_callback(self) -> None:
        """Judge that no callback is due (C6)."""
        if self._owes_callbacks:
            raise self._broken("C6", "CallbacksAreCalled", "calls no callback, and owes some")

    def ends(self, callback: CallbackView, now_ms: int) -> None:
        """Note the end of a callback: the partitions that it took away are in use no longer."""
        self._running = None
        self.metrics.returns(callback.name.value, now_ms)
        if callback.name.value == ASSIGNED and self.wants == JOIN:
            self.metrics.rebalances(now_ms)
        if callback.name.value in (REVOKED, LOST):
            self.using -= callback.partitions
            self._revokes -= callback.partitions
            self.lost -= callback.partitions

    def _may_go(self, partition: Partition, name: str) -> bool:
        if name == LOST:
            return partition in self.lost or (self.wants == JOIN and any(self._gone(partition)))
        if partition in self.lost:
            return False
        if self.closing or partition in self._revokes:
            return True
        rejoins = self.wants == JOIN and self._assigns is None
        return rejoins and (
            not self._consumer.cooperative or any(partition[0] not in one for one in self._wanted)
        )

    def _gone(self, partition: Partition) -> Iterator[bool]:
        return (partition[1] >= topics.get(partition[0], 0) for topics in self._there)

    def owns(self, owned: Partitions, fetchable: Partitions) -> None:
        """Judge the partitions that the member owns and fetches: those that it was given, and none that is
        going (C4, C6)."""
        running = self._running
        going = self._revokes if running is None else self._revokes | running.partitions
        if not fetchable <= self.using or fetchable & going:
            raise self._broken("C6", "FetchesWhatItOwns", f"fetches {shown(fetchable)}")
        if self.lost and owned & self.lost and not (running and running.name.value == REVOKED):
            raise self._broken("C4", "AbandonsAtOnce", f"owns {shown(owned & self.lost)}, and was removed")
        if not owned <= self.using:
            raise self._broken("C4", "OwnsWhatItWasGiven", f"owns {shown(owned - self.using)}, never given")
