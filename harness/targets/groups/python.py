"""`python`: this repository's coordinator and members, for a simulation of whole groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coordinator import AppendFailed, Config, Coordinator, SimulatedClock
from coordinator.consumer.model import Group, group_state
from coordinator.core.admission import ACTIVE
from coordinator.members.consumer import Member, Settings
from harness.simulate.groups.parts import Cluster, Consumer, GroupView, Machine
from harness.targets.base import Json
from harness.targets.groups.local_assignors import local_assignor

_DURABLE = ("epoch", "assignment_epoch", "metadata", "targets", "owners", "instances", "subscriptions")


class PythonParts:
    """The methods are those of `harness.simulate.groups.parts.Parts`."""

    def cluster(self, session_ms: int, heartbeat_ms: int) -> Cluster:
        """A coordinator with nothing in its log."""
        return _Cluster(Config(session_timeout_ms=session_ms, heartbeat_interval_ms=heartbeat_ms))

    def member(self, consumer: Consumer) -> Machine:
        """A consumer before its first subscription."""
        settings = Settings(
            consumer.group,
            instance_id=consumer.instance,
            server_assignor=consumer.assignor,
            max_poll_interval_ms=consumer.max_poll_ms,
            auto_commit=consumer.auto_commit,
        )
        return Member(settings, consumer.member_id, tuple(map(local_assignor, consumer.local)))


class _Clock(SimulatedClock):
    """A clock that reports its settings: a coordinator that advances sets it before and after each timer."""

    def __init__(self) -> None:
        super().__init__()
        self.before_set: Callable[[], None] = lambda: None

    def set(self, now_ms: int) -> None:
        self.before_set()
        super().set(now_ms)


class _Open(Coordinator):
    """A coordinator that shows its own objects, to be read."""

    def group_of(self, group: str) -> Group | None:
        """The group, if it exists."""
        return self._groups.get(group)

    def compact_from(self, first: int, tombstones: bool) -> None:
        """Compact the log: keep of the records from `first` on the last of each key (P3); tombstones only
        with `tombstones`."""
        self._log = self._log.compacted((), first, tombstones)

    def committed(self, group: str) -> object:
        """The offsets that the group has committed."""
        return dict(self._offsets.get(group, {}))


class _Cluster:
    """The methods are those of `harness.simulate.groups.parts.Cluster`."""

    def __init__(self, config: Config) -> None:
        self._clock = _Clock()
        self._coordinator = _Open(clock=self._clock, config=config)
        self.request = self._coordinator.request
        self.describe = self._coordinator.describe
        self._fail_overs = 0
        self.fail_appends = self._coordinator.fail_appends

    def set_state(self, state: str) -> None:
        """Set the state; a new coordinator loads a log that was compacted (P3): as a whole with its
        tombstones, without them, or only its second half, where a gain may come before the release that made
        way for it."""
        if state == ACTIVE:
            self._fail_overs += 1
            first = self._coordinator.end // 2 if self._fail_overs % 3 == 2 else 0
            self._coordinator.compact_from(first, tombstones=self._fail_overs % 3 != 0)
        self._coordinator.set_state(state)

    def set_topics(self, upsert: Sequence[Json], delete: Sequence[str]) -> bool:
        try:
            self._coordinator.set_topics(upsert, delete)
        except AppendFailed:
            return False
        return True

    def advance(self, ms: int, stepped: Callable[[], None]) -> list[Json]:
        """Move the clock; every timer that fires writes records, or is delayed."""
        coordinator, end = self._coordinator, self._coordinator.end

        def before_set() -> None:
            nonlocal end
            if end != coordinator.end:
                end = coordinator.end
                stepped()

        self._clock.before_set = before_set
        return coordinator.advance(ms)

    def delete_group(self, group: str) -> bool:
        return self._coordinator.fire("group", group)

    def group(self, group: str) -> GroupView | None:
        return self._coordinator.group_of(group)

    def group_state(self, group: str) -> str:
        return group_state(self._coordinator.group_of(group) or Group(group))

    def durable(self, group: str) -> object:
        known = self._coordinator.group_of(group) or Group(group)
        members = {
            member_id: (member.metadata, member.epoch, member.held)
            for member_id, member in known.members.items()
        }
        own = {name: _copy(getattr(known, name)) for name in _DURABLE}
        return own, members, self._coordinator.committed(group)


def _copy(value: object) -> object:
    return dict(value) if isinstance(value, dict) else value
