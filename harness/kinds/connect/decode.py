"""From a trace of a Connect group to prepared steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from harness.kinds.connect import expect
from harness.kinds.connect import wire as connect
from harness.kinds.connect.description import CONNECT as KIND
from harness.kinds.connect.description import REQUIREMENTS, WORKER
from harness.kinds.connect.records import whole, written
from harness.kinds.connect.state import ConnectReader, ConnectState
from harness.kinds.connect.steps import CONNECT_HANDLERS, CONNECT_OTHERS
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import Member
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.kinds.rows import record_of
from harness.replay import wire
from harness.replay.contents import Contents
from harness.targets.base import Json


class ConnectLoad(KindLoad[ConnectState]):
    """A whole state."""

    def whole(self) -> list[Json]:
        """The group's records."""
        return whole(self.state)

    @property
    def volatile(self) -> Json:
        """The state that records do not hold."""
        group, work = self.state.group, self.state.work
        deadlines = {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in self.timers}
        members = {
            name: {
                **_VOLATILE.described(member, connect.SHOWN),
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
    def title(self) -> str:
        """The group's state (E5)."""
        return group_state(self.state.group)


_VOLATILE: Final = record_of(Member).only("previous_epoch", "revoking", "acknowledged")
_Descriptions: TypeAlias = dict[tuple[int, int, int], Json]
"""By the key of a state."""


def connect_decoder(inputs: Contents) -> KindDecoder[ConnectState]:
    """Decodes traces of Connect groups."""
    known: _Descriptions = {}
    return KindDecoder(ConnectReader(), lambda meta, name: ConnectDecoding(known), inputs)


class ConnectDecoding(Decoding[ConnectState]):
    """A trace of a Connect group."""

    calls = CONNECT_HANDLERS
    handlers = frozenset(calls)
    others = CONNECT_OTHERS
    api = connect.HEARTBEAT
    kind = KIND.name

    def __init__(self, descriptions: _Descriptions) -> None:
        self._descriptions = descriptions
        self._timers = expect.ConnectTimers()

    def configuration(self, states: Sequence[ConnectState]) -> Json:
        """The defaults."""
        return wire.DEFAULTS

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

    def expected(self, before: ConnectState, after: ConnectState, now_ms: int) -> Expected:
        """The response and the events that the step and its call name."""
        spec, call = after.step, after.call
        given = (before.key, spec.action, spec.member, spec.request, spec.topic, spec.partitions)
        data = (call.reason, after.names, call.group_epoch, tuple(call.target.items()), call.twice)
        return Expected(
            branch=spec.branch or (WORKER if spec.action in REQUIREMENTS else ""),
            error=spec.response.error,
            given=(given, data),
            body=expect.response(before, after) if spec.response.error else None,
            records=written(before, after),
        )
