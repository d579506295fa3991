"""`python`: this repository's coordinator and classic members, for a simulation."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coordinator import AppendFailed, Config, Coordinator, SimulatedClock
from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.assignors import ASSIGNORS, ClassicAssignor, GroupMember, RebalanceProtocol
from coordinator.classic.embedded import Assignment, read_assignment, read_subscription
from coordinator.classic.model import ClassicGroup
from coordinator.members.classic import ClassicMember, Settings
from coordinator.members.consumer.types import GroupMetadata
from harness.targets.base import Json

INITIAL_DELAY_MS: Final = 1_000
"""The time that a new group waits for further members (C1)."""


class ClassicParts:
    """The methods are those of `Parts` of the stage of classic groups."""

    def cluster(self) -> ClassicCluster:
        """A coordinator with nothing in its log."""
        return ClassicCluster()

    def member(
        self,
        group: str,
        assignors: Sequence[str],
        instance: str | None,
        session_ms: int,
        rebalance_ms: int,
        interval_ms: int,
        backoff_ms: int,
        hears: Callable[[frozenset[TopicPartition], int], None],
    ) -> ClassicMember:
        """A consumer before its first subscription."""
        settings = Settings(
            group,
            instance_id=instance,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            heartbeat_interval_ms=interval_ms,
            retry_backoff_ms=backoff_ms,
        )
        return ClassicMember(settings, [_Hearing(ASSIGNORS[name], hears) for name in assignors])

    def claim(self, metadata: str) -> tuple[frozenset[str], frozenset[TopicPartition], int]:
        """A subscription: its topics, and its owned partitions with their generation."""
        subscription = read_subscription(base64.b64decode(metadata))
        return subscription.topics, subscription.owned, subscription.generation

    def handed(self, assignment: str) -> frozenset[TopicPartition]:
        """The partitions of an assignment."""
        if not assignment:
            return frozenset()
        return read_assignment(base64.b64decode(assignment)).partitions


@dataclass(frozen=True)
class _Hearing:
    """An assignor that passes on the assignments that it gets."""

    inner: ClassicAssignor
    hears: Callable[[frozenset[TopicPartition], int], None]

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def protocols(self) -> frozenset[RebalanceProtocol]:
        return self.inner.protocols

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        return self.inner.user_data(owned, generation)

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        return self.inner.assign(members, partitions)

    def on_assignment(self, assignment: Assignment, group: GroupMetadata) -> None:
        self.hears(assignment.partitions, group.generation)


class ClassicCluster:
    """The methods are those of `Cluster` of the stage of classic groups."""

    def __init__(self) -> None:
        self._coordinator = Coordinator(
            clock=SimulatedClock(), config=Config(initial_delay_ms=INITIAL_DELAY_MS)
        )
        self.request = self._coordinator.request
        self.describe = self._coordinator.describe
        self.advance = self._coordinator.advance
        self.fail_appends = self._coordinator.fail_appends

    def completed(self) -> list[Json]:
        return self._coordinator.others.take_completed()

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        try:
            self._coordinator.set_topics(upsert, delete)
        except AppendFailed:
            return False
        return True

    def set_state(self, state: str) -> None:
        """Set the state; a new coordinator loads a log that was compacted (P3), where the log accepts
        that."""
        if state == "active":
            self._coordinator.compact()
        self._coordinator.set_state(state)

    def group(self, group: str) -> ClassicGroup | None:
        return self._coordinator.others.classic.groups.get(group)

    def durable(self, group: str) -> object:
        return self._coordinator.others.classic.saved.get(group)
