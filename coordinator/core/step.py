"""Data of handlers: the environment, the result that they return, and the unfinished step.

A handler reads the group and returns a Result. Nothing of the result is visible before the log has taken the
records and they are replayed, so that a step whose records are refused leaves no trace (P3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from coordinator.assignors import GroupAssignment, PartitionAssignor
from coordinator.computing.model import Computation
from coordinator.consumer.model import Group, MemberMetadata, Partitions, Subscription, Target, Topics
from coordinator.consumer.records import Record, Value
from coordinator.core.config import HEARTBEAT_INTERVAL, SESSION_TIMEOUT, Config
from coordinator.core.dialect import Dialect
from coordinator.core.fields import Json
from coordinator.record_kinds import AnyRecord

if TYPE_CHECKING:
    from coordinator.classic.rebalance import ClassicStep

GroupConfigs = Mapping[str, Mapping[str, int]]
"""Group id -> its own configurations, by name (D1); a group without any has no entry."""


@dataclass(slots=True, frozen=True)
class Env:
    """Environment that handlers read besides the group."""

    dialect: Dialect
    config: Config
    assignors: Mapping[str, PartitionAssignor]
    """By name, the default first (group.consumer.assignors)."""
    topics: Topics
    scripts: Mapping[str, GroupAssignment | str]
    """Group id -> its next target in place of the assignor's, or the message of an assignor that fails."""
    group_configs: GroupConfigs = field(default_factory=dict)
    client_side: bool = False
    """Do members compute targets, and install them later? In Connect groups they do (W1)."""
    topic_names: frozenset[str] = field(init=False)
    """The names of `topics`."""
    names_by_id: Mapping[str, str] = field(init=False)
    """Topic id -> name, of `topics`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "topic_names", frozenset(self.topics))
        object.__setattr__(self, "names_by_id", {image.id: name for name, image in self.topics.items()})

    def session_timeout_ms(self, group_id: str) -> int:
        """H8: the group's own, or the broker's (D1)."""
        return self._of_group(group_id, SESSION_TIMEOUT, self.config.session_timeout_ms)

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """H9: the group's own, or the broker's (D1)."""
        return self._of_group(group_id, HEARTBEAT_INTERVAL, self.config.heartbeat_interval_ms)

    def _of_group(self, group_id: str, name: str, broker: int) -> int:
        own = self.group_configs.get(group_id)
        return broker if own is None else own.get(name, broker)


class Volatile(NamedTuple):
    """A member's state that no record holds."""

    member_id: str
    previous_epoch: int
    revoking: Partitions
    acknowledged: bool


class Timer(NamedTuple):
    """A timer to arm, or to cancel (None): "session", "rebalance", "computation", "join" and "sync" (M2), or
    "group" (whose member id is "")."""

    name: str
    member_id: str
    deadline_ms: int | None


@dataclass(slots=True)
class Result:
    """Result of one step for one group."""

    group_id: str
    records: list[AnyRecord] = field(default_factory=list)
    response: Json | None = None
    volatile: list[Volatile] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    target_computed_ms: int | None = None
    computation: Computation | None = None
    """None where the step does not change it."""
    script_used: bool = False
    gone: frozenset[str] = frozenset()
    """Members that the step removes."""
    classic_step: ClassicStep | None = None
    """The step of the classic group in a step that converts the group (M1)."""

    @property
    def writes_nothing(self) -> bool:
        """Tell if the step writes nothing to the log, as a heartbeat without news. Such a step changes only
        timers and a member's volatile state."""
        return not self.records


class Step:
    """One unfinished step: the group before it, and the results of UpdateMember and UpdateTarget so far."""

    __slots__ = (
        "assignment_epoch",
        "computation",
        "env",
        "epoch",
        "group",
        "members",
        "metadata",
        "now_ms",
        "place_of",
        "replaced",
        "result",
        "targets",
    )

    def __init__(self, env: Env, group: Group, now_ms: int) -> None:
        self.env = env
        self.group = group
        self.now_ms = now_ms
        self.result = Result(group.id)
        self.epoch = group.epoch
        self.assignment_epoch = group.assignment_epoch
        self.metadata: Topics = group.metadata
        self.targets: Mapping[str, Target] = group.targets
        self.computation = group.computation
        self.members: Mapping[str, MemberMetadata] | None = None
        """The members after the step, or None where the step does not change them."""
        self.replaced: str | None = None
        """A member whose target belonged to its former incarnation and is written anew (H1)."""
        self.place_of: str | None = None
        """The member that was away and whose place the step gives to its sender (S1)."""

    def metadata_of_members(self) -> Mapping[str, MemberMetadata]:
        """Every member of the group after the step, with its metadata."""
        if self.members is not None:
            return self.members
        return {member_id: member.metadata for member_id, member in self.group.members.items()}

    def subscriptions(self) -> Iterable[Subscription]:
        """Every different subscription after the step."""
        if self.members is None:
            return self.group.subscriptions
        return {(member.subscription, member.regex) for member in self.members.values()}

    def compute_by(self, computation: Computation) -> None:
        """Set the computation of the target by a member (A5)."""
        if computation != self.group.computation or self.result.computation is not None:
            self.result.computation = computation
        self.computation = computation

    def write(self, kind: str, member_id: str | None, value: Value | None) -> None:
        """Add a record to the result."""
        self.result.records.append(Record(kind, self.group.id, member_id, value))
