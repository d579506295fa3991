"""The way of ownership to the coordinator's assignment: revoke first, then assign (K1, K2, K3).

Every partition that on_partitions_assigned announced ends in exactly one of on_partitions_revoked and
on_partitions_lost. A callback is made when the application takes it, so that a void change is never
announced.
"""

from __future__ import annotations

from coordinator.members.consumer.types import NOTHING, Callback, CallbackName, Partitions


class Ownership:
    """The member's partitions. `assignment` is the application's view; it changes only when a callback is
    taken or done."""

    def __init__(self) -> None:
        self.assignment: Partitions = NOTHING
        self._target: Partitions = NOTHING
        self.committing: Partitions = NOTHING
        """The partitions that are committed before they are revoked (K2)."""
        self._committed: Partitions = NOTHING
        """The partitions whose commit before their revocation is over."""
        self._abandoned = False
        self._running: Callback | None = None

    @property
    def target(self) -> Partitions:
        """The last assignment of the coordinator: the partitions that the member may use. A partition that is
        given back is committed again before its next revocation (K2, O3)."""
        return self._target

    @target.setter
    def target(self, partitions: Partitions) -> None:
        self._target = partitions
        self._committed -= partitions

    @property
    def owned(self) -> Partitions:
        """The partitions that the member reports as owned, which no other member may have; none once lost
        (K1)."""
        return NOTHING if self._abandoned else self.assignment

    @property
    def fetchable(self) -> Partitions:
        """The partitions to fetch: none to be revoked, none pending, none before its callback is done."""
        blocked = self.committing if self._running is None else self.committing | self._running.partitions
        return (self.owned & self.target) - blocked

    @property
    def idle(self) -> bool:
        """Tell if nothing is to be done: the application uses the coordinator's assignment."""
        return self._running is None and not self._abandoned and self.assignment == self.target

    @property
    def runs(self) -> bool:
        """Tell if a callback is running."""
        return self._running is not None

    @property
    def revoking(self) -> bool:
        """Tell if on_partitions_revoked is running."""
        return self._running is not None and self._running.name is CallbackName.REVOKED

    def abandon(self) -> None:
        """K1: give up all ownership at once. A partition that is in no callback of a revocation is lost."""
        self.target = self.committing = self._committed = NOTHING
        self._abandoned = self._running is not None or bool(self.assignment)

    def take(self, committable: Partitions) -> Callback | None:
        """The next callback, if there is one and none is running. A partition that is to be revoked and is in
        `committable` becomes `committing` first."""
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
        """End the commit before a revocation: done, or given up."""
        self._committed, self.committing = self.committing - self.target, NOTHING

    def done(self) -> None:
        """Take the end of the callback, which has returned or raised."""
        done, self._running = self._running, None
        if done is None:
            raise ValueError("No callback is running: take one with next_callback first.")
        if done.name is not CallbackName.ASSIGNED:
            self.assignment -= done.partitions
            self._committed = NOTHING
        self._abandoned = self._abandoned and bool(self.assignment)
