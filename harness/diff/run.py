"""Two versions of a specification, compared: their texts, their behaviours, their properties."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.diff.behaviours import Behaviours, Space, behaviours
from harness.diff.compare import Comparison, compare
from harness.diff.edits import Edits, edits
from harness.diff.kinds import Group, groups
from harness.diff.properties import Judged, Verdict, cited, judge
from harness.diff.sides import Side
from harness.engines.base import EngineError, Limits, Model, Progress
from harness.engines.tlc import VERSION
from harness.modules import declared_variables
from harness.spechash import spec_hash

T = TypeVar("T")
ONLY_IN_A: Final = "only the first version has it"
IN_BOTH: Final = "fails in both"


@dataclass(frozen=True)
class ComparedModel:
    """A model to compare: its name in each version, and a flag that tells if its behaviours are compared or
    only its properties."""

    a: str
    b: str
    behaviours: bool = True

    @property
    def name(self) -> str:
        return self.a if self.a == self.b else f"{self.a} and {self.b}"


@dataclass(frozen=True)
class Property:
    """A property with its requirements, and its verdict in each version; None where the version's model does
    not have it."""

    name: str
    requirements: tuple[str, ...]
    a: Verdict | None
    b: Verdict | None

    @property
    def title(self) -> str:
        """The name with the requirements."""
        return f"{self.name} ({', '.join(self.requirements)})" if self.requirements else self.name

    @property
    def broken(self) -> bool:
        """Tell if the property fails in the second version, and not in the first."""
        return self.b is not None and not self.b.holds and (self.a is None or self.a.holds)

    @property
    def words(self) -> str:
        """The result in words."""
        if self.b is None:
            return ONLY_IN_A
        if self.a is None:
            return "holds, new" if self.b.holds else "fails, new"
        if self.a.holds:
            return "still holds" if self.b.holds else "no longer holds"
        return "holds now" if self.b.holds else IN_BOTH


@dataclass(frozen=True)
class Compared:
    """One model: `comparison` and `groups` are of its behaviours, if these are compared."""

    wanted: ComparedModel
    bounds: str
    states: tuple[int | None, int | None]
    properties: tuple[Property, ...]
    comparison: Comparison | None
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Diff:
    """The whole result. Without edits no engine ran, and `models` is empty."""

    a: str
    b: str
    edits: Edits
    models: tuple[Compared, ...]
    engine: str = f"TLC {VERSION}"

    @property
    def broken(self) -> list[tuple[str, Property]]:
        """The properties that no longer hold, each with its model."""
        return [
            (one.wanted.name, checked) for one in self.models for checked in one.properties if checked.broken
        ]


def diff(
    a: Side,
    b: Side,
    wanted: Sequence[ComparedModel],
    *,
    without: Sequence[str],
    limits: Limits,
    jobs: int,
    logs: Path,
    progress: Progress,
) -> Diff:
    """Compare two versions by some models, with `jobs` runs of TLC at a time.

    `without` are the fields that are left out of the comparison (see `Space`). ConformError for a model that
    a version does not have or for which TLC has no answer.
    """
    models = [(a.model(one.a), b.model(one.b)) for one in wanted]
    edited = edits(a, b, models)
    if not edited.any:
        return Diff(a.label, b.label, edited, ())
    with ThreadPoolExecutor(jobs) as pool:
        runs = [
            _Runs(pool, (a, b), one, pair, without, limits, logs, _locked(progress))
            for one, pair in zip(wanted, models, strict=True)
        ]
        try:
            compared = tuple(run.result() for run in runs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return Diff(a.label, b.label, edited, compared)


def _locked(progress: Progress) -> Progress:
    """A reporter of progress that several threads may use."""
    lock = threading.Lock()

    def show(line: str) -> None:
        with lock:
            progress(line)

    return show


class _Runs:
    """The runs of one model: its state graph and its properties, in both versions."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        sides: tuple[Side, Side],
        wanted: ComparedModel,
        pair: tuple[Model, Model],
        without: Sequence[str],
        limits: Limits,
        logs: Path,
        progress: Progress,
    ) -> None:
        self._sides, self._asked, self._pair = sides, wanted, pair
        self._graphs: list[Future[Behaviours]] = []
        self._judged: list[Future[Judged]] = []
        one, other = (declared_variables(model.module) for model in pair)
        space = Space(one, other, without) if wanted.behaviours else None
        for letter, side, model in zip("ab", sides, pair, strict=True):
            report = _prefixed(progress, f"{model.name} ({letter.upper()})")
            log = logs.resolve() / f"{model.name}-{letter}"
            if space:
                graph = partial(behaviours, model, space, limits=limits, progress=report)
                self._graphs.append(pool.submit(_run, side, graph, log.with_suffix(".graph.log")))
            check = partial(judge, model, limits=limits, progress=report)
            self._judged.append(pool.submit(_run, side, check, log.with_suffix(".log")))

    def result(self) -> Compared:
        """Wait for all runs."""
        graphs = [run.result() for run in self._graphs]
        judged = [run.result() for run in self._judged]
        comparison = compare(*graphs) if graphs else None
        if comparison:
            comparison.space.check_left_out()
        metas = [_meta(side, model, self._sides) for side, model in zip(self._sides, self._pair, strict=True)]
        return Compared(
            self._asked,
            self._sides[0].bounds(self._asked.a),
            (judged[0].distinct_states, judged[1].distinct_states),
            tuple(_properties(self._pair, *judged)),
            comparison,
            tuple(groups(comparison, *metas)) if comparison else (),
        )


def _run(side: Side, work: Callable[..., T], log: Path) -> T:
    """Do one of the runs; the message of an engine's failure names the version."""
    try:
        return work(log=log)
    except EngineError as error:
        raise EngineError(error.failure, f"{side.label}: {error.message}") from None


def _prefixed(progress: Progress, name: str) -> Progress:
    return lambda line: progress(f"{name}: {line}")


def _properties(pair: tuple[Model, Model], a: Judged, b: Judged) -> Iterable[Property]:
    names = list(dict.fromkeys(verdict.name for judged in (a, b) for verdict in judged.verdicts))
    ids_a, ids_b = (cited(model, names) for model in pair)
    return (Property(name, ids_b[name] or ids_a[name], a.of(name), b.of(name)) for name in names)


def _meta(side: Side, model: Model, sides: tuple[Side, Side]) -> dict[str, Any]:
    return {
        "description": f"An example of what differs between {sides[0].label} and {sides[1].label}",
        "model": model.name,
        "engine": "tlc",
        "version": VERSION,
        "spec_hash": spec_hash(model.module, model.config),
        "constants": side.constants(model),
    }
