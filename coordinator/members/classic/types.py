"""Settings, phases and requests of a member of a classic group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, runtime_checkable

from coordinator.assignors.spec import TopicPartition
from coordinator.classic.embedded import Assignment
from coordinator.core.transitions import Transition
from coordinator.members.consumer.types import GroupMetadata, Json

Partitions = frozenset[TopicPartition]

NOTHING: Final[Partitions] = frozenset()


@runtime_checkable
class HearsAssignment(Protocol):
    """An assignor that takes its member's assignment (C6: onAssignment)."""

    def on_assignment(self, assignment: Assignment, group: GroupMetadata) -> None:
        """Take the member's whole assignment, with the leader's user data for it, before the listener gets
        the new partitions."""


class Phase(Enum):
    """Phases of a member, in the terms of spec/ClosedClassic.tla."""

    UNSUBSCRIBED = "unsubscribed"
    JOIN = "join"
    SYNC = "sync"
    STABLE = "stable"
    LEAVING = "leaving"
    FAILED = "failed"


TRANSITIONS: Final[tuple[Transition[Phase], ...]] = (
    Transition((Phase.UNSUBSCRIBED,), Phase.JOIN, "subscribe"),
    Transition((Phase.JOIN,), Phase.SYNC, "a JoinGroup response: the barrier has opened"),
    Transition((Phase.SYNC,), Phase.STABLE, "a SyncGroup response: the assignment"),
    Transition((Phase.SYNC, Phase.STABLE), Phase.JOIN, "a rebalance, or the member is out of its generation"),
    Transition((Phase.JOIN, Phase.SYNC, Phase.STABLE), Phase.LEAVING, "close"),
    Transition((Phase.LEAVING,), Phase.UNSUBSCRIBED, "the response, or none"),
    Transition(
        (Phase.JOIN, Phase.SYNC, Phase.STABLE),
        Phase.UNSUBSCRIBED,
        "close of a static member, or one without id",
    ),
    Transition((Phase.JOIN, Phase.SYNC, Phase.STABLE), Phase.FAILED, "an error that the member cannot mend"),
)
"""Changes of a member's phase (C1, C3, S1)."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to send. Its answer, or the note that none comes, refers to it by `correlation`."""

    correlation: int
    api: str
    version: int
    body: Json


@dataclass(frozen=True, slots=True)
class Settings:
    """The consumer's configuration; times in milliseconds. With `instance_id` the member is static (S1).
    `subscription_version` is that of the embedded protocol: below 1 a subscription has no owned
    partitions."""

    group_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    heartbeat_interval_ms: int = 3_000
    retry_backoff_ms: int = 100
    subscription_version: int = 3
