"""A consumer process: its member, its application, its clock and the messages from and to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.simulate.groups.cause import NOBODY
from harness.simulate.groups.clock import Clocked
from harness.simulate.groups.member_watch import MemberWatch
from harness.simulate.groups.next_request import IN, NextRequest
from harness.simulate.groups.parts import (
    CallbackView,
    Consumer,
    Machine,
    Partition,
    Partitions,
    RequestView,
    Violation,
    from_wire,
    shown,
)
from harness.targets.base import Json

REVOKED, ASSIGNED, LOST = "on_partitions_revoked", "on_partitions_assigned", "on_partitions_lost"
COMMITTED = "on_commit_complete"
OUT = ("FENCED", "FATAL", "LEAVING", "STALE", "UNSUBSCRIBED")
"""States in which a member owns nothing."""
AT_REST = ("STABLE", "ACKNOWLEDGING", "JOINING", "LEAVING", "UNSUBSCRIBED", "FATAL")
"""States in which a member has no callback to run, except that of a commit."""
REBALANCES = (REVOKED, ASSIGNED, LOST)


@dataclass(frozen=True, slots=True)
class Message:
    """A request in flight. `incarnation` is the sender's when it was sent; `since` has for each partition of
    a commit the holder at that time (GroupWatch.last)."""

    who: str
    request: RequestView
    incarnation: int = NOBODY
    since: Mapping[Partition, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Process(Clocked):
    """One process. `incarnation` is the coordinator's incarnation that this process takes for its own, NOBODY
    for none.

    `request`, `copy` and `answer` are in flight; a process has one request in flight (R9). `using` are the
    partitions that callbacks gave the application, and that no callback has revoked or lost since.
    """

    name: str
    consumer: Consumer
    machine: Machine
    born_ms: int
    permille: int = 1000
    """The speed of its clock."""
    leap_ms: int = 0
    incarnation: int = NOBODY
    reachable: bool = True
    waits_for: RequestView | None = None
    sent_ms: int = 0
    request: Message | None = None
    copy: Message | None = None
    answer: Json | None = None
    old_answer: tuple[int, Json] | None = None
    running: CallbackView | None = None
    polled_in_vain: bool = False
    """Tell if it had no callback to run when it polled last."""
    using: set[Partition] = field(default_factory=set)
    owned: Partitions = frozenset()
    epoch: int = 0
    subscription: tuple[frozenset[str], str | None] = (frozenset(), None)
    """The subscription that the application wants."""
    subscribed: bool = True
    """Tell if the application wants to be in the group: not between unsubscribe and the next subscription."""
    stopped: dict[Partition, int] = field(default_factory=dict)
    """The positions in the partitions that a running callback takes away."""
    watch: MemberWatch = field(init=False)
    next_request: NextRequest = field(init=False)

    def __post_init__(self) -> None:
        self.watch = MemberWatch(self.name, self.consumer.max_poll_ms)
        self.next_request = NextRequest(self.name, self.consumer.instance is not None)

    @property
    def state(self) -> str:
        """The state of its member."""
        return str(self.machine.state.value)

    @property
    def at_rest(self) -> bool:
        """Tell if there is no callback to run, except that of a commit."""
        return self.state in AT_REST

    @property
    def max_poll_ms(self) -> int:
        """The longest time between two polls of its application."""
        return self.consumer.max_poll_ms


def check_report(process: Process, body: Json) -> None:
    """K1, K2: a heartbeat reports the partitions in use as owned, and none when it joins; no heartbeat
    reports a leave before the application has given up the partitions of a running revocation."""
    revoking = process.running is not None and process.running.name.value == REVOKED
    if body["memberEpoch"] < 0 and revoking:
        raise Violation("K2", "GivesUpBeforeItLeaves", f"{process.name} leaves while it revokes")
    if body["topicPartitions"] is None:
        return
    reported = from_wire(body["topicPartitions"])
    if body["memberEpoch"] == 0 and reported:
        raise Violation("K1", "JoinsOwnNothing", f"{process.name} joins and reports {shown(reported)}")
    if body["memberEpoch"] > 0 and (missing := process.using - reported):
        raise Violation(
            "K2", "ReportsWhatItUses", f"{process.name} does not report {shown(missing)}, which it still uses"
        )


def check_callback(process: Process, callback: CallbackView) -> None:
    """K3: a partition is given once, and ends once, revoked or lost; K1: lost, if it may belong to another
    member."""
    name, partitions = callback.name.value, callback.partitions
    if name == REVOKED and process.state in OUT:
        raise Violation("K1", "LostNotRevoked", f"{process.name} is {process.state} and is to revoke")
    if name == ASSIGNED:
        if not partitions or partitions & process.using:
            raise Violation("K3", "AssignedOnce", f"{process.name} is given {shown(partitions)} again")
    elif name in (REVOKED, LOST) and (not partitions or not partitions <= process.using):
        raise Violation(
            "K3", "EndsOnce", f"{process.name} is to give up {shown(partitions)}, not given to it"
        )


def check_process(process: Process) -> None:
    """K1, K2: fetched partitions are owned, in use and not being given up; a fenced member owns nothing."""
    machine = process.machine
    fetchable = machine.fetchable
    if not fetchable <= machine.owned or not fetchable <= process.using:
        raise Violation("K2", "FetchesWhatItOwns", f"{process.name} fetches {shown(fetchable)}")
    running = process.running
    if running is not None and running.name.value in REBALANCES and fetchable & running.partitions:
        raise Violation(
            "K2", "StopsFetchingFirst", f"{process.name} fetches {shown(fetchable & running.partitions)}"
        )
    if process.state in IN and not process.using <= machine.owned:
        raise Violation(
            "K2", "OwnsWhatItUses", f"{process.name} uses {shown(process.using - machine.owned)}, not its own"
        )
    if machine.owned and process.state in OUT:
        raise Violation(
            "K1", "AbandonsAtOnce", f"{process.name} is {process.state} and owns {shown(machine.owned)}"
        )
