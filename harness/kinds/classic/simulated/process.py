"""A consumer process of a classic group: its member, its application, its clock, and its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.kinds.classic.simulated.member_rules import MemberRules
from harness.kinds.classic.simulated.parts import Consumer, Machine
from harness.simulate.groups.clock import Clocked
from harness.simulate.groups.parts import CallbackView, Partition, RequestView
from harness.targets.base import Json

MAX_POLL_MS = 60_000


@dataclass(frozen=True, slots=True)
class Message:
    """A request in flight, with the name under which it waits at the coordinator."""

    who: str
    id: str
    request: RequestView


@dataclass(slots=True)
class Process(Clocked):
    """One process. `request` and `answer` are in flight; while neither is and the process `waits_for` an
    answer, the request waits at the coordinator, or is lost."""

    name: str
    number: int
    """The number of earlier processes with this name."""
    consumer: Consumer
    machine: Machine
    rules: MemberRules
    born_ms: int
    permille: int = 1000
    """The speed of its clock."""
    leap_ms: int = 0
    waits_for: RequestView | None = None
    sent_ms: int = 0
    request: Message | None = None
    answer: Json | None = None
    old_answer: tuple[int, Json] | None = None
    """The last answer, which may arrive once more."""
    running: CallbackView | None = None
    polled_in_vain: bool = False
    known_topics: Mapping[str, int] | None = None
    """The topics in the process's metadata."""
    leads: Mapping[str, str] = field(default_factory=dict)
    """Member id -> subscription: the members of a leader's generation, until it has assigned."""
    led: bool = False
    """Tell if the process led the generation of its last JoinGroup."""
    skips: bool = False
    """Tell if the process returned as a leader to a generation with an assignment (S1)."""
    raised: BaseException | int | None = None
    """The first error since the application's last poll: of a callback, or the code of a refused commit."""

    @property
    def state(self) -> str:
        """The phase of its member."""
        return str(self.machine.phase.value)

    @property
    def at_rest(self) -> bool:
        """Tell if the application need not poll at once."""
        return self.polled_in_vain and self.state in ("stable", "unsubscribed")

    @property
    def using(self) -> frozenset[Partition]:
        """The partitions that its application was given, and has not given up."""
        return frozenset(self.rules.using)

    @property
    def max_poll_ms(self) -> int:
        """The longest time between two polls of its application."""
        return MAX_POLL_MS
