"""A worker's assignor with a delayed rebalance (W2): `Assigns`, `InstallComputed`, `DelayEnds` of the model.

Work that a worker lost is given back to that worker, or waits for scheduled.rebalance.max.delay.ms; then the
assignor asks for a rebalance by another reason, and the next target gives the work to others. All other work
stays in place, as long as no worker has two more than another.

Sans-IO: the caller sends requests, passes PrepareAssignment's responses, and passes the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from coordinator.connect import wire
from coordinator.connect.response import GONE
from coordinator.consumer.model import NOTHING, Partition, Partitions
from coordinator.core.fields import Json

DEFAULT_DELAY_MS: Final = 300_000
"""The default of scheduled.rebalance.max.delay.ms."""

Work = Mapping[str, Partitions]
"""Worker -> connectors and tasks."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A target, for InstallAssignment."""

    group_epoch: int
    given: Work
    waits: bool
    """True where lost work waits."""
    goes_on: bool
    """True where the target before is the one with which this assignor's delay began."""

    def members(self) -> list[Json]:
        """The members of InstallAssignment's request."""
        return [
            {"memberId": worker, "connectorsAndTasks": wire.to_wire(work)}
            for worker, work in sorted(self.given.items())
        ]


class DelayedAssignor:
    """The assignor of one worker. Times are in milliseconds of the caller's clock."""

    def __init__(self, delay_ms: int = DEFAULT_DELAY_MS) -> None:
        self.reason = 0
        """The reason in the worker's heartbeats: a new reason asks for a rebalance."""
        self.deadline_ms: int | None = None
        """The end of the delay; None where none runs."""
        self._delay_ms = delay_ms
        self._over = False
        self._since: Work | None = None

    def compute(self, prepared: Json) -> Computed:
        """The target for a response of PrepareAssignment without an error.

        The response has no assignment epoch, so a delay is void where the target is not the one with which
        the delay began: another worker has computed since.
        """
        there = {one["memberId"]: one for one in prepared["members"] if one["memberEpoch"] != GONE}
        parts = {worker: _work(one) for worker, one in there.items()}
        lost = {
            resource: one["memberId"]
            for one in prepared["members"]
            if one["memberEpoch"] == GONE
            for resource in _work(one)
        }
        exists = {
            (connector["connectorId"], task)
            for connector in prepared["connectors"]
            for task in range(connector["numTasks"] + 1)
        }
        goes_on = self._since is not None and _busy(parts) == _busy(self._since)
        if not self._delay_ms or (self._over and goes_on):
            lost = {}
        back = {resource: worker for resource, worker in lost.items() if resource in exists}
        given = _spread(parts, exists - back.keys(), back)
        waits = any(worker not in there for worker in back.values())
        return Computed(prepared["groupEpoch"], given, waits, goes_on)

    def installed(self, computed: Computed, now_ms: int) -> None:
        """Take the success of InstallAssignment: a delay runs as long as work waits."""
        runs = self.deadline_ms if computed.goes_on else None
        self._over = False
        self._since = computed.given if computed.waits else None
        self.deadline_ms = None
        if computed.waits:
            self.deadline_ms = now_ms + self._delay_ms if runs is None else runs

    def fire(self, now_ms: int) -> bool:
        """End the delay if it is due. True: the worker must send its reason with a heartbeat now."""
        if self.deadline_ms is None or now_ms < self.deadline_ms:
            return False
        self.deadline_ms = None
        self._over = True
        self.reason = 2 if self.reason == 1 else 1
        return True


def _work(member: Json) -> Partitions:
    return wire.from_wire(member["connectorsAndTasks"], "a prepared worker")


def _busy(work: Work) -> Work:
    """The work of all workers that have some: a worker that joins without any changes no target."""
    return {worker: given for worker, given in work.items() if given}


def _spread(parts: Work, free: set[Partition], back: Mapping[Partition, str]) -> dict[str, Partitions]:
    """The work of all workers: given back, kept, and the rest for those that have least."""
    fixed = {worker: {one for one, owner in back.items() if owner == worker} for worker in sorted(parts)}
    kept: dict[str, set[Partition]] = {worker: set() for worker in fixed}
    open_work = set(free)
    for worker in kept:
        kept[worker] = set(parts[worker] & open_work)
        open_work -= kept[worker]

    def load(worker: str) -> int:
        return len(fixed[worker]) + len(kept[worker])

    for resource in sorted(open_work):
        if kept:
            kept[min(kept, key=load)].add(resource)
    while movable := [worker for worker in kept if kept[worker]]:
        most, least = max(movable, key=load), min(kept, key=load)
        if load(most) - load(least) < 2:
            break
        moved = max(kept[most])
        kept[most].remove(moved)
        kept[least].add(moved)
    return {worker: frozenset(fixed[worker] | kept[worker]) or NOTHING for worker in kept}
