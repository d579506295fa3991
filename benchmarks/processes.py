"""Processes of consumers, for a simulation in time: the same few methods for each protocol.

A process has one application thread, which works on fetched records between two polls; heartbeats are sent
meanwhile. Callbacks run within a poll, and a JoinGroup is sent within a poll.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Final

from coordinator.classic.assignors import ASSIGNORS
from coordinator.members.classic import ClassicMember, Phase
from coordinator.members.classic import Settings as ClassicSettings
from coordinator.members.consumer import Member, Settings, State

GROUP: Final = "g"
TOPIC: Final = "foo"
HEARTBEAT_MS: Final = 3_000
"""The interval of heartbeats in all groups."""


class Process(ABC):
    """One process, from its start until it has left. Times are simulated milliseconds; the process polls at
    `phase_ms`, and every `poll_ms` before and after that, as long as it has records to work on."""

    member: Member | ClassicMember

    def __init__(self, name: str, poll_ms: int, phase_ms: int) -> None:
        self.name = name
        self.poll_ms = poll_ms
        self.phase_ms = phase_ms
        self.polls = False
        """Tell if another poll will come."""
        self.wakes_at_ms: int | None = None

    def next_poll_ms(self, now_ms: int) -> int:
        """The time of the next poll; a process without partitions polls all the time."""
        return now_ms + (self.phase_ms - now_ms) % self.poll_ms if self.owned else now_ms

    @property
    @abstractmethod
    def owned(self) -> frozenset[int]:
        """The partitions that the process works on: assigned in a callback, and not yet revoked in one."""

    @property
    @abstractmethod
    def rests(self) -> bool:
        """Tell if the member sends only heartbeats."""

    @property
    @abstractmethod
    def waits_for_poll(self) -> bool:
        """Tell if the next request is sent within a poll."""

    @abstractmethod
    def leave(self, now_ms: int) -> None:
        """Give up everything and leave, as `close` does."""

    @abstractmethod
    def poll(self, now_ms: int) -> None:
        """Run the waiting callbacks; they take no time."""


class ClassicProcess(Process):
    """A process of a classic group (C3)."""

    assignor: ClassVar[str]

    def __init__(self, name: str, poll_ms: int, phase_ms: int, partitions: int) -> None:
        super().__init__(name, poll_ms, phase_ms)
        settings = ClassicSettings(GROUP, heartbeat_interval_ms=HEARTBEAT_MS)
        self.member: ClassicMember = ClassicMember(settings, [ASSIGNORS[self.assignor]])
        self.member.topics_are({TOPIC: partitions}, 0)
        self.member.subscribe([TOPIC], 0)

    @property
    def owned(self) -> frozenset[int]:
        return frozenset(index for _, index in self.member.owned)

    @property
    def rests(self) -> bool:
        return self.member.phase is Phase.STABLE

    @property
    def waits_for_poll(self) -> bool:
        return self.member.phase is Phase.JOIN

    def leave(self, now_ms: int) -> None:
        self.member.close()
        self.poll(now_ms)

    def poll(self, now_ms: int) -> None:
        while self.member.next_callback(now_ms) is not None:
            self.member.callback_done(now_ms)


class EagerProcess(ClassicProcess):
    """A process that gives up everything before it rejoins."""

    assignor = "sticky"


class CooperativeProcess(ClassicProcess):
    """A process that gives up the partitions that move."""

    assignor = "cooperative-sticky"


class ConsumerProcess(Process):
    """A process of a group of KIP-848."""

    def __init__(self, name: str, poll_ms: int, phase_ms: int, partitions: int) -> None:
        super().__init__(name, poll_ms, phase_ms)
        self.member: Member = Member(Settings(GROUP, server_assignor="uniform", auto_commit=False))
        self.member.subscribe([TOPIC], now_ms=0)

    @property
    def owned(self) -> frozenset[int]:
        return frozenset(index for _, index in self.member.assignment)

    @property
    def rests(self) -> bool:
        return self.member.state is State.STABLE

    @property
    def waits_for_poll(self) -> bool:
        return False

    def leave(self, now_ms: int) -> None:
        self.member.close(now_ms)
        self.poll(now_ms)

    def poll(self, now_ms: int) -> None:
        self.member.poll(now_ms)
        while self.member.next_callback(now_ms) is not None:
            self.member.callback_done(now_ms)
