"""The request that a member must send next, and the latest time: after errors, after a new assignment, and in
between.

The rules know the requests that were sent and the answers that arrived, never the member's own flags: so a
member that forgets to acknowledge, or to look for its coordinator, is noticed. Times are milliseconds of its
clock.
"""

from __future__ import annotations

from typing import Final

from harness.simulate.groups.parts import Partitions, Violation, from_wire, shown
from harness.targets.base import Json

HEARTBEAT: Final = "ConsumerGroupHeartbeat"
FIND: Final = "FindCoordinator"
IN: Final = ("STABLE", "RECONCILING", "ACKNOWLEDGING", "PREPARE_LEAVING")
"""States in which a member is in the group, by its own account."""
FIRST_PAUSE_MS: Final = 100
LONGEST_PAUSE_MS: Final = 1_000
"""retry.backoff.ms and retry.backoff.max.ms of a consumer that sets neither."""
_MOVED: Final = frozenset({15, 16})
"""COORDINATOR_NOT_AVAILABLE and NOT_COORDINATOR."""
_AGAIN: Final = frozenset({7, 14, 15, 16})
"""Errors after which a request is tried again, after a pause."""
REMOVED: Final = frozenset({25, 110})
"""UNKNOWN_MEMBER_ID and FENCED_MEMBER_EPOCH."""
_GIVEN_UP: Final = frozenset({7, 25, 27})
"""Results of a commit without an answer: time-out, out of the group, partitions gone before it was sent."""
STALE: Final = 113
"""STALE_MEMBER_EPOCH."""


class NextRequest:
    """One member's duties."""

    def __init__(self, name: str, static: bool) -> None:
        self._name = name
        self._static = static
        self._refused = False
        """Tell if a heartbeat was refused for good: with an error after which no member can go on."""
        self._joined = False
        """Tell if a join was sent, and no event since has put the member out."""
        self._leave_epoch: int | None = None
        """The epoch of the leave that the application asked for; None for none."""
        self._leave_until_ms: int | None = None
        """The time until which the member tries to leave; None where no application asked for that."""
        self._commits_last = False
        """Tell if it commits before it gives up its partitions to leave."""
        self._late = 0
        """The number of requests that failed after that time while it commits: the first of them may have
        been a commit for an earlier revocation."""
        self._over = False
        """Tell if a leave, or the search for a coordinator, failed after that time."""
        self._sent = ""
        """The API of its last request."""
        self._finds = False
        """Tell if the coordinator is elsewhere, or its connection broken."""
        self._stale = False
        """Tell if the member's epoch was stale, so that a heartbeat must get the next."""
        self._left = False
        """Tell if the leave of the member was answered without a retriable error."""
        self._leaves = False
        """Tell if the last heartbeat was a leave."""
        self._failed_ms: int | None = None
        """The time of an answer with an error, or of a lost answer: the member may pause."""
        self._pauses = False
        """Tell if that was an error after which the member must pause."""
        self._failures = 0
        """The number of such errors in a row."""
        self._heartbeat_ms: int | None = None
        self._interval_ms = 0
        self._assigned: Partitions = frozenset()
        """The assignment of the last answer that had one."""
        self._owes = False
        """Tell if that assignment differs from the one before, and is not acknowledged."""
        self.commits = Commits(name)

    def sends(self, api: str, body: Json, now_ms: int) -> None:
        """Check the request that a member sends. Raises Violation (H2, H5, O4, S1)."""
        epoch = body["memberEpoch"] if api == HEARTBEAT else None
        joins, leaves = epoch == 0, epoch is not None and epoch < 0
        if self._finds and api != FIND:
            raise Violation(
                "H5", "FindsCoordinatorAnew", f"{self._name} sends {api} to what is no coordinator"
            )
        if self._stale and api not in (HEARTBEAT, FIND):
            raise Violation(
                "O4", "WaitsForTheEpoch", f"{self._name} sends {api} after STALE_MEMBER_EPOCH, no heartbeat"
            )
        self._sent = api
        pause_ms = min(FIRST_PAUSE_MS << max(self._failures - 1, 0), LONGEST_PAUSE_MS)
        if self._pauses and self._failed_ms is not None and now_ms - self._failed_ms < pause_ms:
            raise Violation("H5", "BacksOff", f"{self._name} tries again after {now_ms - self._failed_ms} ms")
        if epoch is None:
            return
        if leaves:
            self._check_leave(epoch)
        if joins:
            self._leave_until_ms, self._over = None, False
        self._joined = not leaves or self._joined
        self._leave_epoch = self._leave_epoch if leaves else None
        self._heartbeat_ms, self._left, self._leaves = now_ms, False, leaves
        if joins or leaves:
            self._assigned, self._owes = frozenset(), False
        elif body["topicPartitions"] is not None and from_wire(body["topicPartitions"]) == self._assigned:
            self._owes = False

    def _check_leave(self, epoch: int) -> None:
        if self._left:
            raise Violation("H2", "LeavesOnce", f"{self._name} leaves again, though its leave was answered")
        if not self._joined:
            raise Violation("H2", "LeavesWhatItJoined", f"{self._name} leaves, and has not joined")
        if self._leave_epoch not in (None, epoch):
            raise Violation(
                "S1" if self._static else "H2",
                "LeavesForGoodOrForAWhile",
                f"{self._name} leaves with epoch {epoch}, not {self._leave_epoch}",
            )

    def gives_up(self, state: str, for_a_while: bool, until_ms: int) -> None:
        """Note that the application closes the consumer, or unsubscribes, in this state: a static member that
        closes may return (S1)."""
        if state in IN and state != "PREPARE_LEAVING":
            self._leave_epoch = -2 if self._static and for_a_while else -1
        leaves = state in (*IN, "JOINING", "LEAVING")
        self._leave_until_ms = until_ms if leaves else None
        self.callback_runs()

    def callback_runs(self) -> None:
        """Note that a callback begins or ends: a member that leaves may be in another state afterwards."""
        self._commits_last, self._late, self._over = False, 0, False

    def nothing_to_run(self, state: str) -> None:
        """Check a poll without a callback (K4): a member that leaves gives up its partitions once the time
        for the commit before that is over. Raises Violation."""
        if state == "PREPARE_LEAVING" and self._late > 1:
            raise Violation(
                "K4", "RevokesInTime", f"{self._name} tries to commit again after its time to leave is over"
            )
        self._commits_last = state == "PREPARE_LEAVING"

    def ended(self, now_ms: int) -> None:
        """K4: a closed consumer tries to leave until its time is over."""
        if self._leaves and not self._left and now_ms < (self._leave_until_ms or 0):
            raise Violation(
                "K4", "LeavesUntilTheTimeOut", f"{self._name} has ended, and its leave was refused"
            )

    def answered(self, api: str, sent: Json, body: Json, now_ms: int) -> None:
        """Take in the answer to a request."""
        errors = _errors(api, body)
        self._failed_ms = now_ms if errors else None
        self._pauses = bool(errors & (_AGAIN | {STALE}))
        if self._pauses:
            self._tried(now_ms)
        if self._pauses:
            self._failures += 1
        elif not errors or (api == HEARTBEAT and sent["memberEpoch"] < 0):
            self._failures = 0
        self._refused = self._refused or (api == HEARTBEAT and bool(errors - _AGAIN - REMOVED))
        self._finds = bool(errors & _MOVED) or (self._finds and api != FIND)
        if api == "OffsetCommit":
            self.commits.answered(sent, errors)
        if api != HEARTBEAT:
            self._stale = self._stale or STALE in errors
        elif sent["memberEpoch"] < 0:
            self._left = not errors & _AGAIN
            self._joined = self._joined and not self._left
            self._stale = False
        elif errors & REMOVED:
            self._stale = self._owes = self._joined = False
            self._heartbeat_ms = None
            self.commits.out()
        elif not errors:
            self._accepted(body)

    def _accepted(self, body: Json) -> None:
        self._stale = False
        self._interval_ms = body["heartbeatIntervalMs"] or self._interval_ms
        if body["assignment"] is None:
            return
        assigned = from_wire(body["assignment"]["assignedTopicPartitions"])
        self._owes = self._owes or assigned != self._assigned
        self._assigned = assigned

    def failed(self, disconnected: bool, now_ms: int) -> None:
        """Note that no answer will come."""
        self._finds = self._finds or disconnected
        self._failed_ms, self._pauses = now_ms, True
        self._tried(now_ms)
        self._failures += 1

    def _tried(self, now_ms: int) -> None:
        """K4: note that a request failed; after its time-out a member that leaves tries none again."""
        if self._leave_until_ms is None or now_ms < self._leave_until_ms:
            return
        if self._sent == FIND or (self._sent == HEARTBEAT and self._leaves):
            self._over = True
        if self._commits_last:
            self._commits_last, self._late = False, self._late + 1

    def waits(self, state: str, uses: Partitions, deadline_ms: int | None, now_ms: int) -> None:
        """Check the latest time of a member's next request, while none is in flight and no callback runs.

        Raises Violation: H8 for a heartbeat after its interval, K2 for an acknowledgement that is not sent at
        once, O4 for an epoch that is not asked for at once, K1 and H2 for a join or a leave, K4 for a leave
        that goes on after its time-out, K1 for a member that ends without an error.
        """
        paused_ms = 0 if self._failed_ms is None else self._failed_ms + LONGEST_PAUSE_MS
        at_once_ms = max(now_ms, paused_ms)
        deadline = float("inf") if deadline_ms is None else deadline_ms
        if state == "LEAVING" and self._over:
            raise Violation(
                "K4", "EndsAtTheTimeOut", f"{self._name} tries to leave again after its time to leave is over"
            )
        if state in ("JOINING", "LEAVING") and deadline > at_once_ms:
            raise Violation(
                "K1" if state == "JOINING" else "H2",
                "JoinsOrLeavesAtOnce",
                f"{self._name} is {state} and sends nothing",
            )
        if state == "FATAL" and not self._refused:
            raise Violation("K1", "FailsForAReason", f"{self._name} has failed, and no heartbeat was refused")
        if state not in IN:
            return
        in_time_ms = max(at_once_ms, (self._heartbeat_ms or 0) + self._interval_ms)
        if deadline > in_time_ms:
            raise Violation(
                "H8", "HeartbeatsInTime", f"{self._name} sends at {deadline}, and is to at {in_time_ms}"
            )
        if deadline <= at_once_ms:
            return
        if self._stale:
            raise Violation("O4", "AsksForTheEpochAtOnce", f"{self._name} waits, though its epoch is stale")
        if self._owes and uses == self._assigned and state != "PREPARE_LEAVING":
            raise Violation(
                "K2", "AcknowledgesAtOnce", f"{self._name} uses {shown(uses)}, and does not report that"
            )


class Commits:
    """The application's commits: each ends with one on_commit_complete (O4)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.open = False
        """Tell if the application has a commit whose end it does not know yet."""
        self._calls = 0
        """The number of commits without an end; commits that wait for one request end together."""
        self._void = False
        """Tell if the member lost its partitions while a commit was open."""
        self._answers: list[tuple[Partitions, frozenset[int]]] = []
        """The partitions and the errors of the last answers."""

    def begins(self) -> None:
        """Note a commit of the application."""
        self.open, self._calls = True, self._calls + 1

    def answered(self, sent: Json, errors: frozenset[int]) -> None:
        """Note the answer to a commit, the application's or that before a revocation."""
        committed = frozenset(
            (topic["topicId"], one["partitionIndex"])
            for topic in sent["topics"]
            for one in topic["partitions"]
        )
        self._answers = [*self._answers[-9:], (committed, errors)]

    def out(self) -> None:
        """Note that the member is out of the group."""
        self._void = self.open

    def ends(self, partitions: Partitions, error: int) -> None:
        """Check on_commit_complete. Raises Violation for a commit that was never made, and for a wrong
        result."""
        if not self._calls:
            raise Violation("O4", "CommitsEndOnce", f"{self._name} ends a commit that it did not make")
        if error:
            answered = error in _GIVEN_UP or any(error in errors for _, errors in self._answers)
        else:
            answered = not partitions or (partitions, frozenset[int]()) in self._answers
        if not answered:
            raise Violation(
                "O4",
                "CommitsEndAsAnswered",
                f"{self._name} ends its commit of {shown(partitions)} with error {error}, as no answer did",
            )
        self.open, self._void, self._calls = False, False, self._calls - 1

    def nothing_runs(self) -> None:
        """Check a poll of the application without a waiting callback. Raises Violation."""
        if self._void:
            raise Violation(
                "O4", "CommitsEnd", f"{self._name} is out of its group, and its commit has no end"
            )


def _errors(api: str, body: Json) -> frozenset[int]:
    """The error codes of an answer, without 0."""
    if api == FIND:
        codes = [one["errorCode"] for one in body["coordinators"]]
    elif api == "OffsetCommit":
        codes = [one["errorCode"] for topic in body["topics"] for one in topic["partitions"]]
    elif api == "OffsetFetch":
        codes = [group["errorCode"] for group in body["groups"]]
        codes += [
            one["errorCode"]
            for group in body["groups"]
            for topic in group.get("topics") or ()
            for one in topic["partitions"]
        ]
    else:
        codes = [body["errorCode"]]
    return frozenset(codes) - {0}
