"""The cost of rebalances as groups grow: eager, cooperative and KIP-848 groups under the same schedule.

The coordinator and the members are the real ones, on a simulated clock, so that the figures are the same in
every run: every answer takes 10 ms, heartbeats are 3 s apart, an application works 500 ms on fetched records,
and assignors are sticky. The change begins half an interval after a heartbeat, as on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from benchmarks.processes import (
    HEARTBEAT_MS,
    ConsumerProcess,
    CooperativeProcess,
    EagerProcess,
    Process,
)
from benchmarks.scale import Table
from benchmarks.timeline import Timeline
from harness.errors import ENGINE_FAILED, ConformError

MEMBERS: Final = (3, 10, 30, 100)
PARTITIONS_EACH: Final = 10
"""Partitions a member of the group at its start."""
PROTOCOLS: Final[dict[str, type[EagerProcess | CooperativeProcess | ConsumerProcess]]] = {
    "eager": EagerProcess,
    "cooperative": CooperativeProcess,
    "KIP-848": ConsumerProcess,
}
_POLL_MS: Final = 500
_SLOW_MS: Final = 20_000
_DOWN_MS: Final = 5_000
"""The time that a process is down when it is bounced."""
_QUIET_MS: Final = 10 * HEARTBEAT_MS + HEARTBEAT_MS // 2
_MOST_MS: Final = 600_000
"""The longest time that a single rebalance may take."""


@dataclass(frozen=True)
class Cost:
    """The cost of an event in a group. `members` and `partitions` are those at its start.

    `rounds`: generations of a classic group, group epochs of a consumer group. `moved`: the number of times
    that a partition got another owner; `stopped`: the number of times that one lost its owner, for any time.
    `idle_s`: the time that partitions had no owner, all together; `longest_s`: the longest time without an
    owner. `settled_s`: the time from the beginning until every partition had its owner again, for the last
    time.
    """

    what: str
    protocol: str
    members: int
    partitions: int
    rounds: int
    moved: int
    stopped: int
    idle_s: float
    longest_s: float
    settled_s: float


class Group:
    """A group of a protocol at rest, with some members and ten times as many partitions."""

    def __init__(self, protocol: str, members: int) -> None:
        self._protocol, self._members = protocol, members
        self._timeline = Timeline(members * PARTITIONS_EACH)
        for number in range(members):
            self._start(number)
            self._timeline.run(self._timeline.now_ms + HEARTBEAT_MS // members)
        self._settle()

    def _start(self, number: int, poll_ms: int = _POLL_MS) -> None:
        kind, phase_ms = PROTOCOLS[self._protocol], number * poll_ms // (self._members + 1)
        partitions = self._members * PARTITIONS_EACH
        process: Process = kind(f"process {number}", poll_ms, phase_ms, partitions)
        self._timeline.start(process)

    def _leave(self, number: int) -> None:
        self._timeline.leave(f"process {number}")

    def _settle(self) -> None:
        timeline = self._timeline
        if not timeline.run(timeline.now_ms + _MOST_MS, lambda: timeline.settled):
            raise ConformError(f"The {self._protocol} group does not come to rest.", ENGINE_FAILED)

    def _quiet(self) -> None:
        """The time half an interval after a heartbeat of the member that rejoined last."""
        self._timeline.run(self._timeline.now_ms + _QUIET_MS)

    def cost(self, what: str) -> Cost:
        """Start the event, and count until the group is at rest again."""
        timeline, owners = self._timeline, self._timeline.ownership
        self._quiet()
        before = timeline.round
        owners.begin(timeline.now_ms)
        start_ms = timeline.now_ms
        HAPPENS[what](self)
        return Cost(
            what=what,
            protocol=self._protocol,
            members=self._members,
            partitions=self._members * PARTITIONS_EACH,
            rounds=timeline.round - before,
            moved=owners.moved,
            stopped=owners.stopped,
            idle_s=owners.idle_ms / 1000,
            longest_s=owners.longest_ms / 1000,
            settled_s=(owners.last_ms - start_ms) / 1000,
        )

    def joins(self) -> None:
        """One more member joins."""
        self._start(self._members)
        self._settle()

    def leaves(self) -> None:
        """A member leaves."""
        self._leave(0)
        self._settle()

    def joins_beside_slow(self) -> None:
        """One more member joins, while another works for 20 s on fetched records."""
        slow = self._timeline.processes["process 1"]
        slow.poll_ms, slow.phase_ms = _SLOW_MS, self._timeline.now_ms - 1
        self.joins()
        slow.poll_ms = _POLL_MS

    def bounces(self) -> None:
        """Each process in turn leaves, and starts again when it is up; the next process waits for the
        group."""
        for number in range(self._members):
            self._leave(number)
            self._timeline.run(self._timeline.now_ms + _DOWN_MS)
            self._start(number)
            self._settle()


HAPPENS: Final[dict[str, Callable[[Group], None]]] = {
    "one joins": Group.joins,
    "one leaves": Group.leaves,
    "one joins, another is busy for 20 s": Group.joins_beside_slow,
    "rolling bounce": Group.bounces,
}


def costs(progress: Callable[[str], None], members: Sequence[int] = MEMBERS) -> list[Cost]:
    """The costs of each event, for groups of each size, in each protocol."""
    measured = []
    for what in HAPPENS:
        for size in members:
            for protocol in PROTOCOLS:
                progress(f"{what}: {protocol}, {size} members")
                measured.append(Group(protocol, size).cost(what))
    return measured


def rebalances(progress: Callable[[str], None], members: Sequence[int] = MEMBERS) -> Table:
    """The costs as a table."""
    columns = ["what happens", "protocol", "members x partitions", "rounds", "moved", "stopped"]
    table = Table([*columns, "without owner, partition s", "longest s", "settled after s"])
    for cost in costs(progress, members):
        figures = [f"{cost.idle_s:,.1f}", f"{cost.longest_s:.1f}", f"{cost.settled_s:,.1f}"]
        counts = [f"{cost.rounds:,}", f"{cost.moved:,}", f"{cost.stopped:,}"]
        extent = f"{cost.members:,} x {cost.partitions:,}"
        table.rows.append([cost.what, cost.protocol, extent, *counts, *figures])
        table.data.append(asdict(cost))
    return table
