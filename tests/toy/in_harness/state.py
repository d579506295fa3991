"""The states of the toy protocol as typed records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.kinds.toy.description import TOY

from harness.itf import Trace
from harness.kinds.fields import Fields, counts_in, read_states
from harness.kinds.rows import record_of
from harness.replay.contents import Contents
from harness.values import Value


@dataclass(frozen=True, slots=True)
class ToyGroup:
    """The group; `members` has only those that are in it, with their epochs."""

    epoch: int
    members: Mapping[str, int]

    @property
    def title(self) -> str:
        """The group's state."""
        return "Stable" if self.members else "Empty" if self.epoch else "Dead"


@dataclass(frozen=True, slots=True)
class ToyStep:
    """The variable `step`."""

    action: str
    branch: str
    member: str
    topic: str
    epoch: int
    error: str
    answer: int


@dataclass(frozen=True, slots=True)
class ToyState:
    """One state; equal keys are equal groups."""

    group: ToyGroup
    step: ToyStep
    key: tuple[int, int, int]

    @property
    def topics(self) -> Mapping[str, int]:
        """None: nothing is assigned."""
        return {}

    @property
    def configs(self) -> Mapping[str, int]:
        """None."""
        return {}


class ToyReader:
    """Reads the states of traces."""

    def __init__(self) -> None:
        self._numbers = Contents()

    def read(self, trace: Trace, name: str) -> list[ToyState]:
        """The state. ConformError (exit 2) for a trace of another specification."""
        TOY.check(trace, name)
        return read_states(trace.states, name, self._state)

    def _state(self, state: Mapping[str, Value]) -> ToyState:
        raw: Any = state["toy"]
        fields = Fields(raw, "toy")
        members = counts_in(fields.function("members"), "toy.members")
        there = {name: epoch for name, epoch in sorted(members.items()) if epoch}
        step = record_of(ToyStep).read(Fields(state["step"], "step"))
        return ToyState(ToyGroup(fields.get("epoch", int), there), step, (self._numbers[raw], 0, 0))
