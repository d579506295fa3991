"""From a trace of a classic group to prepared steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from harness.errors import ConformError
from harness.kinds.classic import expect
from harness.kinds.classic.description import CLASSIC
from harness.kinds.classic.records import whole, written
from harness.kinds.classic.state import ClassicReader, ClassicState, input_of
from harness.kinds.classic.steps import CLASSIC_HANDLERS, CLASSIC_OTHERS
from harness.kinds.classic.wire import DELAY
from harness.kinds.decoding import Decoding, Expected, KindDecoder, KindLoad
from harness.replay import wire
from harness.replay.contents import Contents
from harness.targets.base import Json


class ClassicLoad(KindLoad[ClassicState]):
    """A whole state."""

    def whole(self) -> list[Json]:
        """The group's records."""
        return whole(self.state)

    @property
    def volatile(self) -> Json:
        """The state that records do not hold: nearly all of it, so the group is given as its description."""
        groups = {wire.GROUP: deepcopy(self.description)} if self.state.group.exists else {}
        return {"clockMs": self.now_ms, "classic": groups}

    @property
    def title(self) -> str:
        """The group's state."""
        return self.state.group.state


_Descriptions: TypeAlias = dict[tuple[int, int], Json]
"""By the key of a group and the initial delay."""


def classic_decoder(inputs: Contents) -> KindDecoder[ClassicState]:
    """Decodes traces of classic groups."""
    known: _Descriptions = {}
    return KindDecoder(
        ClassicReader(), lambda meta, name: ClassicDecoding(delay_of(meta, name), known), inputs
    )


class ClassicDecoding(Decoding[ClassicState]):
    """A trace of a classic group."""

    calls = CLASSIC_HANDLERS
    handlers = frozenset(calls)
    others = CLASSIC_OTHERS
    api = "JoinGroup"
    kind = CLASSIC.name

    def __init__(self, delay_ms: int, descriptions: _Descriptions) -> None:
        self._delay_ms = delay_ms
        self._descriptions = descriptions
        self._timers = expect.ClassicTimers(delay_ms)

    def configuration(self, states: Sequence[ClassicState]) -> Json:
        """The defaults, with the initial delay."""
        return {**wire.DEFAULTS, DELAY: self._delay_ms}

    def start(self, state: ClassicState) -> ClassicLoad:
        """At time 0."""
        return self._load(state, self._timers.start(state.group, 0), 0)

    def follow(self, before: ClassicState, after: ClassicState, now_ms: int) -> ClassicLoad:
        """After a step."""
        return self._load(after, self._timers.follow(before.group, after, now_ms), now_ms)

    def _load(self, state: ClassicState, timers: list[Json], now_ms: int) -> ClassicLoad:
        key = state.key[0], self._delay_ms
        if key not in self._descriptions:
            self._descriptions[key] = expect.description(state.group, self._delay_ms)
        return ClassicLoad(state, timers, now_ms, self._descriptions[key])

    def expected(self, before: ClassicState, after: ClassicState, now_ms: int) -> Expected:
        """The response and the events that the trace's step names."""
        spec = after.step
        drawn = spec.action == "JoinGroup" and not spec.request.member and spec.branch != "refused"
        return Expected(
            branch=spec.branch,
            error=spec.response.error,
            given=input_of(before, after),
            body=expect.response(before.group.exists, spec),
            records=written(before, after, now_ms),
            new_id=spec.member if drawn else "",
            completed=expect.completed(spec),
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
