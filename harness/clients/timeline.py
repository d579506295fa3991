"""The client's view of a group as a list of events, in the order in which the harness received them.

Requests arrive at the coordinator and callbacks arrive from the application: these are two channels. An event
of one channel that was received before an event of the other one need not have happened before it. A callback
is a gate: the application stays in it until the harness releases it, so that every event received before the
release happened before the callback ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from harness.targets.base import Json

Partition: TypeAlias = str
"""Topic name and index, as in foo-0."""
Partitions: TypeAlias = frozenset[str]

HEARTBEAT: Final = "ConsumerGroupHeartbeat"
COMMIT: Final = "OffsetCommit"
FIND: Final = "FindCoordinator"
OFFSET_FETCH: Final = "OffsetFetch"

CALLBACKS: Final = "callbacks"
ERRORS: Final = "errors"
ABILITIES: Final = frozenset({CALLBACKS, ERRORS, "commit", "positions", "subscribe"})
"""The abilities that a client may have: callbacks that hold the client, errors that reach the application,
commits of the application, positions of consumed records, and subscriptions that change."""

NONE: Final = 0
NOT_COORDINATOR: Final = 16
COORDINATOR_LOAD_IN_PROGRESS: Final = 14
COORDINATOR_NOT_AVAILABLE: Final = 15
UNKNOWN_MEMBER_ID: Final = 25
FENCED_MEMBER_EPOCH: Final = 110
UNRELEASED_INSTANCE_ID: Final = 111
STALE_MEMBER_EPOCH: Final = 113
REMOVED: Final = frozenset({UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH})
RETRIABLE: Final = frozenset({NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE})


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `kind` is one of

    - request: `api`, `body`, `connection`, `number`; answer: `number`, `body` (None: the connection was cut);
    - callback, released: `name` (assigned, revoked, lost) and `partitions`;
    - fetch: `partitions`, of requests that were certainly sent after the last release;
    - position: `partitions` (partition -> next offset); committed: `error`; error: `text`; closed;
    - did: a step of the schedule, in `body`; settled: faults ended long enough ago;
    - stalled: the machine was too busy for times to mean anything since the event before.
    """

    ms: int
    kind: str
    name: str = ""
    api: str = ""
    number: int = 0
    connection: int = 0
    body: Json | None = None
    partitions: Partitions = frozenset()
    offsets: Mapping[Partition, int] = field(default_factory=dict)
    error: int = 0


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of the client under test; times in milliseconds. `window_ms` is the time after which
    a due event that has not happened is missing. `slack_ms` is the time that a client may need beside its
    heartbeats: to connect again, to pause after an error. With `wire` the client is another process: only its
    next action shows that it has received a release or an answer."""

    interval_ms: int = 1_000
    session_ms: int = 8_000
    instance: str | None = None
    auto_commit: bool = False
    slack_ms: int = 0
    wire: bool = False

    @property
    def window_ms(self) -> int:
        return 3 * self.interval_ms + self.slack_ms


def partitions_of(topics: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> Partitions:
    """[{"topicId", "partitions": [index]}] with the topics' names; `names` is topic id -> name."""
    return frozenset(
        f"{names.get(topic['topicId'], topic['topicId'])}-{index}"
        for topic in topics
        for index in topic["partitions"]
    )
