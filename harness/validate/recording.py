"""The part of validation in which kinds of groups differ, beside reading their logs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from frozendict import frozendict

from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.kinds.rows import Seen
from harness.replay.compare import Difference
from harness.targets.base import Json
from harness.values import State


class AnyLine(Protocol):
    """One step of a run: `number` is that of the line in the log, `content` is the line, `does` the action of
    an event, or the name for a request."""

    @property
    def number(self) -> int: ...
    @property
    def content(self) -> Json: ...
    @property
    def does(self) -> str: ...
    @property
    def observed(self) -> bool:
        """Tell if the line has any answer or observation."""


class Observed:
    """Base of lines that have a response and a group, where they were seen."""

    __slots__ = ()
    response: Any
    seen: Any

    @property
    def observed(self) -> bool:
        """Tell if there is anything to compare."""
        return self.response is not None or self.seen is not None


class AnyRun(Protocol):
    """The steps from a new coordinator to the next one, or to an operation that the specification does not
    have: a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def lines(self) -> list[Any]: ...
    @property
    def constant(self) -> tuple[Any, ...]:
        """The constants, which runs of one module share."""


class AnyStep(Protocol):
    """The fields that steps of every kind have."""

    @property
    def action(self) -> str: ...
    @property
    def branch(self) -> str: ...
    @property
    def member(self) -> str: ...
    @property
    def topic(self) -> str: ...


class AnyState(Protocol):
    """A state with the step that made it."""

    @property
    def step(self) -> AnyStep: ...


R = TypeVar("R", bound=AnyRun)
S = TypeVar("S", bound=AnyState)


class Recording(ABC, Generic[R, S]):
    """The validation of a kind; `module` is the one over which a log is rendered."""

    module: ClassVar[str]

    def check(self, run: R) -> None:
        """ConformError (exit 2) at once for an error that the engine would report after a minute. By default
        there is none: no model chooses."""
        return

    @abstractmethod
    def render(self, runs: Sequence[R], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Write the modules and their configuration into a folder. The runs have one constant."""

    def failed(self, log: str) -> ConformError | None:
        """The meaning of the engine's log where it failed; None where the log is clear itself."""
        return None

    @abstractmethod
    def states(self, dumped: Sequence[State]) -> list[S]:
        """Some states of a dump."""

    @abstractmethod
    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """Tell if a step is the line, without its observations: if not, the step was another enabled one."""

    @abstractmethod
    def differences(self, run: R, line: AnyLine, state: S) -> Iterator[Difference]:
        """Places where a step of the specification differs from the record, in the specification's terms."""

    def constants(self, run: R) -> Json:
        """Constants of its model that a replay of the run's behaviour needs, beside the dialect."""
        return {}

    def explained(self, run: R, fits: int) -> R | None:
        """The run, with all reported facts about the line after the first `fits`. None where the first
        exploration left nothing out."""
        return None

    def unseen(self, run: R, fits: int) -> R | None:
        """The run as far as it fits, and the next line without its observations, to show the possible steps.
        None where that is too much, and by default, as every line has a step."""
        return None


@dataclass(slots=True)
class Recorded(Generic[R]):
    """A log of one group; `left_out` counts the lines that were not judged, by reason."""

    path: Path
    group: str
    dialect: str
    kind: Recording[R, Any]
    runs: list[R] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def lines(self) -> int:
        """Number of steps to judge."""
        return sum(len(run.lines) for run in self.runs)

    def check(self) -> None:
        """ConformError (exit 2) if there is nothing to judge."""
        if any(line.observed for run in self.runs for line in run.lines):
            return
        why = ", ".join(f"{reason}: {count}" for reason, count in self.left_out.items() if count)
        raise ConformError(
            f"{self.path} has no step of a group that was answered or observed"
            f"{f' (left out: {why})' if why else ''}: there is nothing to validate. What "
            "is left out is compared by conform replay and conform exhaust.",
            USAGE,
        )


OWN: Final = ("run", "at", "due", "beyond", "kafkaTold")
"""The variables of spec/Recorded*.tla that are not the open instance's."""


def trace_of(states: Sequence[State], constants: Json | None = None) -> Trace:
    """Some states of a dump, in the open instance's form, with those constants in #meta."""
    variables = tuple(name for name in states[0] if name not in OWN)
    return Trace(
        {"description": "A recorded run", **({"constants": constants} if constants else {})},
        variables,
        [frozendict({name: state[name] for name in variables}) for state in states],
    )


def differ(path: str, expected: object, got: object) -> Iterator[Difference]:
    """One difference, if there is one."""
    if expected != got:
        yield Difference(path, _shown(expected), _shown(got))


def shown_differ(who: str, expected: object, seen: Seen) -> Iterator[Difference]:
    """The differences in a record's fields that a target has shown."""
    for name, got in seen.items():
        yield from differ(f"{who}.{name}", getattr(expected, name), got)


def _shown(value: object) -> str:
    """Partitions as foo-0, sets sorted."""
    if value is None:
        return "(none)"
    if isinstance(value, frozenset | list | tuple):
        return "{" + ", ".join(_items(value)) + "}"
    return str(value)


def _items(values: Iterable[Any]) -> Iterator[str]:
    for value in sorted(values):
        yield f"{value[0]}-{value[1]}" if isinstance(value, tuple) else str(value)
