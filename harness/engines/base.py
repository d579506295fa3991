"""The interface of every model checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.itf import Trace
from harness.modules import config_beside


class Outcome(StrEnum):
    """Outcomes of a model checker."""

    HOLDS = "holds"
    VIOLATED = "violated"
    DEADLOCK = "deadlock"


class Failure(StrEnum):
    """The reason why a model checker has no answer. The first four are faults of the specification (exit code
    2), the others of the machine (exit code 3)."""

    PARSE = "parse error"
    TYPE = "type error"
    CONFIGURATION = "configuration error"
    EVALUATION = "evaluation error"
    MISSING = "missing engine"
    MEMORY = "out of memory"
    TIME_OUT = "time-out"
    CRASH = "crash"


_SPECIFICATION = frozenset({Failure.PARSE, Failure.TYPE, Failure.CONFIGURATION, Failure.EVALUATION})


class EngineError(ConformError):
    """A model checker gave no answer: the kind of failure, and the engine's own words."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message, USAGE if failure in _SPECIFICATION else ENGINE_FAILED)
        self.failure = failure


def cut_off(log: Path) -> EngineError:
    """The failure to read a log that does not come from a run to its end."""
    return EngineError(Failure.CRASH, f"{log.name} is not the whole output of a run that gave an answer")


@dataclass(frozen=True)
class Model:
    """A module with its configuration.

    `args` are the engine's (see harness.manifest), `libraries` folders of modules that are not beside it, and
    `brief` tells if a run takes a few seconds.
    """

    name: str
    module: Path
    config: Path | None
    args: Mapping[str, Any] = field(default_factory=dict)
    libraries: tuple[Path, ...] = ()
    brief: bool = False

    @property
    def configuration(self) -> Path:
        """The configuration, which is beside the module where none is named."""
        return self.config or config_beside(self.module)


@dataclass(frozen=True)
class Limits:
    """Resources of a run: `memory` as Java takes it ("2g"), `timeout` in seconds, number of `workers`;
    `brief` is a run of a few seconds, in which Java should not optimise the program. `spare` is the number of
    workers of a run for which no number is given."""

    memory: str = "2g"
    timeout: float | None = None
    workers: int | None = None
    brief: bool = False
    spare: int = 1

    def of(self, model: Model) -> Limits:
        """These limits, for a run of a model."""
        return replace(self, brief=self.brief or model.brief)


Progress = Callable[[str], None]
"""A function that gets lines about the progress of a run."""


def silent(_line: str) -> None:
    """The `Progress` that shows nothing."""


@dataclass(frozen=True)
class Result:
    """The answer of a model checker.

    `violated` is the violated property's name, if the engine gives it. `depth` is TLC's depth of the state
    graph (the initial states are at 1), or the number of steps that Apalache looked ahead. `length` is the
    number of steps of the counterexample, which has one state more. `args` is the command line after the
    program. `seconds` are those of a clock, `processor` those of the engine's processes.
    """

    engine: str
    version: str
    outcome: Outcome
    violated: str | None
    distinct_states: int | None
    generated_states: int | None
    depth: int | None
    counterexample: Trace | None
    seconds: float
    log: Path
    args: tuple[str, ...]
    exit_code: int
    spec_hash: str
    length: int | None = None
    processor: float = 0.0

    def facts(self) -> dict[str, str | int | None]:
        """The facts that a manifest's entry can expect."""
        return {
            "outcome": self.outcome.value,
            "property": self.violated,
            "length": self.length,
            "distinct_states": self.distinct_states,
            "depth": self.depth,
        }


class Engine(Protocol):
    """A model checker as a subprocess.

    `pinned` is the version whose recorded results count, `program` identifies that version (the checksum of
    TLC's jar), `parser` is the module that reads its output.
    """

    name: str
    pinned: str
    program: str
    parser: Path

    def version(self) -> str:
        """The engine's version. EngineError if it is not on this machine."""

    def command(self, model: Model) -> tuple[str, ...]:
        """The part of the command line on which the answer depends: without the number of workers."""

    def check(self, model: Model, log: Path, limits: Limits, progress: Progress = silent) -> Result:
        """Check a model, writing the engine's unedited output to `log`. EngineError if there is no answer."""

    def reread(self, model: Model, lines: list[str], log: Path) -> Result:
        """Read the answer anew from the output of an earlier run. EngineError if the output is not whole."""

    def trimmed(self, lines: list[str]) -> list[str]:
        """The lines of an output that are recorded: all except progress."""
