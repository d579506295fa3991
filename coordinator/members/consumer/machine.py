"""The consumer's side of KIP-848 as a state machine without input and output (K1 to K4).

The driver tells it what happens (the application's calls, answers, the time) and asks what is to be done:
`take_request` for the next request, `next_callback` for the next callback, `next_deadline_ms` for when to
ask again. It reads no clock; all times are milliseconds of the driver's, and never go back.

    member.subscribe(["foo"], now_ms=0)
    request = member.take_request(0)                      # send it; then, with its answer:
    member.answered(request.correlation, body, now_ms)    # or, without: member.failed(...)
    member.poll(now_ms)                                   # the application polls; in it, run callbacks:
    while callback := member.next_callback(now_ms):
        ...
        member.callback_done(now_ms, error)
    member.fetchable, member.offsets.positions            # what may be fetched now, and from where
    member.metrics.values(now_ms)                         # C7
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from coordinator.members.consumer import codes, heartbeat
from coordinator.members.consumer.assignors import Computer, PartitionAssignor
from coordinator.members.consumer.lifecycle import Lifecycle
from coordinator.members.consumer.offsets import VERSION as OFFSETS_VERSION
from coordinator.members.consumer.types import (
    NOTHING,
    Callback,
    CallbackName,
    GroupMetadata,
    Json,
    MemberError,
    Partitions,
    Purpose,
    Request,
    Settings,
    State,
    Subscription,
    TopicPartition,
    from_wire,
)

_APIS: Final = {
    Purpose.FIND_COORDINATOR: ("FindCoordinator", 4),
    Purpose.HEARTBEAT: (heartbeat.API, heartbeat.VERSION),
    Purpose.LEAVE: (heartbeat.API, heartbeat.VERSION),
    Purpose.COMMIT_BEFORE_REVOCATION: ("OffsetCommit", OFFSETS_VERSION),
    Purpose.COMMIT: ("OffsetCommit", OFFSETS_VERSION),
    Purpose.FETCH_OFFSETS: ("OffsetFetch", OFFSETS_VERSION),
}
_COMPUTE_VERSION: Final = 0
_LOG: Final = logging.getLogger(__name__)


class Member(Lifecycle):
    """One consumer of one group. `member_id` "": the coordinator makes one (H1).

    `assignors` are its client-side ones, the first preferred (K4: group.local.assignors). ValueError where
    the settings name a server-side assignor, too.
    """

    def __init__(
        self, settings: Settings, member_id: str = "", assignors: tuple[PartitionAssignor, ...] = ()
    ) -> None:
        super().__init__(settings, member_id)
        if assignors and settings.server_assignor is not None:
            raise ValueError("A consumer has local assignors or a remote one, not both; leave one out.")
        self._computer = Computer(assignors)
        self._coordinator_known = True
        self._regex_sent = False
        self._commit_deadline_ms = 0
        self._completion_runs = False

    # The application

    def subscribe(self, topics: Iterable[str] = (), *, regex: str | None = None, now_ms: int) -> None:
        """Join, or change the subscription: topic names, a regular expression of RE2 (T1), or both.

        ValueError after close or a fatal error.
        """
        self._usable()
        wanted = Subscription(frozenset(topics), regex)
        if wanted == self._subscription:
            return
        self._subscription = wanted
        self._report, self._unsent, self._acknowledging = True, True, False
        self._due_ms = now_ms
        if self._state is State.UNSUBSCRIBED:
            self._join(now_ms)

    def unsubscribe(self, now_ms: int) -> None:
        """Give up everything and leave for good; run the callbacks then."""
        self._usable()
        self._give_up(now_ms, self.settings.close_timeout_ms)

    def close(self, now_ms: int, timeout_ms: int | None = None) -> None:
        """Give up everything and leave, a static member for a while (S1); then run the callbacks. The member
        is closed when the state is UNSUBSCRIBED or FATAL. After the time-out no request is tried again
        (K4)."""
        self.closed = True
        self._give_up(now_ms, self.settings.close_timeout_ms if timeout_ms is None else timeout_ms)

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Do nothing, and log a warning: in a group of KIP-848 no member enforces a rebalance (K4). A local
        assignor asks for one with other metadata, or a reason that is not 0 (E1)."""
        _LOG.warning("enforce_rebalance does nothing with the consumer protocol; reason: %s.", reason)

    def poll(self, now_ms: int) -> None:
        """Note a poll of the application; a long poll must call this again and again."""
        self._poll_deadline_ms = now_ms + self.settings.max_poll_interval_ms
        self._stale = False
        self._go_on(now_ms)

    def next_callback(self, now_ms: int) -> Callback | None:
        """The next callback to run, within poll, unsubscribe or close; None while another runs (K2, K3)."""
        if self._completion_runs or self._ownership.runs:
            return None
        if self._completed:
            self._completion_runs = True
            return self._completed.pop(0)
        commits = self.settings.auto_commit and self._in_group and self.epoch > 0
        committing = self._ownership.committing
        callback = self._ownership.take(self.offsets.committable() if commits else NOTHING)
        if callback is not None:
            self.metrics.callback_began(callback.name, now_ms)
        if self._ownership.committing and not committing:
            self._commit_deadline_ms = now_ms + self.settings.max_poll_interval_ms
        return callback

    def callback_done(self, now_ms: int, error: BaseException | None = None) -> None:
        """Take the end of the callback, which has returned or raised: the member goes on in both cases.

        ValueError if none was running.
        """
        if error is not None:
            self._fail(error)
        if self._completion_runs:
            self._completion_runs = False
            return
        self._ownership.done()
        self.metrics.callback_ended(now_ms)
        self.offsets.keep(self.owned)
        if self.offsets.commit_wanted and not self.offsets.positions:
            # The commit is given up: the application waits for an answer.
            self.offsets.commit_wanted = False
            self._completed.append(Callback(CallbackName.COMMITTED, NOTHING, codes.REBALANCE_IN_PROGRESS))
        self._measure(now_ms)
        self._go_on(now_ms)

    def set_position(self, partition: TopicPartition, offset: int) -> None:
        """The next offset that the application consumes. ValueError if the partition is not its own."""
        if partition not in self.owned:
            raise ValueError(
                f"Partition {partition[1]} of topic {partition[0]} is not assigned to this consumer."
            )
        self.offsets.positions[partition] = offset

    def commit(self) -> None:
        """Commit all positions, once; on_commit_complete gets the result. A commit with a stale epoch is
        repeated after the next heartbeat, with the positions of that time (O4)."""
        if self.offsets.positions:
            self.offsets.commit_wanted = True
        else:
            self._completed.append(Callback(CallbackName.COMMITTED, NOTHING))

    # Requests

    def take_request(self, now_ms: int) -> Request | None:
        """The request to send now; it is in flight from then on. None if there is nothing to send yet."""
        if self._expires() and now_ms >= self._poll_deadline_ms:
            self._go_stale(now_ms)
        if self._in_flight.request is not None or now_ms < self._in_flight.not_before_ms:
            return None
        for due_ms, purpose in self._wishes():
            if due_ms <= now_ms:
                chosen = purpose if self._coordinator_known else Purpose.FIND_COORDINATOR
                api, version = _APIS.get(chosen, (self._computer.due, _COMPUTE_VERSION))
                return self._in_flight.send(chosen, api, version, self._body(chosen, now_ms))
        return None

    def next_deadline_ms(self) -> int | None:
        """The latest time at which to call `take_request`; None: not before something else happens."""
        times = [self._poll_deadline_ms] if self._expires() else []
        if self._in_flight.request is None:
            pause_ms = self._in_flight.not_before_ms
            times += [max(due_ms, pause_ms) for due_ms, _ in self._wishes()]
        return min(times, default=None)

    def _wishes(self) -> Iterator[tuple[int, Purpose]]:
        """The requests to send, each with its earliest time, the most urgent first."""
        if self._state is State.LEAVING:
            yield 0, Purpose.LEAVE
            return
        stays = self._state is State.PREPARE_LEAVING and self.epoch > 0
        if stays or self._state in (State.JOINING, State.STABLE):
            yield self._due_ms, Purpose.HEARTBEAT
        if self.epoch > 0 and not self.offsets.held:
            if self._computer.due and self._state is State.STABLE:
                yield 0, Purpose.COMPUTE
            if self._ownership.committing:
                yield 0, Purpose.COMMIT_BEFORE_REVOCATION
            elif self.offsets.commit_wanted and self.offsets.positions:
                yield 0, Purpose.COMMIT
            elif self._without_position():
                yield 0, Purpose.FETCH_OFFSETS

    def _without_position(self) -> Partitions:
        return self._ownership.fetchable - self.offsets.positions.keys()

    def _body(self, purpose: Purpose, now_ms: int) -> Json:
        match purpose:
            case Purpose.FIND_COORDINATOR:
                return {"keyType": 0, "coordinatorKeys": [self.settings.group_id]}
            case Purpose.HEARTBEAT:
                body = self._heartbeat_body()
                self._report = self._unsent = self._acknowledging = False
                self._in_group = True
                self._sent_ms, self._due_ms = now_ms, now_ms + self._interval_ms
                return body
            case Purpose.LEAVE:
                return heartbeat.leave(self.settings, self.member_id, self._temporarily)
            case Purpose.FETCH_OFFSETS:
                return self.offsets.fetch_body(self._without_position(), self.member_id, self.epoch)
            case Purpose.COMMIT_BEFORE_REVOCATION:
                return self.offsets.commit_body(self._ownership.committing, self.member_id, self.epoch)
            case Purpose.COMMIT:
                self.offsets.commit_wanted = False
                return self.offsets.commit_body(self.owned, self.member_id, self.epoch)
            case Purpose.COMPUTE:
                return self._computer.body(self.settings.group_id, self.member_id, self.epoch)

    def _heartbeat_body(self) -> Json:
        """H7: full on join, after an error or a lost answer, and when something has changed."""
        subscription = self._subscription
        joins = self.epoch == heartbeat.JOIN_EPOCH
        offers, failure = self._computer.offers_to_send(self._report or joins)
        if failure is not None:
            self._fail(failure)
        if subscription is None or not (self._report or joins):
            return {**heartbeat.keep_alive(self.settings, self.member_id, self.epoch), **offers}
        regex = subscription.regex
        if joins:
            self._regex_sent = False
        elif regex is None and self._regex_sent:
            regex = ""
        self._regex_sent = self._regex_sent or regex is not None
        settled = self._ownership.idle or self.settings.reports_while_revoking
        owned = self.owned if settled else None
        full = heartbeat.full(self.settings, self.member_id, self.epoch, subscription, regex, owned)
        return {**full, **offers}

    # Answers

    def answered(self, correlation: int, body: Mapping[str, Any], now_ms: int) -> None:
        """Take the answer to a request. An answer to a request that was given up is ignored."""
        request = self._in_flight.end(correlation)
        if request is None:
            return
        match request.purpose:
            case Purpose.HEARTBEAT:
                self._heartbeat_answered(body, now_ms)
            case Purpose.LEAVE:
                self._leave_answered(body["errorCode"], now_ms)
            case Purpose.FIND_COORDINATOR:
                self._coordinator_known = {one["errorCode"] for one in body["coordinators"]} == {codes.NONE}
                self._ended(self._coordinator_known, now_ms)
            case Purpose.FETCH_OFFSETS:
                errors = self.offsets.fetch_answered(body, self.owned)
                self._offsets_answered(errors, self.offsets.unknown(request.body, self.owned), now_ms)
            case Purpose.COMPUTE:
                self._computer.answered(body)
                well = body["errorCode"] not in {codes.STALE_MEMBER_EPOCH, *codes.RETRIABLE}
                self._ended(well, now_ms, body["errorCode"])
                if not well:
                    self._wait_for_heartbeat(now_ms)
            case Purpose.COMMIT | Purpose.COMMIT_BEFORE_REVOCATION:
                self._commit_answered(request, self.offsets.commit_answered(request.body, body), now_ms)
                self.offsets.keep(self.owned)  # the member may have lost some while the answer was on its way
        if self._in_flight.failures:
            self._leave_in_time(request, now_ms)

    def failed(self, correlation: int, now_ms: int, *, disconnected: bool = False) -> None:
        """Note that no answer will come: the request timed out, or its connection broke."""
        request = self._in_flight.end(correlation)
        if request is None:
            return
        if disconnected:
            self._coordinator_known = False
        match request.purpose:
            case Purpose.LEAVE:
                self._leave_answered(codes.REQUEST_TIMED_OUT, now_ms)
                return
            case Purpose.HEARTBEAT:
                self._retry_heartbeat(now_ms)
            case Purpose.COMMIT_BEFORE_REVOCATION:
                self._retry_commit(now_ms)
            case Purpose.COMMIT:
                self._complete_commit(request, codes.REQUEST_TIMED_OUT)
        self._ended(False, now_ms)
        self._leave_in_time(request, now_ms)

    def _heartbeat_answered(self, body: Mapping[str, Any], now_ms: int) -> None:
        """KIP-848 "Response Handling"; the application must handle UNRELEASED_INSTANCE_ID, too (K1)."""
        error = body["errorCode"]
        if error in codes.REMOVED:
            if self.epoch == heartbeat.JOIN_EPOCH:
                self._ended(False, now_ms)  # a join that is refused may be refused again
            self._fenced(now_ms)
        elif error in codes.RETRIABLE:
            self._ended(False, now_ms, error)
            self._retry_heartbeat(now_ms)
        elif error != codes.NONE:
            self._fatal(MemberError(error, body.get("errorMessage") or codes.refused(error)))
        elif body["memberEpoch"] < max(self.epoch, heartbeat.JOIN_EPOCH + 1):
            # E4: no coordinator lets a member in at such an epoch, or lets its epoch fall
            self._ended(False, now_ms)
            self._retry_heartbeat(now_ms)
        else:
            self._accepted(body, now_ms)
        self._measure(now_ms)

    def _accepted(self, body: Mapping[str, Any], now_ms: int) -> None:
        self._ended(True, now_ms)
        self.member_id = body.get("memberId") or self.member_id
        rose = body["memberEpoch"] > self.epoch
        self.epoch = body["memberEpoch"]
        if body["heartbeatIntervalMs"] > 0:
            self._interval_ms = body["heartbeatIntervalMs"]
            if not self._report:
                self._due_ms = self._sent_ms + self._interval_ms
        self.offsets.held = False
        if self._state is State.JOINING:
            self._state = State.STABLE
        if body.get("shouldComputeAssignment"):
            self._computer.begin()
        assignment = body.get("assignment")
        if rose and self._state is State.STABLE:
            place = self.settings.group_id, self.epoch, self.member_id, self.settings.instance_id
            for error in self._computer.epoch_rose(assignment, GroupMetadata(*place)):
                self._fail(error)
        if assignment is not None and self._state is State.STABLE:
            target = from_wire(assignment["assignedTopicPartitions"])
            # A repeated assignment is reported again, but not at once: else the exchange would go on until
            # others revoke.
            self._changed = self._changed or target != self._ownership.target
            self._unreported = True
            self._ownership.target = target
            if self._acknowledging and not self._ownership.idle:
                # R1: told to revoke more before it has acknowledged, the member has nothing to report yet
                self._acknowledging = False
                if not self._unsent:
                    self._report, self._due_ms = False, self._sent_ms + self._interval_ms
        self._go_on(now_ms)

    def _leave_answered(self, error: int, now_ms: int) -> None:
        """H2: the member is out, whatever the answer; UNKNOWN_MEMBER_ID means the same."""
        again = error in codes.RETRIABLE
        self._ended(not again, now_ms, error)
        if again and now_ms < self._leave_deadline_ms:
            return
        self._left(now_ms)

    def _out(self) -> None:
        """A5, K3: a computation, and the last assignment of its assignors, end with the membership."""
        super()._out()
        self._computer.stop()

    def _commit_answered(self, request: Request, errors: Mapping[TopicPartition, int], now_ms: int) -> None:
        failures = sorted(set(errors.values()) - {codes.NONE})
        stale = codes.STALE_MEMBER_EPOCH in failures
        self._ended(not failures, now_ms, *failures)
        if request.purpose is Purpose.COMMIT and stale:
            self.offsets.commit_wanted = True
            self._wait_for_heartbeat(now_ms)
        elif request.purpose is Purpose.COMMIT:
            self._complete_commit(request, failures[0] if failures else codes.NONE)
        elif stale or not codes.RETRIABLE.isdisjoint(failures):
            if stale:
                self._wait_for_heartbeat(now_ms)
            self._retry_commit(now_ms)
        else:
            if failures:
                message = (
                    f"Offsets were not committed before their partitions were revoked: error {failures[0]}."
                )
                self._fail(MemberError(failures[0], message))
            self._ownership.commit_over()

    def _offsets_answered(self, errors: frozenset[int], unknown: Partitions, now_ms: int) -> None:
        """Ask again after any error, and for partitions that the answer left out: partitions without a
        position are not fetched."""
        self._ended(not errors and not unknown, now_ms, *errors)
        if not errors.isdisjoint({codes.STALE_MEMBER_EPOCH, *codes.REMOVED}):
            self._wait_for_heartbeat(now_ms)

    def _wait_for_heartbeat(self, now_ms: int) -> None:
        """O4: the answer to the next heartbeat has the epoch, or fences the member."""
        self.offsets.held = True
        self._due_ms = now_ms

    def _ended(self, well: bool, now_ms: int, *errors: int) -> None:
        if not codes.COORDINATOR_MOVED.isdisjoint(errors):
            self._coordinator_known = False
        if well:
            self._in_flight.succeeded()
        else:
            self._in_flight.back_off(now_ms)

    def _retry_heartbeat(self, now_ms: int) -> None:
        """H7: send all fields, since the member does not know which of them arrived."""
        self._report = True
        self._due_ms = now_ms
        if self._state is State.LEAVING and not self.member_id:
            self._leave()
        self._go_on(now_ms)

    def _retry_commit(self, now_ms: int) -> None:
        leaving = self._state is State.PREPARE_LEAVING
        if now_ms >= (self._leave_deadline_ms if leaving else self._commit_deadline_ms):
            self._give_up_commit()

    def _complete_commit(self, request: Request, error: int) -> None:
        sent = frozenset(
            (topic["topicId"], partition["partitionIndex"])
            for topic in request.body["topics"]
            for partition in topic["partitions"]
        )
        self._completed.append(Callback(CallbackName.COMMITTED, sent, error))
