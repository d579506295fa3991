"""From a trace of a Connect group to prepared steps: the same that `harness.replay.decode` makes of
others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from harness.errors import ConformError
from harness.itf import Trace
from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.connect import expect
from harness.replay.connect import wire as connect
from harness.replay.connect.records import whole, written
from harness.replay.connect.state import ConnectReader, ConnectState
from harness.replay.connect.steps import CONNECT_HANDLERS, CONNECT_OTHERS
from harness.replay.decode import STOP_MS, DecodedTrace, Step, unknown_action
from harness.replay.dialects import TEXT, Forms
from harness.replay.expect import group_state
from harness.replay.steps import INITIAL
from harness.requirements import CONNECT, WORKER
from harness.targets.base import Answer, Json
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
        self._descriptions: dict[tuple[int, int, int], Json] = {}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification."""
        states = self._reader.read(trace, f"The trace {name}")
        if len(states) < 2:
            raise ConformError(f"The trace {name} has a state but no steps: there is nothing to replay.")
        timers = expect.ConnectTimers.started(states[0])
        start = self._load(states[0], timers.armed(states[0]), 0)
        decoded = DecodedTrace(name, wire.DEFAULTS, start, start.description, [], Counter(), set(), [])
        decoded.handlers, decoded.api = frozenset(CONNECT_HANDLERS), connect.HEARTBEAT
        end, now_ms = len(whole(states[0])), 0
        for index in range(1, len(states)):
            before, after = states[index - 1], states[index]
            call = _call(before, after, name, index)
            if call is None:
                decoded.other_actions[after.step.action] += 1
                continue
            tick_ms = 1 if now_ms < STOP_MS else 0
            now_ms += tick_ms
            load = self._load(after, timers.follow(before, after, now_ms), now_ms)
            step = self._step(index, before, call, load, tick_ms, end)
            end = step.end
            decoded.steps.append(step)
            decoded.needs.update(step.needs())
        return decoded

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[ConnectLoad, Json]:
        """A state as one that a trace with this #meta starts from: how it is loaded, and its description."""
        read = self._reader.read(Trace(dict(meta), tuple(state), [state]), name)[0]
        load = self._load(read, expect.ConnectTimers.started(read).armed(read), 0)
        return load, load.description

    def _load(self, state: ConnectState, timers: list[Json], now_ms: int) -> ConnectLoad:
        if state.key not in self._descriptions:
            self._descriptions[state.key] = expect.description(state)
        return ConnectLoad(state, timers, now_ms, self._descriptions[state.key])

    def _step(
        self, index: int, before: ConnectState, call: Call, load: ConnectLoad, tick_ms: int, offset: int
    ) -> Step:
        after, spec = load.state, load.state.step
        asked = after.call
        given = (before.key, spec.action, spec.member, spec.request, spec.topic, spec.partitions)
        said = (asked.reason, asked.group_epoch, tuple(asked.target.items()), asked.twice)
        return Step(
            index=index,
            action=spec.action,
            branch=spec.branch or (WORKER if spec.action in CONNECT else ""),
            error=spec.response.error,
            key=self._inputs.setdefault((given, said), len(self._inputs)),
            tick_ms=tick_ms,
            lost=None,
            new_id="",
            script=None,
            call=call,
            expected=Answer(
                body=expect.response(before, after) if spec.response.error else None,
                group=load.description,
                records=[{"offset": offset + n, **record} for n, record in enumerate(written(before, after))],
                fired=call.fired(),
            ),
            start=offset,
            load=load,
        )


def _call(before: ConnectState, after: ConnectState, name: str, index: int) -> Call | None:
    """What a step sends to the target; None if it does not reach it."""
    action = after.step.action
    if action in CONNECT_OTHERS:
        if before.key != after.key:
            raise ConformError(
                f"The trace {name}, state {index}: {action} does not call the coordinator, "
                "but the group changes."
            )
        return None
    handler = CONNECT_HANDLERS.get(action)
    if handler is None or action == INITIAL:
        raise unknown_action(name, index, action, {*CONNECT_HANDLERS, *CONNECT_OTHERS})
    try:
        return handler(before, after)
    except ValueError as error:
        raise ConformError(f"The trace {name}, state {index}: {error}.") from None
