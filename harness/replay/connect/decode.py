"""From a trace of a Connect group to prepared steps: the same that `harness.replay.decode` makes of
others."""

from __future__ import annotations

from collections.abc import Mapping, Set
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

from harness.itf import Trace
from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.connect import expect
from harness.replay.connect import wire as connect
from harness.replay.connect.records import whole, written
from harness.replay.connect.state import ConnectReader, ConnectState
from harness.replay.connect.steps import CONNECT_HANDLERS, CONNECT_OTHERS
from harness.replay.decode import DecodedTrace
from harness.replay.dialects import TEXT, Forms
from harness.replay.expect import group_state
from harness.replay.kinds import Expected, Kind, decoded
from harness.requirements import CONNECT, WORKER
from harness.targets.base import Json
from harness.values import State


class ConnectLoad(NamedTuple):
    """A whole state with its armed timers at a time, like `harness.replay.decode.Load`."""

    state: ConnectState
    timers: list[Json]
    now_ms: int
    described: Json
    forms: Forms = TEXT

    @property
    def records(self) -> list[Json]:
        """The log, as if written at once; nothing of it is shared with what is expected."""
        return deepcopy([{"offset": offset, **record} for offset, record in enumerate(whole(self.state))])

    @property
    def topics(self) -> list[Json]:
        """The connectors that exist, as topics."""
        return [wire.topic(name, count) for name, count in sorted(self.state.topics.items()) if count > 0]

    @property
    def there(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(topic["id"] for topic in self.topics)

    @property
    def volatile(self) -> Json:
        """What records do not hold."""
        group, work = self.state.group, self.state.work
        deadlines = {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in self.timers}
        members = {
            name: {
                "previousMemberEpoch": member.previous_epoch,
                "pendingRevocation": connect.resources(member.revoking),
                "acknowledged": member.acknowledged,
                "sessionDeadlineMs": deadlines["session", name],
                "rebalanceDeadlineMs": deadlines.get(("rebalance", name)),
            }
            for name, member in group.members.items()
        }
        known = {
            "emptyDeadlineMs": deadlines.get(("group", "")),
            "assignmentDeadlineMs": deadlines.get(("assignment", work.chosen)),
            "chosen": work.chosen,
            "prepared": expect.prepared(work.prepared),
            "members": members,
        }
        return {"clockMs": self.now_ms, "connect": {wire.GROUP: known} if group.exists else {}}

    @property
    def description(self) -> Json:
        """The answer to `describe`."""
        return {**self.described, "timers": self.timers}

    @property
    def title(self) -> str:
        """The group's state (E5)."""
        return group_state(self.state.group)


class ConnectDecoder:
    """Decodes traces of Connect groups; `inputs` numbers the steps' inputs among those of other traces."""

    def __init__(self, inputs: dict[Any, int]) -> None:
        self._reader = ConnectReader()
        self._inputs = inputs
        self._descriptions: _Descriptions = {}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification."""
        states = self._reader.read(trace, f"The trace {name}")
        kind = ConnectKind(self._descriptions)
        return decoded(name, states, kind, self._inputs, lambda state: len(whole(state)))

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[ConnectLoad, Json]:
        """A state as one that a trace with this #meta starts from: how it is loaded, and its description."""
        read = self._reader.read(Trace(dict(meta), tuple(state), [state]), name)[0]
        load = ConnectKind(self._descriptions).start(read)
        return load, load.description


_Descriptions: TypeAlias = dict[tuple[int, int, int], Json]
"""By the key of a state."""


class ConnectKind(Kind[ConnectState]):
    """A trace of a Connect group."""

    configuration = wire.DEFAULTS
    handlers: Set[str] = CONNECT_HANDLERS.keys()
    others: Set[str] = CONNECT_OTHERS
    api = connect.HEARTBEAT

    def __init__(self, descriptions: _Descriptions) -> None:
        self._descriptions = descriptions
        self._timers = expect.ConnectTimers()

    def start(self, state: ConnectState) -> ConnectLoad:
        """At time 0."""
        self._timers = expect.ConnectTimers.started(state)
        return self._load(state, self._timers.armed(state), 0)

    def follow(self, before: ConnectState, after: ConnectState, now_ms: int) -> ConnectLoad:
        """After a step."""
        return self._load(after, self._timers.follow(before, after, now_ms), now_ms)

    def _load(self, state: ConnectState, timers: list[Json], now_ms: int) -> ConnectLoad:
        if state.key not in self._descriptions:
            self._descriptions[state.key] = expect.description(state)
        return ConnectLoad(state, timers, now_ms, self._descriptions[state.key])

    def call(self, before: ConnectState, after: ConnectState) -> Call:
        """By its action's handler."""
        return CONNECT_HANDLERS[after.step.action](before, after)

    def expected(self, before: ConnectState, after: ConnectState, now_ms: int) -> Expected:
        """What its step and its call say."""
        spec, asked = after.step, after.call
        given = (before.key, spec.action, spec.member, spec.request, spec.topic, spec.partitions)
        said = (asked.reason, asked.group_epoch, tuple(asked.target.items()), asked.twice)
        return Expected(
            branch=spec.branch or (WORKER if spec.action in CONNECT else ""),
            error=spec.response.error,
            given=(given, said),
            body=expect.response(before, after) if spec.response.error else None,
            records=written(before, after),
        )
