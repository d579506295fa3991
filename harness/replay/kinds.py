"""From the states of a trace to prepared steps: what is the same for all kinds of groups that are no plain
consumer groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from harness.errors import ConformError
from harness.itf import Trace
from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.contents import Contents
from harness.replay.decode import STOP_MS, DecodedTrace, Loadable, Step, contradiction, unknown_action
from harness.replay.dialects import TEXT, Forms
from harness.replay.steps import INITIAL
from harness.targets.base import Answer, Assignments, Json
from harness.values import State

DELAY: Final = "group.initial.rebalance.delay.ms"


class AnySpecStep(Protocol):
    """What every kind's `step` has."""

    @property
    def action(self) -> str: ...


class AnyState(Protocol):
    """What every kind's states have; equal keys are equal states."""

    @property
    def key(self) -> tuple[int, int, int]: ...
    @property
    def step(self) -> AnySpecStep: ...
    @property
    def topics(self) -> Mapping[str, int]: ...


class Described(Loadable, Protocol):
    """A whole state with its answer to `describe`."""

    @property
    def description(self) -> Json: ...
    def whole(self) -> list[Json]: ...


S = TypeVar("S", bound=AnyState)
R = TypeVar("R", bound=AnyState, contravariant=True)


@dataclass(frozen=True, slots=True)
class KindLoad(ABC, Generic[S]):
    """A whole state with its armed timers at a time, like `harness.replay.decode.Load`; `described` is what
    `describe` answers beside the timers."""

    state: S
    timers: list[Json]
    now_ms: int
    described: Json
    forms: Forms = TEXT

    @abstractmethod
    def whole(self) -> list[Json]:
        """The records of the state, without offsets."""

    @property
    @abstractmethod
    def volatile(self) -> Json:
        """What records do not hold."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The group's state."""

    @property
    def records(self) -> list[Json]:
        """The log, as if written at once; nothing of it is shared with what is expected."""
        return deepcopy([{"offset": offset, **record} for offset, record in enumerate(self.whole())])

    @property
    def topics(self) -> list[Json]:
        """The topics, or connectors, that exist."""
        return [wire.topic(name, count) for name, count in sorted(self.state.topics.items()) if count > 0]

    @property
    def there(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(topic["id"] for topic in self.topics)

    @property
    def description(self) -> Json:
        """The answer to `describe`."""
        return {**self.described, "timers": self.timers}


class Expected(NamedTuple):
    """What a step says beside its call: `given` is its input, `records` are without offsets, and the rest is
    as in `harness.replay.decode.Step` and in the answer."""

    branch: str
    error: str
    given: Any
    body: Json | None
    records: list[Json]
    new_id: str = ""
    script: Assignments | None = None
    completed: Sequence[Json] = ()


class Kind(Protocol[R]):
    """A trace of one kind of group: its configuration, and the timers as far as its steps have gone."""

    configuration: Json
    handlers: Set[str]
    others: Set[str]
    api: str

    def start(self, state: R) -> Described:
        """The state that the trace starts from, at time 0."""

    def follow(self, before: R, after: R, now_ms: int) -> Described:
        """The state after a step."""

    def call(self, before: R, after: R) -> Call:
        """What a step sends to the target. ValueError, in words, if the states contradict it."""

    def expected(self, before: R, after: R, now_ms: int) -> Expected:
        """What else the step says."""


class Reader(Protocol[S]):
    """Reads the states of one kind."""

    def read(self, trace: Trace, name: str) -> list[S]:
        """ConformError (exit 2) for a trace of another specification."""


class KindDecoder(Generic[S]):
    """Decodes traces of one kind of group: `kind` makes one from a trace's #meta and name. `inputs` numbers
    the steps' inputs among those of other traces."""

    def __init__(
        self, reader: Reader[S], kind: Callable[[Mapping[str, Any], str], Kind[S]], inputs: Contents
    ) -> None:
        self._reader, self._kind, self._inputs = reader, kind, inputs

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification, or
        contradicts itself."""
        states = self._reader.read(trace, f"The trace {name}")
        return _decoded(name, states, self._kind(trace.meta, name), self._inputs)

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[Described, Json]:
        """A state as one that a trace with this #meta starts from: how it is loaded, and its description."""
        read = self._reader.read(Trace(dict(meta), tuple(state), [state]), name)[0]
        load = self._kind(meta, name).start(read)
        return load, load.description


def _decoded(name: str, states: list[S], kind: Kind[S], inputs: Contents) -> DecodedTrace:
    if len(states) < 2:
        raise ConformError(f"The trace {name} has a state but no steps: there is nothing to replay.")
    start = kind.start(states[0])
    trace = DecodedTrace(name, kind.configuration, start, start.description, [], Counter(), set(), [])
    trace.handlers, trace.api = frozenset(kind.handlers), kind.api
    end, now_ms = len(start.whole()), 0
    for index in range(1, len(states)):
        before, after = states[index - 1], states[index]
        call = _call(kind, before, after, name, index)
        if call is None:
            trace.other_actions[after.step.action] += 1
            continue
        tick_ms = 1 if now_ms < STOP_MS else 0
        now_ms += tick_ms
        try:
            load = kind.follow(before, after, now_ms)
        except ValueError as error:
            raise contradiction(error, name, index) from None
        said = kind.expected(before, after, now_ms)
        step = _step(index, after.step.action, call, load, said, tick_ms, end, inputs)
        end = step.end
        trace.steps.append(step)
        trace.needs.update(step.needs())
    return trace


def _step(
    index: int,
    action: str,
    call: Call,
    load: Described,
    said: Expected,
    tick_ms: int,
    offset: int,
    inputs: Contents,
) -> Step:
    return Step(
        index=index,
        action=action,
        branch=said.branch,
        error=said.error,
        key=inputs[said.given],
        tick_ms=tick_ms,
        lost=None,
        new_id=said.new_id,
        script=said.script,
        call=call,
        expected=Answer(
            body=said.body,
            group=load.description,
            records=[{"offset": offset + n, **record} for n, record in enumerate(said.records)],
            consumed=said.script is not None,
            fired=call.fired(),
            completed=said.completed,
        ),
        start=offset,
        load=load,
    )


def _call(kind: Kind[S], before: S, after: S, name: str, index: int) -> Call | None:
    """What a step sends to the target; None if it does not reach it."""
    action = after.step.action
    if action in kind.others:
        if before.key != after.key:
            raise ConformError(
                f"The trace {name}, state {index}: {action} does not call the coordinator, "
                "but the group changes."
            )
        return None
    if action not in kind.handlers or action == INITIAL:
        raise unknown_action(name, index, action, {*kind.handlers, *kind.others})
    try:
        return kind.call(before, after)
    except ValueError as error:
        raise contradiction(error, name, index) from None
