"""The states of a member and their transitions (K1 to K4); requests and answers are in machine.py."""

from __future__ import annotations

from coordinator.members.consumer import codes, heartbeat
from coordinator.members.consumer.inflight import InFlight
from coordinator.members.consumer.metrics import RebalanceMetrics
from coordinator.members.consumer.offsets import Offsets
from coordinator.members.consumer.ownership import Ownership
from coordinator.members.consumer.types import (
    NOTHING,
    Callback,
    CallbackName,
    MemberError,
    Partitions,
    Purpose,
    Request,
    Settings,
    State,
    Subscription,
)


class Lifecycle:
    """State of a member."""

    def __init__(self, settings: Settings, member_id: str) -> None:
        self.settings = settings
        self.member_id = member_id
        self.epoch = heartbeat.JOIN_EPOCH
        self.offsets = Offsets(settings)
        self.metrics = RebalanceMetrics()
        self.closed = False
        self._state = State.UNSUBSCRIBED
        """RECONCILING and ACKNOWLEDGING are STABLE here: they follow from what is owned and reported."""
        self._subscription: Subscription | None = None
        self._ownership = Ownership()
        self._in_flight = InFlight(settings)
        self._in_group = False
        """Tell if the coordinator may have this member. Only then the member must leave (H2)."""
        self._report = True
        """H7: is the next heartbeat a full one?"""
        self._unsent = False
        """Tell if the subscription has changed since the last full heartbeat: the next one goes at once
        (H10)."""
        self._unreported = False
        """Tell if an assignment was received since the last report."""
        self._changed = False
        """Tell if that assignment differs from the one before, so that it is acknowledged at once (K2)."""
        self._acknowledging = False
        self._stale = False
        """Tell if the application has not polled since its poll was overdue."""
        self._temporarily = False
        """Tell if a static member leaves only for a while (S1)."""
        self._interval_ms = 0
        self._sent_ms = 0
        self._due_ms = 0
        self._poll_deadline_ms = 0
        self._leave_deadline_ms = 0
        self._error: BaseException | None = None
        self._completed: list[Callback] = []

    @property
    def state(self) -> State:
        """Where the member is."""
        if self._state is not State.STABLE:
            return self._state
        if not self._ownership.idle:
            return State.RECONCILING
        return State.ACKNOWLEDGING if self._acknowledging else State.STABLE

    @property
    def assignment(self) -> Partitions:
        """The assignment that the application sees; changes only with its callbacks, so only in poll."""
        return self._ownership.assignment

    @property
    def owned(self) -> Partitions:
        """The partitions of a full heartbeat: none from the moment that the member is fenced (K1)."""
        return self._ownership.owned

    @property
    def must_revoke(self) -> bool:
        """Tell if the member owns partitions that the coordinator took from it (K2)."""
        return not self.owned <= self._ownership.target

    @property
    def fetchable(self) -> Partitions:
        """The partitions to fetch from now; each has a position in `offsets.positions`."""
        return self._ownership.fetchable & self.offsets.positions.keys()

    def take_error(self) -> BaseException | None:
        """The first error since the last call: of a callback, or a MemberError."""
        error, self._error = self._error, None
        return error

    def _measure(self, now_ms: int) -> None:
        """C7: a rebalance begins when the member gets another assignment, and ends when the application uses
        that assignment; it fails if the member leaves the group before, unless the application unsubscribed
        or closed."""
        if self.state is State.RECONCILING:
            self.metrics.began(now_ms)
        elif self._state is State.STABLE:
            self.metrics.succeeded(now_ms)
        elif self._subscription is None:
            self.metrics.given_up()
        else:
            self.metrics.failed(now_ms)

    def _fail(self, error: BaseException) -> None:
        self._error = self._error or error

    def _join(self, now_ms: int) -> None:
        """H1: join, with the member id of before, if the member has one."""
        self._state = State.JOINING
        self._report = True
        self._due_ms = now_ms
        self._poll_deadline_ms = now_ms + self.settings.max_poll_interval_ms

    def _go_on(self, now_ms: int) -> None:
        """Continue once the application uses the given assignment."""
        if not self._ownership.idle:
            return
        if self._state is State.STABLE and self._unreported:
            self._report, self._unreported = True, False
            if self._changed:
                self._due_ms, self._changed, self._acknowledging = now_ms, False, True
        if self._state is State.PREPARE_LEAVING:
            self._leave()
        if self._state in (State.FENCED, State.STALE) and not self._stale:
            if self._subscription is None:
                self._state = State.UNSUBSCRIBED
            else:
                self._join(now_ms)

    def _leave(self) -> None:
        """H2: leave if the member may be in the group; the answer to a first join has the member id for
        it."""
        request = self._in_flight.request
        if self._in_group and (self.member_id or (request and request.purpose is Purpose.HEARTBEAT)):
            self._state = State.LEAVING
        else:
            self._out()
            self._state = State.STALE

    def _left(self, now_ms: int) -> None:
        """H2: go on without the group, which the member has left, or tries to leave no longer."""
        self._out()
        self._state = State.STALE
        self._go_on(now_ms)

    def _leave_in_time(self, failed: Request, now_ms: int) -> None:
        """K4: after the time-out of a leave no request is tried again. Give up the commit before the last
        revocation, whichever request has failed; give up the leave where no coordinator was found for it."""
        if now_ms < self._leave_deadline_ms:
            return
        if self._state is State.LEAVING and failed.purpose is Purpose.FIND_COORDINATOR:
            self._left(now_ms)
        elif self._state is State.PREPARE_LEAVING and self._ownership.committing:
            self._give_up_commit()

    def _give_up_commit(self) -> None:
        self.offsets.held = False
        self._ownership.commit_over()

    def _out(self) -> None:
        """Note that the coordinator no longer has the member."""
        self.epoch = heartbeat.JOIN_EPOCH
        self._in_group = self._unreported = self._changed = self._acknowledging = False
        self.offsets.held = False
        if self.offsets.commit_wanted:
            self.offsets.commit_wanted = False
            self._completed.append(Callback(CallbackName.COMMITTED, self.assignment, codes.UNKNOWN_MEMBER_ID))

    def _abandon(self) -> None:
        self._ownership.abandon()
        self.offsets.keep(NOTHING)

    def _fenced(self, now_ms: int) -> None:
        """K1: the member was fenced: its partitions may already belong to another."""
        self._out()
        self._abandon()
        self._state = State.FENCED
        self._go_on(now_ms)

    def _fatal(self, error: MemberError) -> None:
        self._out()
        self._abandon()
        self._state = State.FATAL
        self._fail(error)

    def _expires(self) -> bool:
        """Tell if max.poll.interval.ms counts. While on_partitions_revoked runs it does not: a leave would
        claim that the callback has ended, and R4 bounds it."""
        return self._state in (State.JOINING, State.STABLE) and not self._ownership.revoking

    def _go_stale(self, now_ms: int) -> None:
        """Leave because the application does not poll, so that others get the partitions; without a commit,
        since the member does not know which records were processed."""
        self._abandon()
        self._stale = self._temporarily = True
        self._leave_deadline_ms = now_ms + self.settings.close_timeout_ms
        self._leave()
        self._measure(now_ms)

    def _give_up(self, now_ms: int, timeout_ms: int) -> None:
        """K4: revoke everything, then leave."""
        self._subscription = None
        self.metrics.given_up()
        self._stale = False
        self._leave_deadline_ms = now_ms + timeout_ms
        if self._state in (State.JOINING, State.STABLE):
            self._temporarily = self.closed
            self._state = State.PREPARE_LEAVING
            self._ownership.target = NOTHING
            if not self.offsets.held:
                # H9: a subscription or an assignment that was to be reported at once is void
                self._due_ms = max(self._due_ms, self._sent_ms + self._interval_ms)
        self._go_on(now_ms)

    def _usable(self) -> None:
        if self.closed:
            raise ValueError("This consumer is closed: make a new one.")
        if self._state is State.FATAL:
            raise ValueError("This consumer has failed, as take_error said: close it and make a new one.")
