"""Interfaces of the parts of a simulation of classic groups: coordinator and member."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from harness.simulate.groups.parts import CallbackView, Partition, Partitions, RequestView
from harness.targets.base import Json

CONFIGURATIONS: Final = {
    "old": ("range",),
    "both": ("cooperative-sticky", "range"),
    "new": ("cooperative-sticky",),
}
"""Assignors of a consumer before the first of the two rolling bounces, after it, and after the second."""
SESSION_MS: Final = 10_000
REBALANCE_MS: Final = 20_000
INTERVAL_MS: Final = 3_000
BACKOFF_MS: Final = 100
"""Time-outs, the interval between heartbeats and the pause before a request is tried again."""


class MemberView(Protocol):
    """A member in the coordinator's state; `joining` and `syncing` are None where no such request waits."""

    @property
    def instance_id(self) -> str | None: ...
    @property
    def assignment(self) -> str: ...
    @property
    def joining(self) -> object: ...
    @property
    def syncing(self) -> object: ...
    def names(self) -> list[str]: ...
    def metadata(self, protocol: str) -> str: ...


class GroupView(Protocol):
    """A group in the coordinator's state."""

    @property
    def state(self) -> str: ...
    @property
    def generation(self) -> int: ...
    @property
    def protocol(self) -> str | None: ...
    @property
    def leader(self) -> str | None: ...
    @property
    def members(self) -> Mapping[str, MemberView]: ...
    @property
    def pending(self) -> Collection[str]: ...


class Cluster(Protocol):
    """A coordinator in this process, on a simulated clock."""

    def request(self, api: str, version: int, client: Json, body: Json, id: str) -> Json:
        """Handle one request; the body of its response, {} while the request waits under its id."""

    def completed(self) -> list[Json]:
        """The answers to requests that waited, since the last call: [{"id", "body"}]."""

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        """Change topics; False if the log refused the records of groups, and nothing has changed."""

    def advance(self, ms: int) -> list[Json]:
        """Move the clock; the timers that fired."""

    def set_state(self, state: str) -> None:
        """Refuse all requests ("loading", "moved", "unavailable"), or become "active" from the log (P2)."""

    def fail_appends(self, failing: bool) -> None:
        """Let the log refuse every record, or take them again (P3)."""

    def group(self, group: str) -> GroupView | None:
        """The group; None where it does not exist."""

    def describe(self, group: str) -> Json:
        """The group as the operation `describe` of the line protocol has it."""

    def durable(self, group: str) -> object:
        """The last record of a group, for comparison: the state that a fail-over must keep (C2)."""


class Metrics(Protocol):
    """The metrics of a member (C7)."""

    def values(self, now_ms: int) -> Mapping[str, float]:
        """Every metric by its name in KIP-429."""


class Machine(Protocol):
    """A member's state machine without input and output."""

    @property
    def metrics(self) -> Metrics: ...

    @property
    def member_id(self) -> str: ...
    @property
    def generation(self) -> int: ...
    @property
    def phase(self) -> Any: ...
    @property
    def owned(self) -> Partitions: ...
    @property
    def fetchable(self) -> Partitions: ...
    def subscribe(self, topics: Iterable[str], now_ms: int) -> None: ...
    def enforce_rebalance(self, now_ms: int, reason: str | None = None) -> None: ...
    def topics_are(self, partitions: Mapping[str, int], now_ms: int) -> None: ...
    def commit(self, offsets: Mapping[Partition, int]) -> None: ...
    def close(self) -> None: ...
    def next_callback(self, now_ms: int) -> CallbackView | None: ...
    def callback_done(self, now_ms: int, error: BaseException | None = None) -> None: ...
    def take_error(self) -> BaseException | None: ...
    def take_request(self, now_ms: int) -> RequestView | None: ...
    def next_deadline_ms(self) -> int | None: ...
    def answered(self, correlation: int, body: Mapping[str, Any], now_ms: int) -> None: ...
    def failed(self, correlation: int, now_ms: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Consumer:
    """The configuration of a consumer: `assignors` are names, the first preferred."""

    group: str
    assignors: tuple[str, ...]
    instance: str | None = None

    @property
    def cooperative(self) -> bool:
        """Tell if all its assignors are cooperative: then the consumer keeps its partitions while it rejoins
        (C3)."""
        return self.assignors == CONFIGURATIONS["new"]


class Parts(Protocol):
    """The parts of a simulation of classic groups."""

    def cluster(self) -> Cluster:
        """A new coordinator."""

    def member(
        self,
        group: str,
        assignors: Sequence[str],
        instance: str | None,
        session_ms: int,
        rebalance_ms: int,
        interval_ms: int,
        backoff_ms: int,
        hears: Callable[[Partitions, int], None],
    ) -> Machine:
        """A new member; `hears` is called with each assignment and generation that its assignor gets."""

    def claim(self, metadata: str) -> tuple[frozenset[str], Partitions, int]:
        """A subscription of a JoinGroup, in base64: its topics, and its owned partitions with their
        generation."""

    def handed(self, assignment: str) -> Partitions:
        """An assignment of a SyncGroup, in base64; "" is an empty one."""
