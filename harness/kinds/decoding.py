"""From the states of a trace to prepared steps: the same for all kinds of groups.

A `Decoding` has the parts in which one kind differs. Everything in a replay that takes time is here:
replaying a prepared step is a call and a comparison.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.actions import INITIAL
from harness.replay import wire
from harness.replay.calls import Call, Restart
from harness.replay.contents import Contents
from harness.replay.dialects import TEXT, Forms
from harness.replay.members import MemberStep
from harness.replay.prepared import DecodedTrace, Loadable, Step
from harness.targets.base import Answer, Assignments, Json
from harness.values import State

STOP_MS: Final = 40_000
"""The replay's clock moves 1 ms before each step up to this time, which is before the first time-out."""


class AnySpecStep(Protocol):
    """The `step` of a state, of any kind of group."""

    @property
    def action(self) -> str: ...


class AnyState(Protocol):
    """A state, of any kind of group; equal keys are equal states."""

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


@dataclass(frozen=True, slots=True)
class KindLoad(ABC, Generic[S]):
    """A whole state with its armed timers at a time, in the form of the operation `load`; `described` is the
    answer to `describe` without the timers."""

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
        """The part of the state that records do not hold."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The group's state."""

    @property
    def records(self) -> list[Json]:
        """The log, as if written at once; it shares no object with expected values."""
        return deepcopy([{"offset": offset, **record} for offset, record in enumerate(self.whole())])

    @property
    def topics(self) -> list[Json]:
        """The topics, or connectors, that exist."""
        return [wire.topic(name, count) for name, count in sorted(self.state.topics.items()) if count > 0]

    @property
    def there(self) -> frozenset[str]:
        """The ids of the topics."""
        return frozenset(topic["id"] for topic in self.topics)

    @property
    def description(self) -> Json:
        """The answer to `describe`."""
        return {**self.described, "timers": self.timers}


class Expected(NamedTuple):
    """A step's values beside its call: `given` is its input, `records` are without offsets, and the rest is
    as in `harness.replay.prepared.Step` and in the answer."""

    branch: str
    error: str
    given: Any
    body: Json | None
    records: list[Json]
    new_id: str = ""
    script: Assignments | None = None
    completed: Sequence[Json] = ()


class Decoding(ABC, Generic[S]):
    """A trace of one kind of group while it is decoded, with the timers after the steps so far.

    `calls` has the call of each action, from the states before and after it. `handlers` are the actions that
    call the target, `others` those that do not; without `api` a target has no
    groups of the kind ("" for consumer groups, which every target has). `kind` is its name.
    """

    calls: Mapping[str, Callable[[Any, Any], Call]]
    handlers: frozenset[str]
    others: frozenset[str]
    api: str
    kind: str

    @abstractmethod
    def configuration(self, states: Sequence[S]) -> Json:
        """The configuration of the target that the trace's model assumes."""

    @abstractmethod
    def start(self, state: S) -> Described:
        """Begin with the state at the start of the trace, at time 0."""

    @abstractmethod
    def follow(self, before: S, after: S, now_ms: int) -> Described:
        """Follow the state after a step. ValueError, in words, if the states contradict each other."""

    def call(self, before: S, after: S) -> Call:
        """The call of a step. ValueError, in words, if the states contradict the call."""
        return self.calls[after.step.action](before, after)

    @abstractmethod
    def expected(self, before: S, after: S, now_ms: int) -> Expected:
        """The other values of a step."""

    def members(self, trace: Trace, states: Sequence[S], name: str) -> list[MemberStep]:
        """The steps of the trace's client processes, for kinds whose members are replayed."""
        return []

    def check(self, before: S, after: S, records: Sequence[Json]) -> None:
        """ValueError, in words, if the trace has a log that contradicts the records of a step."""


class Reader(Protocol[S]):
    """Reads the states of one kind."""

    def read(self, trace: Trace, name: str) -> list[S]:
        """ConformError (exit 2) for a trace of another specification."""


class KindDecoder(Generic[S]):
    """A decoder of traces of one kind of group: `decoding` makes one from a trace's #meta and name. `inputs`
    numbers the steps' inputs among those of other traces."""

    def __init__(
        self, reader: Reader[S], decoding: Callable[[Mapping[str, Any], str], Decoding[S]], inputs: Contents
    ) -> None:
        self._reader, self._decoding, self._inputs = reader, decoding, inputs
        self._lengths: dict[tuple[int, int, int], int] = {}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) for a trace of another specification,
        or one that contradicts itself."""
        states = self._reader.read(trace, f"The trace {name}")
        if len(states) < 2:
            raise ConformError(f"The trace {name} has a state but no steps: there is nothing to replay.")
        decoding = self._decoding(trace.meta, name)
        first = states[0].step.action
        if first != INITIAL and first not in decoding.handlers and first not in decoding.others:
            raise _unknown_action(name, 0, first, decoding.handlers | decoding.others)
        start = decoding.start(states[0])
        decoded = DecodedTrace(
            name,
            decoding.configuration(states),
            start,
            start.description,
            [],
            Counter(),
            set(),
            decoding.members(trace, states, name),
            decoding.handlers,
            decoding.api,
            decoding.kind,
        )
        self._decode_steps(decoded, decoding, states, self._length(states[0], start))
        return decoded

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[Loadable, Json]:
        """A state as the start of a trace with this #meta: its load, and its description."""
        read = self._reader.read(Trace(dict(meta), tuple(state), [state]), name)[0]
        load = self._decoding(meta, name).start(read)
        return load, load.description

    def _decode_steps(
        self, decoded: DecodedTrace, decoding: Decoding[S], states: Sequence[S], end: int
    ) -> None:
        """Decode the steps; `end` is the number of records before the first step."""
        now_ms = 0
        for index in range(1, len(states)):
            before, after = states[index - 1], states[index]
            try:
                call = _call(decoding, before, after, decoded.name, index)
                if call is None:
                    decoded.other_actions[after.step.action] += 1
                    decoding.check(before, after, ())
                    continue
                tick_ms = 1 if now_ms < STOP_MS else 0
                now_ms += tick_ms
                load = decoding.follow(before, after, now_ms)
                expected = decoding.expected(before, after, now_ms)
                step = self._step(index, after.step.action, call, load, expected, tick_ms, end)
                decoding.check(before, after, step.expected.records)
            except ValueError as error:
                raise _contradiction(error, decoded.name, index) from None
            end = step.end
            decoded.steps.append(step)
            decoded.needs.update(step.needs())

    def _length(self, state: S, start: Described) -> int:
        """The number of records from which a state is loaded."""
        known = self._lengths.get(state.key)
        if known is None:
            known = self._lengths[state.key] = len(start.whole())
        return known

    def _step(
        self,
        index: int,
        action: str,
        call: Call,
        load: Described,
        expected: Expected,
        tick_ms: int,
        offset: int,
    ) -> Step:
        return Step(
            index=index,
            action=action,
            branch=expected.branch,
            error=expected.error,
            key=self._inputs[expected.given],
            tick_ms=tick_ms,
            lost=call.change if isinstance(call, Restart) else None,
            new_id=expected.new_id,
            script=expected.script,
            call=call,
            expected=Answer(
                body=expected.body,
                group=load.description,
                records=[{"offset": offset + n, **record} for n, record in enumerate(expected.records)],
                consumed=expected.script is not None,
                fired=call.fired(),
                completed=expected.completed,
            ),
            start=offset,
            load=load,
        )


def _call(decoding: Decoding[S], before: S, after: S, name: str, index: int) -> Call | None:
    """The call of a step to the target; None if the step does not reach it."""
    action = after.step.action
    if action in decoding.others:
        if before.key != after.key:
            raise ConformError(
                f"The trace {name}, state {index}: {action} does not call the coordinator, "
                "but the group or the topics change."
            )
        return None
    if action == INITIAL:
        raise ConformError(
            f"The trace {name}, state {index}: {INITIAL} is the name of the first state only. "
            "A model that does not record its steps (TrackSteps = FALSE) has no traces to replay."
        )
    if action not in decoding.handlers:
        raise _unknown_action(name, index, action, decoding.handlers | decoding.others)
    return decoding.call(before, after)


def _contradiction(error: ValueError, name: str, index: int) -> ConformError:
    """A contradiction, in words, as a ConformError (exit 2) with the trace and the state."""
    return ConformError(f"The trace {name}, state {index}: {error}.")


def _unknown_action(name: str, index: int, action: str, known: Set[str]) -> ConformError:
    """The error for a trace with an action that its kind of group does not have."""
    there = ", ".join(sorted(known))
    return ConformError(f"The trace {name}, state {index}: there is no action {action!r}; there are {there}.")
