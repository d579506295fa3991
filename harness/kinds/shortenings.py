"""The kinds of groups whose traces can be shortened, by doing parts of them again over a module of the
specification."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from harness.engines.base import Limits
from harness.itf import Trace
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.shortening.behaviours import ConsumerShortening, done_lines
from harness.values import State

Step = TypeVar("Step", bound=Hashable)


class Shortening(Protocol[Step]):
    """A class that does parts of a trace again, over `module` of the specification."""

    module: str

    @property
    def steps(self) -> Mapping[int, Step]:
        """The steps of the trace that call the coordinator, by the index of the state after each."""

    def behaviours(self, parts: Sequence[Sequence[Step]]) -> list[list[State]]:
        """The states of each part's behaviour, the first one included: fewer than steps + 1 where a step is
        not possible. ConformError: exit 2 without a specification, 3 if TLC fails."""

    def trace_of(self, states: Sequence[State], description: str) -> Trace:
        """The behaviour as a trace."""

    def simpler(self, step: Step) -> Iterable[Step]:
        """Simpler steps that may stand in a step's place."""

    def words(self, step: Step) -> str:
        """A step in a message."""


@dataclass(frozen=True)
class Shortened:
    """A kind of group whose traces can be shortened: `shortening` takes a trace, its name, the folder of the
    specification and the limits of TLC, and raises ConformError for a trace that cannot be done again;
    `lines` gives the steps of a trace in words."""

    shortening: Callable[[Trace, str, Path, Limits], Shortening[Any]]
    lines: Callable[[Trace], list[str]]


SHORTENINGS: Final[Mapping[str, Shortened]] = {CONSUMER.name: Shortened(ConsumerShortening, done_lines)}
"""By the name of the kind."""
