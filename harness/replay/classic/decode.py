"""From a trace of a classic group to prepared steps: the same that `harness.replay.decode` makes of
others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

from harness.errors import ConformError
from harness.itf import Trace
from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.classic import expect
from harness.replay.classic.records import whole, written
from harness.replay.classic.state import ClassicReader, ClassicState, input_of
from harness.replay.classic.steps import CLASSIC_HANDLERS, CLASSIC_OTHERS
from harness.replay.decode import STOP_MS, DecodedTrace, Step, unknown_action
from harness.replay.dialects import TEXT, Forms
from harness.replay.steps import INITIAL
from harness.targets.base import Answer, Json
from harness.values import State

DELAY: Final = "group.initial.rebalance.delay.ms"


class ClassicLoad(NamedTuple):
    """A whole state with its armed timers at a time, like `harness.replay.decode.Load`."""

    state: ClassicState
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
        """The topics that exist."""
        return [wire.topic(topic, count) for topic, count in sorted(self.state.topics.items())]

    @property
    def there(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(topic["id"] for topic in self.topics)

    @property
    def volatile(self) -> Json:
        """What records do not hold: nearly all, so the group is given as it is described."""
        groups = {wire.GROUP: deepcopy(self.description)} if self.state.group.exists else {}
        return {"clockMs": self.now_ms, "classic": groups}

    @property
    def description(self) -> Json:
        """The answer to `describe`."""
        return {**self.described, "timers": self.timers}

    @property
    def title(self) -> str:
        """The group's state."""
        return self.state.group.state


class ClassicDecoder:
    """Decodes traces of classic groups; `inputs` numbers the steps' inputs among those of other traces."""

    def __init__(self, inputs: dict[Any, int]) -> None:
        self._reader = ClassicReader()
        self._inputs = inputs
        self._descriptions: dict[tuple[int, int], Json] = {}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification."""
        states = self._reader.read(trace, f"The trace {name}")
        if len(states) < 2:
            raise ConformError(f"The trace {name} has a state but no steps: there is nothing to replay.")
        delay_ms = delay_of(trace.meta, name)
        timers = expect.ClassicTimers(delay_ms)
        start = self._load(states[0], timers.start(states[0].group, 0), 0, delay_ms)
        configuration = {**wire.DEFAULTS, DELAY: delay_ms}
        decoded = DecodedTrace(name, configuration, start, start.description, [], Counter(), set(), [])
        decoded.handlers, decoded.api = frozenset(CLASSIC_HANDLERS), "JoinGroup"
        end, now_ms = len(whole(states[0])), 0
        for index in range(1, len(states)):
            before, after = states[index - 1], states[index]
            call = _call(before, after, name, index)
            if call is None:
                decoded.other_actions[after.step.action] += 1
                continue
            tick_ms = 1 if now_ms < STOP_MS else 0
            now_ms += tick_ms
            load = self._load(after, timers.follow(before.group, after, now_ms), now_ms, delay_ms)
            step = self._step(index, before, call, load, tick_ms, end)
            end = step.end
            decoded.steps.append(step)
            decoded.needs.update(step.needs())
        return decoded

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[ClassicLoad, Json]:
        """A state as one that a trace with this #meta starts from: how it is loaded, and its description."""
        read = self._reader.read(Trace(dict(meta), tuple(state), [state]), name)[0]
        delay_ms = delay_of(meta, name)
        load = self._load(read, expect.ClassicTimers(delay_ms).start(read.group, 0), 0, delay_ms)
        return load, load.description

    def _load(self, state: ClassicState, timers: list[Json], now_ms: int, delay_ms: int) -> ClassicLoad:
        key = state.key[0], delay_ms
        if key not in self._descriptions:
            self._descriptions[key] = expect.description(state.group, delay_ms)
        return ClassicLoad(state, timers, now_ms, self._descriptions[key])

    def _step(
        self, index: int, before: ClassicState, call: Call, load: ClassicLoad, tick_ms: int, offset: int
    ) -> Step:
        after, spec = load.state, load.state.step
        records = written(before, after, load.now_ms)
        given = input_of(before, after)
        drawn = spec.action == "JoinGroup" and not spec.request.member and spec.branch != "refused"
        return Step(
            index=index,
            action=spec.action,
            branch=spec.branch,
            error=spec.response.error,
            key=self._inputs.setdefault(given, len(self._inputs)),
            tick_ms=tick_ms,
            lost=None,
            new_id=spec.member if drawn else "",
            script=None,
            call=call,
            expected=Answer(
                body=expect.response(before.group.exists, spec),
                group=load.description,
                records=[{"offset": offset + n, **record} for n, record in enumerate(records)],
                fired=call.fired(),
                completed=expect.completed(spec),
            ),
            start=offset,
            load=load,
        )


def delay_of(meta: Mapping[str, Any], name: str) -> int:
    """The initial delay: it fits into the rebalance time-out once more than it may be prolonged."""
    constants = meta.get("constants", {})
    extensions = constants.get("Extensions", 1) if isinstance(constants, dict) else 1
    if type(extensions) is not int or extensions < 0:
        raise ConformError(
            f"The trace {name}: Extensions in #meta must be a number from 0, not {extensions!r}."
        )
    return wire.REBALANCE_TIMEOUT_MS // (extensions + 1)


def _call(before: ClassicState, after: ClassicState, name: str, index: int) -> Call | None:
    """What a step sends to the target; None if it does not reach it."""
    action = after.step.action
    if action in CLASSIC_OTHERS:
        if before.key != after.key:
            raise ConformError(
                f"The trace {name}, state {index}: {action} does not call the coordinator, "
                "but the group changes."
            )
        return None
    handler = CLASSIC_HANDLERS.get(action)
    if handler is None or action == INITIAL:
        raise unknown_action(name, index, action, {*CLASSIC_HANDLERS, *CLASSIC_OTHERS})
    try:
        return handler(before, after)
    except ValueError as error:
        raise ConformError(f"The trace {name}, state {index}: {error}.") from None
