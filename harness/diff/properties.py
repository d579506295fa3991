"""Verdicts on all properties of a model in one version, not only on the first that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.diff.edits import definitions
from harness.engines.base import Limits, Model, Outcome, Progress, Result, silent
from harness.engines.tlc import Tlc
from harness.engines.tlc_config import read_config
from harness.files import read_text, write_text
from harness.itf import Trace
from harness.modules import dependencies
from harness.report.citations import in_module

DEADLOCK: Final = "no deadlock"
_SECTIONS: Final = ("INVARIANT", "PROPERTY")
_ID: Final = re.compile(r"\b[A-Z]\d{1,2}\b")


@dataclass(frozen=True)
class Verdict:
    """A property that holds, or that fails, with the behaviour that shows it."""

    name: str
    counterexample: Trace | None = None

    @property
    def holds(self) -> bool:
        return self.counterexample is None


@dataclass(frozen=True)
class Judged:
    """The verdicts of one version, in the order of the configuration, and the number of its states."""

    verdicts: tuple[Verdict, ...]
    distinct_states: int | None

    def of(self, name: str) -> Verdict | None:
        """The verdict on a property, if this version's configuration has it."""
        return next((one for one in self.verdicts if one.name == name), None)


def judge(model: Model, *, limits: Limits, log: Path, progress: Progress = silent) -> Judged:
    """Check a model as often as each of its properties needs a verdict of its own."""
    checks = _Checks(model, limits, log, progress)
    left, states = checks.names(), None
    failed: dict[str, Trace] = {}
    deadlock = bool(model.args.get("deadlock", True))
    if "FALSE" in checks.config.names("CHECK_DEADLOCK"):
        deadlock = False
    named = [*([DEADLOCK] if deadlock else []), *left]
    while left or deadlock:
        result = checks.run(left, deadlock)
        if result.outcome is Outcome.HOLDS:
            states = result.distinct_states
            break
        name = DEADLOCK if result.outcome is Outcome.DEADLOCK else result.violated
        if name is None or name not in named:
            failed |= checks.alone(left, deadlock)
            break
        assert result.counterexample is not None
        failed[name] = result.counterexample
        left = [one for one in left if one != name]
        deadlock = deadlock and name != DEADLOCK
    return Judged(tuple(Verdict(name, failed.get(name)) for name in named), states)


def cited(model: Model, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The requirements of each property: those of the comment over it, or else over the operators in it."""
    comments: dict[str, list[str]] = {}
    bodies: dict[str, list[str]] = {}
    for path in dependencies(model.module):
        bodies |= definitions(path)
        for place, words in in_module(path, read_text(path, "The module")):
            comments.setdefault(place.partition(".")[2], []).extend(_ID.findall(words))
    by_name = {}
    for name in names:
        parts = re.findall(r"\w+", " ".join(bodies.get(name, [])))
        ids = comments.get(name) or [
            one for part in parts if part in bodies for one in comments.get(part, [])
        ]
        by_name[name] = tuple(dict.fromkeys(ids))
    return by_name


class _Checks:
    """Runs of TLC on one model, each with some of its properties."""

    def __init__(self, model: Model, limits: Limits, log: Path, progress: Progress) -> None:
        self.config = read_config(model.configuration)
        self._model, self._limits, self._log, self._progress = model, limits, log, progress

    def names(self) -> list[str]:
        return [name for section in _SECTIONS for name in self.config.names(section)]

    def run(self, names: Sequence[str], deadlock: bool) -> Result:
        """Check these properties alone; with one worker, so that counterexamples are the shortest."""
        config = self.config.without((*_SECTIONS, "CHECK_DEADLOCK"))
        for section in _SECTIONS:
            if kept := [name for name in self.config.names(section) if name in names]:
                config = config.having(section, " ".join(kept))
        path = self._model.module.parent / f"ConformJudged{self._model.name}.cfg"
        write_text(path, config.text())
        model = replace(self._model, config=path, args={"deadlock": deadlock})
        return Tlc().check(model, self._log, replace(self._limits, workers=1), self._progress)

    def alone(self, names: Sequence[str], deadlock: bool) -> dict[str, Trace]:
        """The properties that fail when each is checked by itself: TLC does not name the failing one of
        several temporal ones."""
        failed: dict[str, Trace] = {}
        for name in names:
            result = self.run([name], False)
            if result.counterexample is not None:
                failed[name] = result.counterexample
        if deadlock and (trace := self.run([], True).counterexample):
            failed[DEADLOCK] = trace
        return failed
