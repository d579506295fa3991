"""Interfaces of the parts of a simulation: coordinator and member.

A simulation looks into a coordinator after every event, so the coordinator shows its own objects, to be read
and never changed; JSON would be most of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from harness.targets.base import Json

Partition: TypeAlias = tuple[str, int]
"""Topic id and index: a recreated topic is another topic (T2)."""
Partitions: TypeAlias = frozenset[Partition]
Topics: TypeAlias = dict[str, tuple[str, int]]
"""Topic name -> its id and its number of partitions."""


class SubscriberView(Protocol):
    """The fields that a member reported about itself."""

    @property
    def instance_id(self) -> str | None: ...
    @property
    def subscription(self) -> Set[str]: ...
    @property
    def regex(self) -> str | None: ...
    @property
    def server_assignor(self) -> str | None: ...
    @property
    def client_assignors(self) -> Sequence[object]: ...


class MemberView(Protocol):
    """A member in the coordinator's state; `held` are `assigned` and `revoking` together (R7)."""

    @property
    def epoch(self) -> int: ...
    @property
    def held(self) -> Partitions: ...
    @property
    def assigned(self) -> Partitions: ...
    @property
    def revoking(self) -> Partitions: ...
    @property
    def metadata(self) -> SubscriberView: ...


class TargetView(Protocol):
    """A member's part of the target assignment; `error` is not 0 where the assignor failed."""

    @property
    def partitions(self) -> Partitions: ...
    @property
    def error(self) -> int: ...


class TopicView(Protocol):
    """A topic in the group's record."""

    @property
    def id(self) -> str: ...
    @property
    def partitions(self) -> int: ...


class ComputationView(Protocol):
    """The member that computes the target, "" for none, and its prepared input, if it has prepared (A5)."""

    @property
    def chosen(self) -> str: ...
    @property
    def base(self) -> object: ...


class GroupView(Protocol):
    """A group in the coordinator's state."""

    @property
    def epoch(self) -> int: ...
    @property
    def assignment_epoch(self) -> int: ...
    @property
    def metadata(self) -> Mapping[str, TopicView]: ...
    @property
    def members(self) -> Mapping[str, MemberView]: ...
    @property
    def targets(self) -> Mapping[str, TargetView]: ...
    @property
    def computation(self) -> ComputationView: ...


class Cluster(Protocol):
    """A coordinator in this process, on a simulated clock. Each exception that the coordinator raises is a
    finding about the coordinator."""

    def request(self, api: str, version: int, client: Json, body: Json) -> Json:
        """Handle one request; the body of its response."""

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        """Change topics; False if the log refused the records of groups, and nothing has changed."""

    def advance(self, ms: int, stepped: Callable[[], None]) -> list[Json]:
        """Move the clock, and call `stepped` after each timer that fired; the fired timers."""

    def delete_group(self, group: str) -> bool:
        """End the retention of an empty group; False if the log refused."""

    def set_state(self, state: str) -> None:
        """Refuse all requests ("loading", "moved", "unavailable"), or become "active" from the log (P2)."""

    def fail_appends(self, failing: bool) -> None:
        """Let the log refuse every record, or take them again (P3)."""

    def group(self, group: str) -> GroupView | None:
        """The group; None where it does not exist."""

    def group_state(self, group: str) -> str:
        """Dead, Empty, Assigning, Reconciling or Stable (E5)."""

    def describe(self, group: str) -> Json:
        """The group as the operation `describe` of the line protocol has it."""

    def durable(self, group: str) -> object:
        """The parts of a group and its offsets that a fail-over must keep (P2), for comparison."""


class RequestView(Protocol):
    """A request that a member sends."""

    @property
    def correlation(self) -> int: ...
    @property
    def api(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def body(self) -> Json: ...


class CallbackView(Protocol):
    """A callback of the application that a member asks for."""

    @property
    def name(self) -> Any: ...
    @property
    def partitions(self) -> Partitions: ...
    @property
    def error(self) -> int: ...


class PositionsView(Protocol):
    """The positions of a member."""

    @property
    def positions(self) -> Mapping[Partition, int]: ...


class Machine(Protocol):
    """A member's state machine without input and output (coordinator.members.consumer.Member is one)."""

    @property
    def member_id(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def state(self) -> Any: ...
    @property
    def closed(self) -> bool: ...
    @property
    def owned(self) -> Partitions: ...
    @property
    def assignment(self) -> Partitions: ...
    @property
    def fetchable(self) -> Partitions: ...
    @property
    def offsets(self) -> PositionsView: ...
    def subscribe(self, topics: Iterable[str] = (), *, regex: str | None = None, now_ms: int) -> None: ...
    def unsubscribe(self, now_ms: int) -> None: ...
    def close(self, now_ms: int) -> None: ...
    def poll(self, now_ms: int) -> None: ...
    def next_callback(self, now_ms: int) -> CallbackView | None: ...
    def callback_done(self, now_ms: int, error: BaseException | None = None) -> None: ...
    def take_error(self) -> BaseException | None: ...
    def set_position(self, partition: Partition, offset: int) -> None: ...
    def commit(self) -> None: ...
    def take_request(self, now_ms: int) -> RequestView | None: ...
    def answered(self, correlation: int, body: Mapping[str, Any], now_ms: int) -> None: ...
    def failed(self, correlation: int, now_ms: int, *, disconnected: bool = False) -> None: ...
    def next_deadline_ms(self) -> int | None: ...


LOCAL: Final = ("spread", "reversed", "picky")
"""The client-side assignors that a consumer of a simulation may have; "picky" fails for a group of three."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """The configuration of a consumer; `member_id` "": the coordinator makes one (H1)."""

    group: str
    member_id: str = ""
    instance: str | None = None
    assignor: str | None = None
    max_poll_ms: int = 60_000
    auto_commit: bool = True
    local: tuple[str, ...] = ()
    """The consumer's client-side assignors, the first preferred (K4); then it has no `assignor`."""


class Parts(Protocol):
    """The parts of a simulation."""

    def cluster(self, session_ms: int, heartbeat_ms: int) -> Cluster:
        """A new coordinator."""

    def member(self, consumer: Consumer) -> Machine:
        """A new member."""


class Violation(Exception):
    """A violated invariant: its requirement, its name, and the fault."""

    def __init__(self, requirement: str, invariant: str, message: str) -> None:
        super().__init__(f"{requirement}, {invariant}: {message}")
        self.requirement = requirement
        self.invariant = invariant
        self.message = message


def from_wire(topics: Iterable[Json]) -> Partitions:
    """[{"topicId", "partitions": [index]}] as a set."""
    return frozenset((topic["topicId"], index) for topic in topics for index in topic["partitions"])


def shown(partitions: Partitions | set[Partition]) -> str:
    """Partitions for a sentence: the end of each topic id, and the index."""
    return ", ".join(f"{topic[-4:]}-{index}" for topic, index in sorted(partitions)) or "nothing"
