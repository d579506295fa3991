"""The callbacks of a rebalance in KIP-429's order, and the partitions that the member owns meanwhile (C6).

An error of a callback changes nothing: its event has happened, the remaining callbacks run, and the first
error is kept.
"""

from __future__ import annotations

from collections import deque

from coordinator.classic.assignors import ClassicAssignor
from coordinator.classic.embedded import Assignment
from coordinator.members.classic.types import NOTHING, HearsAssignment, Partitions
from coordinator.members.consumer.metrics import RebalanceMetrics
from coordinator.members.consumer.types import Callback, CallbackName, GroupMetadata


class Callbacks:
    """The callbacks to call, in order. `owned` changes when a callback is taken or done, or when everything
    is lost. Only on_partitions_assigned is called without partitions (erratum of KIP-429)."""

    def __init__(self, metrics: RebalanceMetrics) -> None:
        self.owned: Partitions = NOTHING
        self._metrics = metrics
        self._waiting: deque[Callback | tuple[HearsAssignment, Assignment, GroupMetadata]] = deque()
        self._running: Callback | None = None
        self._error: BaseException | None = None

    @property
    def idle(self) -> bool:
        """Has everything run?"""
        return self._running is None and not self._waiting

    @property
    def fetchable(self) -> Partitions:
        """The partitions to fetch: none that is or will be revoked, and none that is being assigned."""
        waiting = [one for one in self._waiting if isinstance(one, Callback)]
        busy = [*waiting, *([] if self._running is None else [self._running])]
        return self.owned.difference(*(one.partitions for one in busy))

    @property
    def _being_revoked(self) -> Partitions:
        running = self._running
        return running.partitions if running and running.name is CallbackName.REVOKED else NOTHING

    def give_up(self, partitions: Partitions, gone: Partitions = NOTHING) -> None:
        """Partitions in `gone` are lost as soon as on_partitions_lost is called; the others are given up when
        on_partitions_revoked returns."""
        for name, some in ((CallbackName.LOST, partitions & gone), (CallbackName.REVOKED, partitions - gone)):
            if some:
                self._waiting.append(Callback(name, some))

    def assign(
        self, new: Partitions, whole: Assignment, assignor: ClassicAssignor, group: GroupMetadata
    ) -> None:
        """Assign, after everything to revoke: the assignor gets the whole assignment, the listener the new
        partitions, even if there are none."""
        if isinstance(assignor, HearsAssignment):
            self._waiting.append((assignor, whole, group))
        self._waiting.append(Callback(CallbackName.ASSIGNED, new))

    def lose(self) -> None:
        """Lose everything at once and drop the waiting callbacks. on_partitions_lost gets the partitions,
        unless nothing was owned. A partition that is being revoked is not lost as well."""
        self._clear()
        lost, self.owned = self.owned - self._being_revoked, NOTHING
        if lost:
            self._waiting.append(Callback(CallbackName.LOST, lost))

    def end(self) -> None:
        """Revoke everything, once, and drop the waiting callbacks: an assignment that was not announced never
        will be."""
        self._clear()
        self.give_up(self.owned - self._being_revoked)

    def _clear(self) -> None:
        """Drop the waiting callbacks, except on_partitions_lost of partitions that are owned no longer: no
        other callback would announce those."""
        waiting = [one for one in self._waiting if isinstance(one, Callback)]
        gone = (one for one in waiting if one.name is CallbackName.LOST and not one.partitions & self.owned)
        self._waiting = deque(gone)

    def take(self, now_ms: int) -> Callback | None:
        """The next callback to run; None while another runs. The assignor's callback runs here."""
        while self._running is None and self._waiting:
            following = self._waiting.popleft()
            if isinstance(following, Callback):
                self._running = following
                if following.name is CallbackName.ASSIGNED:
                    self.owned |= following.partitions
                elif following.name is CallbackName.LOST:
                    self.owned -= following.partitions
                self._metrics.callback_began(following.name, now_ms)
                return following
            assignor, whole, group = following
            try:
                assignor.on_assignment(whole, group)
            except Exception as error:  # the application's assignor may raise anything
                self.fail(error)
        return None

    def done(self, error: BaseException | None, now_ms: int) -> CallbackName:
        """The end of the taken callback, which has returned or raised: its name. ValueError if none was
        running."""
        if self._running is None:
            raise ValueError("No callback is running: take one with next_callback first.")
        if error is not None:
            self.fail(error)
        done, self._running = self._running, None
        if done.name is CallbackName.REVOKED:
            self.owned -= done.partitions
        self._metrics.callback_ended(now_ms)
        return done.name

    def fail(self, error: BaseException) -> None:
        """Keep the first error for the application."""
        self._error = self._error or error

    def take_error(self) -> BaseException | None:
        """The first error since the last call, once everything has run."""
        if not self.idle:
            return None
        error, self._error = self._error, None
        return error
