"""A trace ready to be replayed: the requests and the expected answers, computed once and never changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from harness.replay.calls import Call, ChangeTopics
from harness.replay.dialects import Forms
from harness.replay.members import MemberStep
from harness.targets.base import Answer, Assignments, Json


class Loadable(Protocol):
    """A whole state, of any kind of group, with its armed timers: the argument of the operation `load`."""

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

    `index` is that of the state after it; equal `key`s are the same input in the same state. Before the call,
    the clock moves by `tick_ms`, `lost` happens to a coordinator that fails before it has recorded it (P2),
    `new_id` (or "") becomes the id of the member that joins without one (H1), and `script`, if a target is
    installed, the next target assignment. `expected` is the whole answer; its records have the offsets of a
    log that began with the trace and had `start` records before the step. `load` makes the state after it.
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
        """The number of records in the log after the step."""
        return self.start + len(self.expected.records)

    @property
    def there(self) -> frozenset[str]:
        """The ids of the topics that exist after the step."""
        return self.load.there

    def needs(self) -> frozenset[str]:
        """The API, the features, or the operations, without which the step cannot be replayed at all."""
        return self.call.needs() | {"ids"} if self.new_id else self.call.needs()


@dataclass(slots=True)
class DecodedTrace:
    """A trace ready to be replayed: the state at its start with its description, its target-calling steps and
    the counts of its other actions; the configuration that its model assumes, the APIs and operations that
    its steps need; the steps of its client processes; the actions that traces of its kind may have; the API
    without which a target has no groups of that kind, "" for consumer groups; and the name of the kind."""

    name: str
    configuration: Json
    start: Loadable
    initial: Json
    steps: list[Step]
    other_actions: Counter[str]
    needs: set[str]
    members: list[MemberStep]
    handlers: frozenset[str]
    api: str
    kind: str

    @property
    def length(self) -> int:
        """The number of all steps, also of those that do not call the target."""
        return len(self.steps) + self.other_actions.total()
