"""The invariants of one member: its possible requests, its epoch and its positions.

The member's assignment is taken from the answers that arrived, and the consumed records from the steps of the
application, never from the member: so a member that forgets either is noticed. Times are milliseconds of its
clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.simulate.groups.next_request import REMOVED
from harness.simulate.groups.parts import Partition, Partitions, Violation, shown
from harness.targets.base import Json

CLOSE_TIMEOUT_MS: Final = 30_000
"""The time that a closing consumer has for its last commit (K4)."""
_RETRIABLE: Final = frozenset({7, 14, 15, 16, 113})
"""Errors after which a commit is tried again: the coordinator's own, and STALE_MEMBER_EPOCH (O4)."""


class MemberWatch:
    """The member of one process: the answers to it, its requests, and its positions."""

    def __init__(self, name: str, max_poll_ms: int) -> None:
        self._name = name
        self._max_poll_ms = max_poll_ms
        self._told_epoch = 0
        self._interval_ms = 0
        self._sent_ms: int | None = None
        """The time of its last heartbeat."""
        self._hurries = False
        """Tell if a heartbeat without news may be early, since another answer asked for one (O4)."""
        self._joined = False
        """Tell if the coordinator may have the member, with a member id that the member knows."""
        self._closes_ms: int | None = None
        self._leaves_ms: int | None = None
        """The time since which it tries to leave: it closes, or its application did not poll (K4)."""
        self._positions: dict[Partition, int] = {}
        self._starts: dict[Partition, int] = {}
        """The group's positions in the last fetch of offsets; -1 where there was none."""
        self._saved: dict[Partition, int] = {}
        """Committed positions, from the answers."""
        self._refused: set[Partition] = set()
        """Partitions whose last commit was refused for good."""
        self._to_give_up: set[Partition] = set()
        """Partitions whose commit before the revocation failed: they are given up all the same."""
        self._application_commits = False
        """Tell if a commit may be the application's: such a commit is no sign of a revocation."""
        self._stopped_ms: dict[Partition, int] = {}
        """The time since which they are not fetched, because they are committed before they are revoked
        (K2)."""

    # Requests

    def heartbeats(self, body: Json, now_ms: int) -> None:
        """Check a heartbeat: its epoch is that of the last answer (E4), and without news it waits for the
        interval (H9)."""
        epoch = body["memberEpoch"]
        if epoch > 0 and epoch != self._told_epoch:
            raise Violation(
                "E4",
                "SaysTheEpochTold",
                f"{self._name} heartbeats at epoch {epoch}, and was told {self._told_epoch}",
            )
        early = self._sent_ms is not None and now_ms - self._sent_ms < self._interval_ms
        if epoch > 0 and early and not self._hurries and not _news(body):
            raise Violation(
                "H9",
                "WaitsForTheInterval",
                f"{self._name} heartbeats without news {now_ms - (self._sent_ms or 0)} ms after the last, "
                f"and the interval is {self._interval_ms} ms",
            )
        self._sent_ms, self._hurries = now_ms, False
        self._joined = epoch >= 0 and bool(body["memberId"])
        if epoch == 0:
            self._closes_ms = self._leaves_ms = None

    def heartbeat_answered(self, body: Json) -> None:
        """Take over the answer to a heartbeat."""
        error = body["errorCode"]
        if error in REMOVED:
            self._joined, self._told_epoch, self._sent_ms = False, 0, None
        elif not error:
            self._joined = body["memberEpoch"] > 0
            self._told_epoch = max(body["memberEpoch"], 0)
            self._interval_ms = body["heartbeatIntervalMs"] or self._interval_ms
        else:
            self._hurries = True

    def unanswered(self) -> None:
        """Note that no answer will come; the request may be repeated."""
        self._hurries = True

    def commits(self, body: Json) -> None:
        """O4: a commit has the last epoch of the member's answers. O3: it has the member's positions."""
        epoch = body["generationIdOrMemberEpoch"]
        if epoch != self._told_epoch:
            raise Violation(
                "O4",
                "CommitsAtTheEpochTold",
                f"{self._name} commits at epoch {epoch}, and was told {self._told_epoch}",
            )
        for partition, offset in _offsets(body):
            if offset != self._positions.get(partition):
                raise Violation(
                    "O3",
                    "CommitsItsPosition",
                    f"{self._name} commits {offset} for {shown({partition})}, and is at "
                    f"{self._positions.get(partition)}",
                )

    def fetches(self, body: Json) -> None:
        """O4: a fetch of offsets by a member has the last epoch of the member's answers."""
        epoch = body["generationIdOrMemberEpoch"]
        if epoch != self._told_epoch:
            raise Violation(
                "O4",
                "FetchesAtTheEpochTold",
                f"{self._name} fetches offsets at epoch {epoch}, and was told {self._told_epoch}",
            )

    def commit_answered(self, sent: Json, body: Json) -> bool:
        """Take over the committed positions and the final refusals; tell if the latter include a commit
        before a revocation, which the application must get (K2)."""
        offsets, errors = dict(_offsets(sent)), set()
        for topic in body["topics"]:
            for one in topic["partitions"]:
                partition, error = (topic["topicId"], one["partitionIndex"]), one["errorCode"]
                errors.add(error)
                if not error:
                    self._saved[partition] = offsets[partition]
                    self._refused.discard(partition)
                elif error not in _RETRIABLE:
                    self._refused.add(partition)
                self._hurries |= bool(error)
        if any(errors) and errors.isdisjoint(_RETRIABLE) and not self._application_commits:
            refused = offsets.keys() & self._stopped_ms.keys()
            self._to_give_up |= refused
            return bool(refused)
        return False

    def fetch_answered(self, body: Json) -> None:
        """Take over the group's positions: they are committed."""
        for group in body["groups"]:
            self._hurries |= bool(group["errorCode"])
            for topic in group.get("topics") or ():
                for one in topic["partitions"]:
                    partition = topic["topicId"], one["partitionIndex"]
                    self._hurries |= bool(one["errorCode"])
                    if not one["errorCode"] and partition not in self._positions:
                        self._saved[partition] = self._starts[partition] = one["committedOffset"]

    def application_commits(self) -> None:
        """Note that the application asks for a commit, which is sent later while the member owns
        something."""
        self._application_commits = True

    def stalls(self, now_ms: int) -> None:
        """Note that the member gives up everything, since its application does not poll."""
        self._leaves_ms = now_ms

    def gives_up(self, state: str, now_ms: int) -> None:
        """Note that the application closes the consumer or unsubscribes, in this state. A member that gave
        up its leave before, and has not joined since, does not leave."""
        self._closes_ms = now_ms
        if self._leaves_ms is None or state not in ("STALE", "JOINING"):
            self._leaves_ms = now_ms

    def ended(self, using: set[Partition], now_ms: int) -> None:
        """H2: a closed consumer has left the group that it joined, unless the time for that is over (K4). K3:
        each partition ended in a callback."""
        if self._joined and not _over(self._leaves_ms, now_ms):
            raise Violation("H2", "LeavesBeforeItEnds", f"{self._name} has ended, and did not leave")
        if using:
            raise Violation(
                "K3", "EndsOnce", f"{self._name} has ended, and was never told to give up {shown(using)}"
            )

    # Positions

    def looks(self, owned: Partitions, positions: Mapping[Partition, int]) -> None:
        """O3: while a partition is owned its position neither goes back nor is forgotten, once it has one; a
        partition that is not owned has none, and the first position is the group's."""
        if strange := positions.keys() - owned:
            raise Violation(
                "O3",
                "PositionsOfWhatItOwns",
                f"{self._name} keeps a position of {shown(strange)}, not its own",
            )
        for partition in positions.keys() - self._positions.keys():
            start = max(self._starts.get(partition, -1), 0)
            if positions[partition] != start:
                raise Violation(
                    "O3",
                    "BeginsWhereTheGroupStopped",
                    f"{self._name} begins {shown({partition})} at {positions[partition]}, and not at {start}",
                )
        for partition, offset in self._positions.items():
            if partition in owned and positions.get(partition, -1) < offset:
                raise Violation(
                    "O3",
                    "PositionsGoForward",
                    f"{self._name} was at {offset} in {shown({partition})}, which it owns, and is at "
                    f"{positions.get(partition, 'none')}",
                )
        self._positions = {one: offset for one, offset in positions.items() if one in owned}
        for known in (self._saved, self._stopped_ms):
            for partition in known.keys() - owned:
                del known[partition]
        self._refused &= owned
        self._application_commits = self._application_commits and bool(owned)

    def polls_without_callback(self, fetchable: Partitions, now_ms: int) -> None:
        """Note the time since which partitions with a position are not fetched: they are committed. K2: where
        that was refused for good they are revoked all the same."""
        stopped = self._positions.keys() - fetchable
        unsaved = {one for one in stopped if self._positions[one] != self._saved.get(one)}
        if unsaved and unsaved <= self._to_give_up:
            raise Violation(
                "K2",
                "RevokesAllTheSame",
                f"{self._name} keeps {shown(unsaved)}, though the commit before the revocation was refused",
            )
        self._stopped_ms = {one: self._stopped_ms.get(one, now_ms) for one in stopped}
        self._to_give_up &= stopped

    def revokes(self, partitions: Partitions, now_ms: int) -> None:
        """K2: before on_partitions_revoked the consumed records are committed, unless the commit was refused
        for good, or its time was over."""
        for partition in sorted(partitions & self._positions.keys()):
            position, saved = self._positions[partition], self._saved.get(partition)
            if position == saved or partition in self._refused or self._too_late(partition, now_ms):
                continue
            raise Violation(
                "K2",
                "CommitsBeforeItRevokes",
                f"{self._name} is to give up {shown({partition})} at {position}, and committed "
                f"{'nothing' if saved is None else saved}",
            )

    def _too_late(self, partition: Partition, now_ms: int) -> bool:
        since_ms = self._stopped_ms.get(partition)
        if since_ms is not None and now_ms >= since_ms + self._max_poll_ms:
            return True
        return _over(self._closes_ms, now_ms)


def _over(since_ms: int | None, now_ms: int) -> bool:
    """K4: tell if the time to leave is over for a member that leaves since then."""
    return since_ms is not None and now_ms >= since_ms + CLOSE_TIMEOUT_MS


def _news(body: Json) -> bool:
    """Tell if a heartbeat has news beside the member's being alive (H7)."""
    fields = ("topicPartitions", "subscribedTopicNames", "subscribedTopicRegex", "clientAssignors")
    return any(body.get(name) is not None for name in fields)


def _offsets(body: Json) -> list[tuple[Partition, int]]:
    return [
        ((topic["topicId"], one["partitionIndex"]), one["committedOffset"])
        for topic in body["topics"]
        for one in topic["partitions"]
    ]
