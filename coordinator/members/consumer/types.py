"""Settings, states, requests and callbacks of a member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A JSON object in the wire form of Kafka's schemas, lowerCamelCase."""

TopicPartition: TypeAlias = tuple[str, int]
"""Topic id as RFC 4122 text, and index. Ids, so that a recreated topic is another topic (T2)."""

Partitions: TypeAlias = frozenset[TopicPartition]

NOTHING: Final[Partitions] = frozenset()


class State(Enum):
    """States of a member, in the terms of Kafka's consumer."""

    UNSUBSCRIBED = "UNSUBSCRIBED"
    JOINING = "JOINING"
    RECONCILING = "RECONCILING"
    ACKNOWLEDGING = "ACKNOWLEDGING"
    STABLE = "STABLE"
    FENCED = "FENCED"
    """Fenced or unknown: onPartitionsLost first, then the member joins again (K1)."""
    PREPARE_LEAVING = "PREPARE_LEAVING"
    """The member commits and gives up its partitions before it sends its leave."""
    LEAVING = "LEAVING"
    STALE = "STALE"
    """The member left because poll was not called for max.poll.interval.ms; the next poll joins again."""
    FATAL = "FATAL"


IN_GROUP: Final = frozenset({State.RECONCILING, State.ACKNOWLEDGING, State.STABLE})


class Transition(NamedTuple):
    """A change from any of the states `before` to the state `after`, as in coordinator/core/transitions.py: a
    client that copies this folder needs nothing else of the kit."""

    before: tuple[State, ...]
    after: State
    reason: str
    """The cause, as people read it in a picture."""


_PRESENT: Final = (State.JOINING, State.STABLE, State.RECONCILING, State.ACKNOWLEDGING)
"""The states of a member that joins, or is in the group and stays."""

TRANSITIONS: Final[tuple[Transition, ...]] = (
    Transition((State.UNSUBSCRIBED,), State.JOINING, "subscribe"),
    Transition((State.JOINING,), State.STABLE, "a response: the member is in the group"),
    Transition((State.STABLE, State.ACKNOWLEDGING), State.RECONCILING, "a response has another assignment"),
    Transition((State.RECONCILING,), State.ACKNOWLEDGING, "the callbacks have ended: report at once"),
    Transition((State.ACKNOWLEDGING,), State.STABLE, "a heartbeat with the owned partitions is sent"),
    Transition(
        (*_PRESENT, State.PREPARE_LEAVING, State.LEAVING),
        State.FENCED,
        "fenced or unknown: all partitions are lost",
    ),
    Transition((State.FENCED, State.STALE), State.JOINING, "the callbacks have ended: join with epoch 0"),
    Transition((State.FENCED, State.STALE), State.UNSUBSCRIBED, "the application has given up"),
    Transition(
        _PRESENT,
        State.PREPARE_LEAVING,
        "unsubscribe or close",
    ),
    Transition((State.PREPARE_LEAVING,), State.LEAVING, "commits and callbacks have ended"),
    Transition(
        _PRESENT,
        State.LEAVING,
        "poll was not called in time",
    ),
    Transition((State.JOINING, State.PREPARE_LEAVING), State.STALE, "there is nothing to leave"),
    Transition((State.LEAVING,), State.STALE, "the response, or a time-out"),
    Transition(
        (*_PRESENT, State.PREPARE_LEAVING, State.LEAVING),
        State.FATAL,
        "an error that the member cannot mend",
    ),
)
"""Changes of a member's state (K1 to K4). RECONCILING and ACKNOWLEDGING are not stored: they follow from what
a STABLE member owns and has reported (lifecycle.py)."""


class Purpose(Enum):
    """Purposes of a request."""

    FIND_COORDINATOR = "find the coordinator"
    HEARTBEAT = "join or heartbeat"
    LEAVE = "leave"
    COMMIT_BEFORE_REVOCATION = "commit what is given up"
    COMMIT = "commit of the application"
    FETCH_OFFSETS = "fetch committed offsets"
    COMPUTE = "compute the target assignment"


@dataclass(frozen=True, slots=True)
class Request:
    """A request to send. Its answer, or the note that none comes, refers to it by `correlation`."""

    correlation: int
    purpose: Purpose
    api: str
    version: int
    body: Json


class CallbackName(Enum):
    """Methods of a rebalance listener, and the one of a commit."""

    REVOKED = "on_partitions_revoked"
    ASSIGNED = "on_partitions_assigned"
    LOST = "on_partitions_lost"
    COMMITTED = "on_commit_complete"


@dataclass(frozen=True, slots=True)
class Callback:
    """A callback to run: its partitions, and for on_commit_complete the error code (0: committed)."""

    name: CallbackName
    partitions: Partitions
    error: int = 0


class GroupMetadata(NamedTuple):
    """The member's place in its group, as its assignors get it (the KIPs' ConsumerGroupMetadata)."""

    group_id: str
    generation: int
    """The member epoch, or the generation of a classic group."""
    member_id: str
    instance_id: str | None


@dataclass(frozen=True, slots=True)
class Subscription:
    """SubscribedTopicNames, SubscribedTopicRegex (None: no regular expression)."""

    topics: frozenset[str]
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The consumer's configuration; times in milliseconds.

    max.poll.interval.ms is also the rebalance time-out (R4). With `instance_id` the member is static.
    `reset_offset` is the position of a partition without a committed offset. `reports_while_revoking` follows
    H7 literally: after a lost answer the member sends all fields, also its owned partitions, before it has
    carried out the last assignment (to revoke, or to use more). A new coordinator does not know that
    assignment, and may take the report for the acknowledgement of the revocation that it is going to ask for.
    """

    group_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    server_assignor: str | None = None
    auto_commit: bool = True
    max_poll_interval_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    close_timeout_ms: int = 30_000
    reset_offset: int = 0
    reports_while_revoking: bool = False


class MemberError(Exception):
    """An error of the protocol that the application gets; `code` is Kafka's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def from_wire(topics: Iterable[Mapping[str, Any]]) -> Partitions:
    """[{"topicId", "partitions": [index]}] as a set."""
    return frozenset((topic["topicId"], index) for topic in topics for index in topic["partitions"])


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Topic id -> indexes, both sorted."""
    topics: dict[str, list[int]] = {}
    for topic_id, index in sorted(partitions):
        topics.setdefault(topic_id, []).append(index)
    return topics


def to_wire(partitions: Iterable[TopicPartition]) -> list[Json]:
    """A set as [{"topicId", "partitions": [index]}], sorted."""
    return [{"topicId": topic, "partitions": indexes} for topic, indexes in by_topic(partitions).items()]
