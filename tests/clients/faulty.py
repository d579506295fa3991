"""Clients with one fault each: small subclasses of the reference member, or one part of it in another way.

Each has the rule that must name it. A number in a comment is the row of a list of bugs that real clients had.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from coordinator.members.consumer import Member, Settings, codes
from coordinator.members.consumer.inflight import InFlight
from coordinator.members.consumer.ownership import Ownership
from coordinator.members.consumer.types import (
    NOTHING,
    Callback,
    CallbackName,
    Json,
    Partitions,
    Purpose,
    Request,
    State,
    TopicPartition,
    from_wire,
    to_wire,
)

FAULTY: dict[str, tuple[type[Member], str]] = {}


def caught_by(rule: str) -> Callable[[type[Member]], type[Member]]:
    """Register a faulty client with the rule that it breaks."""

    def register(made: type[Member]) -> type[Member]:
        FAULTY[made.__name__] = made, rule
        return made

    return register


@caught_by("OwnsOnlyAssigned")
class ReportsOneTooMany(Member):
    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        for topic in (body["topicPartitions"] or ())[:1]:
            topic["partitions"].append(max(topic["partitions"]) + 7)
        return body


@caught_by("AcknowledgesAfterCallback")
class AcknowledgesAtOnce(Member):
    """A report in the callback shows the partitions as released (kgo 466a4512)."""

    def next_callback(self, now_ms: int) -> Callback | None:
        callback = super().next_callback(now_ms)
        if callback is not None and callback.name is CallbackName.REVOKED:
            self._report, self._due_ms = True, now_ms
        return callback

    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        running = self._ownership._running
        if running is not None and running.name is CallbackName.REVOKED and self.epoch > 0:
            full = Member._heartbeat_body
            ownership, self._ownership = self._ownership, Ownership()
            self._ownership.assignment = self._ownership.target = ownership.assignment & ownership.target
            self._report = True
            body = full(self)
            self._ownership, self._report = ownership, False
        return body


@caught_by("ReportsAfterAssigned")
class ReportsInTheCallback(Member):
    """H7 literally, at a time when the application has not got the partitions yet."""

    def next_callback(self, now_ms: int) -> Callback | None:
        callback = super().next_callback(now_ms)
        if callback is not None and callback.name is CallbackName.ASSIGNED:
            self._report, self._due_ms = True, now_ms
        return callback

    def __init__(self, settings: Settings, member_id: str = "") -> None:
        super().__init__(dataclasses.replace(settings, reports_while_revoking=True), member_id)


@caught_by("LeavesAfterCallback")
class LeavesInTheCallback(Member):
    """The leave is sent before the revocation ends (librdkafka 5488)."""

    def next_callback(self, now_ms: int) -> Callback | None:
        callback = super().next_callback(now_ms)
        if callback is not None and self._state is State.PREPARE_LEAVING:
            self._leave()
        return callback


@caught_by("JoinsWithAllFields")
class RejoinsWithChangesOnly(Member):
    """The heartbeat with which it joins again leaves out what has not changed (KAFKA-16190)."""

    _joined_once = False

    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        if self.epoch == 0 and self._joined_once:
            body["rebalanceTimeoutMs"] = -1
        self._joined_once = True
        return body


@caught_by("JoinsWithAllFields")
class RejoinsWithPartitions(Member):
    _kept = NOTHING

    def _fenced(self, now_ms: int) -> None:
        self._kept = self.owned
        super()._fenced(now_ms)

    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        return {**body, "topicPartitions": to_wire(self._kept)} if self.epoch == 0 else body


@caught_by("RepeatsAllAfterError")
class RepeatsNothing(Member):
    def _retry_heartbeat(self, now_ms: int) -> None:
        self._due_ms = now_ms


@caught_by("RejoinsWhenRemoved")
class RejoinsAsAnother(Member):
    def _fenced(self, now_ms: int) -> None:
        super()._fenced(now_ms)
        self.member_id = "another"


@caught_by("RejoinsWhenRemoved")
class ContinuesWhenFenced(Member):
    """A client that takes FENCED_MEMBER_EPOCH for a retriable error."""

    def _heartbeat_answered(self, body: Mapping[str, Any], now_ms: int) -> None:
        if body["errorCode"] == codes.FENCED_MEMBER_EPOCH:
            body = {**body, "errorCode": codes.COORDINATOR_LOAD_IN_PROGRESS}
        super()._heartbeat_answered(body, now_ms)


@caught_by("RejoinsWhenRemoved")
class StuckWhenRemoved(Member):
    """The answer with an error leaves the heartbeat in flight (KAFKA-16215)."""

    def _fenced(self, now_ms: int) -> None:
        super()._fenced(now_ms)
        self._in_flight.not_before_ms = now_ms + 10**9


@caught_by("LosesAllWhenRemoved")
class RevokesWhenRemoved(Member):
    """A client that revokes lost partitions."""

    def next_callback(self, now_ms: int) -> Callback | None:
        callback = super().next_callback(now_ms)
        if callback is not None and callback.name is CallbackName.LOST:
            return Callback(CallbackName.REVOKED, callback.partitions)
        return callback


@caught_by("LosesAllWhenRemoved")
class ForgetsWhenRemoved(Member):
    """A client that joins again and never tells the application that its partitions are gone."""

    def _abandon(self) -> None:
        super()._abandon()
        if self._ownership._running is None:
            self._ownership = Ownership()


@caught_by("LeavesWhenClosed")
class ClosesSilently(Member):
    """No leave (KAFKA-16639, KAFKA-16933)."""

    def _leave(self) -> None:
        self._out()
        self._state = State.STALE


@caught_by("StaysInTheGroup")
class ClosesUnasked(Member):
    def poll(self, now_ms: int) -> None:
        super().poll(now_ms)
        if now_ms > 3_000:
            self.close(now_ms)


@caught_by("LeavesWhenClosed")
class StaticLeavesForGood(Member):
    def close(self, now_ms: int, timeout_ms: int | None = None) -> None:
        super().close(now_ms, timeout_ms)
        self._temporarily = False


@caught_by("NewProcessHasNewId")
class SameIdAgain(Member):
    """Every process has the same id, as from a weak source of randomness (librdkafka 5265)."""

    def __init__(self, settings: Settings, member_id: str = "") -> None:
        super().__init__(settings, "always-this")


@caught_by("FindsCoordinatorAnew")
class StaysWithTheCoordinator(Member):
    def _ended(self, well: bool, now_ms: int, *errors: int) -> None:
        super()._ended(well, now_ms, *(() if codes.NOT_COORDINATOR in errors else errors))


@caught_by("UsesExactlyAssigned")
class DropsWhatItDoesNotKnow(Member):
    """A client that reports partitions that its metadata does not have yet, and never gives them to the
    application (kgo 9b92299f)."""

    _dropped = NOTHING

    def _accepted(self, body: Mapping[str, Any], now_ms: int) -> None:
        if body.get("assignment") is not None:
            answer = from_wire(body["assignment"]["assignedTopicPartitions"])
            self._dropped = frozenset(one for one in answer if one[1] == 2)
            known = {**body["assignment"], "assignedTopicPartitions": to_wire(answer - self._dropped)}
            body = {**body, "assignment": known}
        super()._accepted(body, now_ms)

    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        if body["topicPartitions"] is not None and self.epoch > 0:
            body["topicPartitions"] = to_wire(self.owned | self._dropped)
        return body


@caught_by("StaysInTheGroup")
class StopsAfterAnError(Member):
    """An error in the answer to its join ends its heartbeats (KAFKA-16215)."""

    def _heartbeat_answered(self, body: Mapping[str, Any], now_ms: int) -> None:
        super()._heartbeat_answered(body, now_ms)
        if body["errorCode"] in codes.RETRIABLE and self.epoch == 0:
            self._in_flight.not_before_ms = now_ms + 10**9


@caught_by("AcknowledgesAtLast")
class NeverAcknowledges(Member):
    def _heartbeat_body(self) -> Json:
        body = super()._heartbeat_body()
        return {**body, "topicPartitions": None} if self.epoch > 0 else body


@caught_by("ReportsItsSubscription")
class MissesASubscription(Member):
    """A subscription that changes while a heartbeat is in flight does not reach the coordinator
    (librdkafka 5015)."""

    def subscribe(self, topics: Iterable[str] = (), *, regex: str | None = None, now_ms: int) -> None:
        report = self._report
        super().subscribe(topics, regex=regex, now_ms=now_ms)
        if self._state is State.STABLE:
            self._report = report


@caught_by("HeartbeatsInTime")
class HeartbeatsTooRarely(Member):
    def _accepted(self, body: Mapping[str, Any], now_ms: int) -> None:
        super()._accepted({**body, "heartbeatIntervalMs": body["heartbeatIntervalMs"] * 5}, now_ms)


@caught_by("HeartbeatsInTime")
class HeartbeatsTooOften(Member):
    def _accepted(self, body: Mapping[str, Any], now_ms: int) -> None:
        super()._accepted({**body, "heartbeatIntervalMs": body["heartbeatIntervalMs"] // 10}, now_ms)


class _Hasty(InFlight):
    def back_off(self, now_ms: int) -> None:
        self.not_before_ms = now_ms


@caught_by("BacksOff")
class NeverPauses(Member):
    def __init__(self, settings: Settings, member_id: str = "") -> None:
        super().__init__(settings, member_id)
        self._in_flight = _Hasty(settings)


@caught_by("FatalErrorsAreShown")
class HidesFatalErrors(Member):
    def take_error(self) -> BaseException | None:
        return None


@caught_by("FatalErrorsAreShown")
class TriesAgainAfterFatal(Member):
    """A client that takes UNRELEASED_INSTANCE_ID for a retriable error, and never reports it."""

    def _heartbeat_answered(self, body: Mapping[str, Any], now_ms: int) -> None:
        if body["errorCode"] == codes.UNRELEASED_INSTANCE_ID:
            body = {**body, "errorCode": codes.COORDINATOR_LOAD_IN_PROGRESS}
        super()._heartbeat_answered(body, now_ms)


@caught_by("CommitsWithItsEpoch")
class CommitsWithoutMemberId(Member):
    """The id of the join is not passed on to commits (KAFKA-15978)."""

    def _body(self, purpose: Purpose, now_ms: int) -> Json:
        body = super()._body(purpose, now_ms)
        return {**body, "memberId": ""} if purpose is Purpose.COMMIT else body


@caught_by("CommitsWithItsEpoch")
class CommitsWithAnotherEpoch(Member):
    def _body(self, purpose: Purpose, now_ms: int) -> Json:
        body = super()._body(purpose, now_ms)
        if purpose is Purpose.COMMIT:
            body["generationIdOrMemberEpoch"] += 100
        return body


@caught_by("FetchesOffsetsWithItsEpoch")
class FetchesOffsetsWithAnotherEpoch(Member):
    def _body(self, purpose: Purpose, now_ms: int) -> Json:
        body = super()._body(purpose, now_ms)
        if purpose is Purpose.FETCH_OFFSETS:
            body["generationIdOrMemberEpoch"] += 100
        return body


@caught_by("RetriesStaleCommitLater")
class RetriesStaleCommitAtOnce(Member):
    """A client that retries with the stale epoch (kgo 6f5471d4)."""

    def _wait_for_heartbeat(self, now_ms: int) -> None:
        self._due_ms = now_ms + 1_000


@caught_by("RepeatsStaleCommit")
class GivesUpStaleCommits(Member):
    def _commit_answered(self, request: Request, errors: Mapping[TopicPartition, int], now_ms: int) -> None:
        if request.purpose is Purpose.COMMIT and codes.STALE_MEMBER_EPOCH in errors.values():
            self._ended(False, now_ms)
            self._complete_commit(request, codes.STALE_MEMBER_EPOCH)
        else:
            super()._commit_answered(request, errors, now_ms)


@caught_by("CommitsEnd")
class ForgetsCommits(Member):
    def _complete_commit(self, request: Request, error: int) -> None:
        return


class _Fetching(Ownership):
    @property
    def fetchable(self) -> Partitions:
        return self.owned


@caught_by("FetchesWhatItUses")
class FetchesWhileRevoking(Member):
    def __init__(self, settings: Settings, member_id: str = "") -> None:
        super().__init__(settings, member_id)
        self._ownership = _Fetching()


class _Uncommitted(Ownership):
    def take(self, committable: Partitions) -> Callback | None:
        return super().take(NOTHING)


@caught_by("CommitsBeforeItAcknowledges")
class RevokesWithoutCommit(Member):
    """A client that gives partitions up before it commits its positions."""

    def __init__(self, settings: Settings, member_id: str = "") -> None:
        super().__init__(settings, member_id)
        self._ownership = _Uncommitted()


@caught_by("IsGivenOnlyAssigned")
class TellsAssignmentsTwice(Member):
    def next_callback(self, now_ms: int) -> Callback | None:
        callback = super().next_callback(now_ms)
        if callback is not None and callback.name is CallbackName.ASSIGNED:
            return Callback(CallbackName.ASSIGNED, self.assignment)
        return callback


@caught_by("OneHeartbeatInFlight")
class SendsTwice(Member):
    """A client that sends another heartbeat while one is in flight, as soon as the application makes a
    call."""

    def poll(self, now_ms: int) -> None:
        super().poll(now_ms)
        request = self._in_flight.request
        if request is not None and request.purpose is Purpose.HEARTBEAT and now_ms > self._sent_ms:
            self._in_flight.request = None
            self._due_ms = now_ms
