"""Ownership on its way to what the coordinator assigned: revoke first, then assign (K1, K2, K3).

Every partition that on_partitions_assigned announced ends in exactly one of on_partitions_revoked and
on_partitions_lost. Callbacks are made when the application takes them, so that what has become void before
is never announced.
"""

from __future__ import annotations

from coordinator.members.consumer.types import NOTHING, Callback, CallbackName, Partitions


class Ownership:
    """`assignment` is what the application sees; it changes only when a callback is taken or done."""

    def __init__(self) -> None:
        self.assignment: Partitions = NOTHING
        self.target: Partitions = NOTHING
        """The last assignment of the coordinator: what the member may use."""
        self.committing: Partitions = NOTHING
        """The partitions that are committed before they are revoked (K2)."""
        self._committed: Partitions = NOTHING
        self._abandoned = False
        self._running: Callback | None = None

    @property
    def owned(self) -> Partitions:
        """The partitions that the member reports as owned, which only it may have; none once lost (K1)."""
        return NOTHING if self._abandoned else self.assignment

    @property
    def fetchable(self) -> Partitions:
        """The partitions to fetch: none to be revoked, none pending, none before its callback is done."""
        blocked = self.committing if self._running is None else self.committing | self._running.partitions
        return (self.owned & self.target) - blocked

    @property
    def idle(self) -> bool:
        """Nothing is to be done: the application uses what the coordinator told."""
        return self._running is None and not self._abandoned and self.assignment == self.target

    @property
    def revoking(self) -> bool:
        """Is on_partitions_revoked running?"""
        return self._running is not None and self._running.name is CallbackName.REVOKED

    def abandon(self) -> None:
        """K1: nothing is owned from now on. A partition that no callback of a revocation has is lost."""
        self.target = self.committing = self._committed = NOTHING
        self._abandoned = self._running is not None or bool(self.assignment)

    def take(self, committable: Partitions) -> Callback | None:
        """The next callback, if there is one and none is running. A partition that is to be revoked and is
        in `committable` is `committing` first."""
        if self._running is not None or self.committing:
            return None
        revoked, assigned = self.assignment - self.target, self.target - self.assignment
        if self._abandoned:
            self._running = Callback(CallbackName.LOST, self.assignment)
        elif revoked & committable - self._committed:
            self.committing = revoked
        elif revoked:
            self._running = Callback(CallbackName.REVOKED, revoked)
        elif assigned:
            self.assignment |= assigned
            self._running = Callback(CallbackName.ASSIGNED, assigned)
        return self._running

    def commit_over(self) -> None:
        """Committed, or not to be committed any more."""
        self._committed, self.committing = self.committing, NOTHING

    def done(self) -> None:
        """The callback has returned or raised."""
        done, self._running = self._running, None
        if done is None:
            raise ValueError("No callback is running: take one with next_callback first.")
        if done.name is not CallbackName.ASSIGNED:
            self.assignment -= done.partitions
            self._committed = NOTHING
        self._abandoned = self._abandoned and bool(self.assignment)
