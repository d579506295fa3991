"""From a trace to prepared steps: what to send and what must come back, computed once and never changed.

Replaying a prepared step is a call and a comparison; everything that takes time is here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import msgspec

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.classic.said import Classic
from harness.kinds.classic.state import is_classic
from harness.kinds.connect.state import is_connect
from harness.kinds.migration.state import is_migration, refuse_short_form
from harness.replay import client, expect, wire
from harness.replay.calls import Call, ChangeTopics, Restart
from harness.replay.client_state import ClientStep
from harness.replay.contents import Contents
from harness.replay.dialects import TEXT, Forms, forms_of
from harness.replay.log import check_log
from harness.replay.members import MemberStep, member_steps
from harness.replay.records import still_untargeted, whole, written
from harness.replay.state import Admin, Partition, Request, SpecState, StateReader
from harness.replay.steps import HANDLERS, INITIAL, OTHER_ACTIONS
from harness.targets.base import Answer, Assignments, Json
from harness.values import State

STOP_MS = 40_000
"""The replay's clock moves 1 ms before each step until here, short of the first time-out by itself."""

_Input: TypeAlias = tuple[
    tuple[int, int, int],
    str,
    str,
    Request,
    str,
    int,
    Partition | None,
    int,
    Admin | None,
    ClientStep | None,
]
"""A target-calling step's state and input."""


class Load(NamedTuple):
    """A whole state with its armed timers at a time, as the operation `load` takes it."""

    state: SpecState
    timers: list[Json]
    now_ms: int
    forms: Forms = TEXT

    @property
    def records(self) -> list[Json]:
        """The group, as if written at once; nothing of it is shared with what is expected."""
        records = whole(self.state, self.forms)
        return deepcopy([{"offset": offset, **record} for offset, record in enumerate(records)])

    @property
    def topics(self) -> list[Json]:
        """The topics that exist."""
        return [wire.topic(topic, count) for topic, count in sorted(self.state.topics.items()) if count > 0]

    @property
    def there(self) -> frozenset[str]:
        """Their ids."""
        return frozenset(topic["id"] for topic in self.topics)

    @property
    def title(self) -> str:
        """The group's state (E5)."""
        return expect.group_state(self.state.group)

    @property
    def volatile(self) -> Json:
        """What records do not hold."""
        group = self.state.group
        deadlines = {(timer["timer"], timer["member"]): timer["deadlineMs"] for timer in self.timers}
        members = {
            name: {
                "previousMemberEpoch": member.previous_epoch,
                "pendingRevocation": wire.topic_partitions(member.revoking),
                "acknowledged": member.acknowledged,
                "sessionDeadlineMs": deadlines["session", name],
                "rebalanceDeadlineMs": deadlines.get(("rebalance", name)),
                **_of_classic(deadlines, name, member.classic),
            }
            for name, member in group.members.items()
        }
        known = {
            "emptyDeadlineMs": deadlines.get(("group", "")),
            "members": members,
            **client.volatile(group.computation, self.timers),
        }
        configs = {"configs": {wire.GROUP: dict(self.state.configs)}} if self.state.configs else {}
        return {"clockMs": self.now_ms, "groups": {wire.GROUP: known} if group.exists else {}, **configs}


def _of_classic(deadlines: Mapping[tuple[str, str], int], name: str, said: Classic | None) -> Json:
    """Of a member that uses the classic protocol: until when it must rejoin, or send its SyncGroup (M2)."""
    if said is None:
        return {}
    return {f"{timer}DeadlineMs": deadlines.get((timer, name)) for timer in ("join", "sync")}


class Loadable(Protocol):
    """A whole state, of any kind of group: `Load`, or one of `harness.replay.kinds`."""

    @property
    def state(self) -> Any: ...
    @property
    def now_ms(self) -> int: ...
    @property
    def forms(self) -> Forms: ...
    @property
    def records(self) -> list[Json]: ...
    @property
    def topics(self) -> list[Json]: ...
    @property
    def there(self) -> frozenset[str]: ...
    @property
    def volatile(self) -> Json: ...
    @property
    def title(self) -> str: ...


class Step(msgspec.Struct, frozen=True):
    """One step that calls the target.

    `index` is that of the state after it; equal `key`s are the same input in the same state. Before the
    call, the clock moves by `tick_ms`, `lost` happens to a coordinator that fails before it has recorded it
    (P2), `new_id` (or "") becomes the id of the member that joins without one (H1), and `script`, if a target
    is installed, the next target assignment. `expected` is the whole answer; its records have the offsets of
    a log that began with the trace and had `start` records before the step. `load` makes the state after it.
    """

    index: int
    action: str
    branch: str
    error: str
    key: int
    tick_ms: int
    lost: ChangeTopics | None
    new_id: str
    script: Assignments | None
    call: Call
    expected: Answer
    start: int
    load: Loadable

    @property
    def end(self) -> int:
        """How many records the log has after the step."""
        return self.start + len(self.expected.records)

    @property
    def there(self) -> frozenset[str]:
        """The ids of the topics that exist after it."""
        return self.load.there

    def needs(self) -> frozenset[str]:
        """The API, or the operations, without which it cannot be replayed at all."""
        return self.call.needs() | {"ids"} if self.new_id else self.call.needs()


@dataclass(slots=True)
class DecodedTrace:
    """A trace ready to be replayed: the state it starts from and its description, its target-calling steps
    and how often it has other actions; the configuration that its model assumes, the APIs and operations that
    its steps need; what its client processes do; the actions that traces of its kind may have; and the API
    without which a target has no groups of that kind, "" for consumer groups."""

    name: str
    configuration: Json
    start: Loadable
    initial: Json
    steps: list[Step]
    other_actions: Counter[str]
    needs: set[str]
    members: list[MemberStep]
    handlers: frozenset[str] = frozenset(HANDLERS)
    api: str = ""

    @property
    def length(self) -> int:
        """All steps, those that do not call the target too."""
        return len(self.steps) + self.other_actions.total()


class Decoder:
    """Decodes traces; what several of them have in common is read once."""

    def __init__(self, inputs: Contents | None = None) -> None:
        """`inputs` numbers the inputs of all steps; by default they get numbers of their content."""
        # here, because it makes what is defined in this module
        from harness.kinds.classic.decode import classic_decoder
        from harness.kinds.connect.decode import connect_decoder
        from harness.kinds.migration.decode import migration_decoder

        self._reader = StateReader()
        self._descriptions: dict[int, Json] = {}
        self._inputs = Contents() if inputs is None else inputs
        self._classic = classic_decoder(self._inputs)
        self._connect = connect_decoder(self._inputs)
        self._migration = migration_decoder(self._inputs)
        self._lengths: dict[tuple[int, int, int], int] = {}

    def decode(self, trace: Trace, name: str) -> DecodedTrace:
        """Prepare the trace in the file `name`. ConformError (exit 2) if it is of another specification."""
        if is_classic(trace):
            return self._classic.decode(trace, name)
        if is_connect(trace):
            return self._connect.decode(trace, name)
        if is_migration(trace):
            return self._migration.decode(trace, name)
        refuse_short_form(trace, name)
        states = self._reader.read(trace, f"The trace {name}")
        if len(states) < 2:
            raise ConformError(f"The trace {name} has a state but no steps: there is nothing to replay.")
        if states[0].step.action not in {INITIAL, *HANDLERS, *OTHER_ACTIONS}:
            raise unknown_action(name, 0, states[0].step.action)
        forms = forms_of(trace, name)
        start, timers = _loaded(states[0], forms)
        initial = self._description(start)
        configuration = _configuration(trace, states, name)
        members = member_steps(trace, states, name)
        decoded = DecodedTrace(name, configuration, start, initial, [], Counter(), set(), members)
        end, now_ms, untargeted = self._length(start), 0, frozenset[str]()
        for index in range(1, len(states)):
            before, after = states[index - 1], states[index]
            call = _call(before, after, name, index)
            if call is None:
                decoded.other_actions[after.step.action] += 1
                _check_log(before, after, (), name, index)
                continue
            tick_ms = 1 if now_ms < STOP_MS else 0
            now_ms += tick_ms
            try:
                load = Load(after, timers.follow(before.group, after, now_ms), now_ms, forms)
            except ValueError as error:
                raise contradiction(error, name, index) from None
            step = self._step(index, before, call, load, tick_ms, end, untargeted)
            untargeted = still_untargeted(untargeted, forms.created(before.group), after)
            _check_log(before, after, step.expected.records, name, index)
            end = step.end
            decoded.steps.append(step)
            decoded.needs.update(step.needs())
        return decoded

    def start(self, state: State, name: str, meta: Mapping[str, Any]) -> tuple[Loadable, Json]:
        """A state as one that a trace with this #meta starts from: how it is loaded, and its description."""
        trace = Trace(dict(meta), tuple(state), [state])
        if is_classic(trace):
            return self._classic.start(state, name, meta)
        if is_connect(trace):
            return self._connect.start(state, name, meta)
        if is_migration(trace):
            return self._migration.start(state, name, meta)
        load, _ = _loaded(self._reader.read(trace, name)[0], forms_of(trace, name))
        return load, self._description(load)

    def _step(
        self,
        index: int,
        before: SpecState,
        call: Call,
        load: Load,
        tick_ms: int,
        offset: int,
        untargeted: frozenset[str],
    ) -> Step:
        after, spec = load.state, load.state.step
        records = written(before, after, load.now_ms, load.forms, untargeted)
        installed = spec.action == "InstallAssignment"
        script = expect.new_target(load.forms.created(before.group), after.group, installed)
        joins = spec.action in ("Join", "Return") and spec.response.error == "NONE"
        topic, partition = (spec.topic, spec.partitions), (spec.partition, spec.offset)
        said = after.admin, spec.client
        given: _Input = (before.key, spec.action, spec.member, spec.request, *topic, *partition, *said)
        return Step(
            index=index,
            action=spec.action,
            branch=spec.branch,
            error=spec.response.error,
            key=self._inputs[given],
            tick_ms=tick_ms,
            lost=call.change if isinstance(call, Restart) else None,
            new_id=spec.member if joins and not spec.request.member else "",
            script=script,
            call=call,
            expected=Answer(
                body=expect.response(after) if spec.response.error else None,
                group=self._description(load),
                records=[{"offset": offset + n, **record} for n, record in enumerate(records)],
                consumed=script is not None,
                fired=call.fired(),
            ),
            start=offset,
            load=load,
        )

    def _length(self, load: Load) -> int:
        """How many records a state is loaded from."""
        known = self._lengths.get(load.state.key)
        if known is None:
            known = self._lengths[load.state.key] = len(whole(load.state))
        return known

    def _description(self, load: Load) -> Json:
        known = self._descriptions.get(load.state.key[0])
        if known is None:
            known = self._descriptions[load.state.key[0]] = expect.description(load.state.group)
        configs = load.state.configs
        return {**known, "timers": load.timers, **({"configs": dict(configs)} if configs else {})}


def contradiction(error: ValueError, name: str, index: int) -> ConformError:
    """What contradicts itself, in words, as a ConformError (exit 2) with the trace and the state."""
    return ConformError(f"The trace {name}, state {index}: {error}.")


def _loaded(state: SpecState, forms: Forms) -> tuple[Load, expect.Timers]:
    """A state at time 0, and its timers."""
    timers = expect.Timers.started(state, forms)
    return Load(state, timers.armed(state.group.members), 0, forms), timers


def _configuration(trace: Trace, states: list[SpecState], name: str) -> Json:
    """What the model assumes that a target is configured with, from its constants in #meta, which
    `conform generate` writes: the largest size of a group (H5), if the group reaches it."""
    constants = trace.meta.get("constants", {})
    size = constants.get("MaxGroupSize") if isinstance(constants, dict) else None
    if size is None:
        return wire.DEFAULTS
    if type(size) is not int or size < 1:
        raise ConformError(f"The trace {name}: MaxGroupSize in #meta must be a number from 1, not {size!r}.")
    reached = any(len(state.group.members) >= size for state in states)
    return {wire.MAX_SIZE: size} if reached else wire.DEFAULTS


def _call(before: SpecState, after: SpecState, name: str, index: int) -> Call | None:
    """What a step sends to the target; None if it does not reach it."""
    action = after.step.action
    if action in OTHER_ACTIONS:
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
    handler = HANDLERS.get(action)
    if handler is None:
        raise unknown_action(name, index, action)
    try:
        return handler(before, after)
    except ValueError as error:
        raise contradiction(error, name, index) from None


def _check_log(before: SpecState, after: SpecState, written: Sequence[Json], name: str, index: int) -> None:
    try:
        check_log(before, after, written)
    except ValueError as error:
        raise contradiction(error, name, index) from None


def unknown_action(
    name: str, index: int, action: str, known: Set[str] = frozenset({*HANDLERS, *OTHER_ACTIONS})
) -> ConformError:
    """What is said of a trace with an action that its kind of group does not have."""
    there = ", ".join(sorted(known))
    return ConformError(f"The trace {name}, state {index}: there is no action {action!r}; there are {there}.")
