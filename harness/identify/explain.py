"""The departure that explains a difference of a replay: the Python coordinator with this departure gives the
same answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from harness.dialect_name import base_of
from harness.errors import ConformError
from harness.identify.judge import with_changes
from harness.identify.unmodelled import RULES, without_constant
from harness.replay.causes import Cause, Place, causes, places
from harness.replay.dialects import TEXT
from harness.replay.jobs import Files
from harness.replay.prepared import DecodedTrace, Step
from harness.replay.run import Failure, Replayed, Replayer
from harness.targets.python import PythonTarget, departures, values_of

MANY: Final = 10**6
"""A number larger than the differences of any replay."""
SEVERAL: Final = "several departures"
"""The cause where a dialect as a whole explains a difference that none of its departures explains alone."""


def grouped(
    result: Replayed,
    dialect: str,
    progress: Callable[[str], None] = lambda _: None,
    waives: Callable[[str], bool] = lambda _: False,
) -> list[Cause]:
    """The causes of the differences on a target that speaks `dialect`, by departures and by roots."""
    return causes(result.failures, explained(result, dialect, progress, waives), declared(dialect))


def declared(dialect: str) -> frozenset[str]:
    """The departures of a dialect, by their names in `explained`."""
    own = values_of(dialect)
    text = base_of(dialect) == TEXT.name
    return frozenset([SEVERAL, *(f"{name}={value}" for name, value in own.items()), *(() if text else RULES)])


def explained(
    result: Replayed,
    dialect: str,
    progress: Callable[[str], None] = lambda _: None,
    waives: Callable[[str], bool] = lambda _: False,
) -> dict[Place, str]:
    """The steps that one departure explains, each with the departure that explains the most of them.

    A trace is of the dialect that its model names, and the departures from that dialect are tried. Those of
    the target's `dialect` come first, then all of these together; only a step that they leave unexplained has
    another departure. A departure must also fit the steps around: where it would change the same places and
    the target did not, it explains nothing. A step on which the Python coordinator differs without any
    departure has another cause. Among steps with equal differences, only the one with the shortest schedule
    is tried. `waives` tells by its signature if a difference is waived.
    """
    files = _Read()
    changes: dict[Place, str] = {}
    of: dict[str, list[Failure]] = {}
    for failure in result.failures:
        step = files.step(failure)
        if step is not None and (name := without_constant(failure, step)):
            changes[failure.trace, failure.index] = name
        else:
            of.setdefault(files.read(failure.trace).start.forms.name, []).append(failure)
    for base, failures in of.items():
        changes |= _explained(result, failures, base, dialect, files, progress, waives)
    return changes


def _explained(
    result: Replayed,
    failures: Sequence[Failure],
    base: str,
    dialect: str,
    files: _Read,
    progress: Callable[[str], None],
    waives: Callable[[str], bool],
) -> dict[Place, str]:
    """Explanations of failures on traces of one dialect, the `base`."""
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        key = (failure.action, failure.branch, failure.error, *sorted(places(failure)))
        alike.setdefault(key, []).append(failure)
    first = {key: min(changes, key=lambda one: (one.index, one.trace)) for key, changes in alike.items()}
    tries = _Tries(result, list(first.values()), base, files, waives)
    known = {change: tries.explains(change, progress) for change in _changes(base)}
    if values_of(dialect) != values_of(base):
        known[SEVERAL] = tries.explains_as(dialect, progress)
    own = declared(dialect)
    best = sorted(known, key=lambda name: (name not in own, name == SEVERAL, -len(known[name])))
    changes: dict[Place, str] = {}
    for key, one in first.items():
        place = one.trace, one.index
        if change := next((change for change in best if place in known[change]), ""):
            changes |= {(other.trace, other.index): change for other in alike[key]}
    return changes


def _changes(dialect: str) -> list[str]:
    own = values_of(dialect)
    return [
        f"{name}={value}" for name, every in departures().items() for value in every if value != own[name]
    ]


class _Read:
    """Traces by their names, each read once."""

    def __init__(self) -> None:
        self._files = Files()
        self._known: dict[str, DecodedTrace] = {}

    def read(self, name: str) -> DecodedTrace:
        """A trace."""
        if name not in self._known:
            self._known[name] = self._files.read(Path(name))
        return self._known[name]

    def step(self, failure: Failure) -> Step | None:
        """The step after which a target differed; None for a step of a client, or a load."""
        steps = self.read(failure.trace).steps
        return next(
            (one for one in steps if (one.index, one.action) == (failure.index, failure.action)), None
        )


class _Tries:
    """Replays of the traces of `failures` on the Python coordinator, with one departure after another."""

    def __init__(
        self,
        result: Replayed,
        failures: Sequence[Failure],
        dialect: str,
        files: _Read,
        waives: Callable[[str], bool],
    ) -> None:
        self._dialect, self._waives, self._files = dialect, waives, files
        self._judged = {one.trace: one.judged for one in result.ended_early}
        self._differ = {(one.trace, one.index) for one in result.failures}
        self._last: Place | None = None
        if result.not_judged and result.failures:
            self._last = result.failures[-1].trace, result.failures[-1].index
        without = self._of(dialect, failures)
        self._failures = [one for one in failures if (one.trace, one.index) not in without]

    def explains(self, change: str, progress: Callable[[str], None]) -> set[Place]:
        """The steps after which the Python coordinator, with this change, gives the target's answer."""
        name, _, value = change.partition("=")
        progress(f"explaining the differences: {name}")
        return self._of(with_changes(self._dialect, {name: value}), self._failures)

    def explains_as(self, dialect: str, progress: Callable[[str], None]) -> set[Place]:
        """The places at which the Python coordinator in a dialect differs in the same way."""
        progress(f"explaining the differences: {dialect}")
        return self._of(dialect, self._failures)

    def _of(self, dialect: str, failures: Sequence[Failure]) -> set[Place]:
        replayer = Replayer(PythonTarget(dialect), MANY, waives=self._waives)
        possible: dict[Place, set[str]] = {}
        others: set[str] = set()
        for name in dict.fromkeys(failure.trace for failure in failures):
            trace = self._files.read(name)
            try:
                seen = {one.index: one for one in replayer.outcome(trace).failures}
            except ConformError:  # an operation that the coordinator lacks explains nothing
                continue
            for one in failures:
                if (
                    one.trace == name
                    and one.index in seen
                    and _observed_values(one) <= _observed_values(seen[one.index])
                ):
                    possible[name, one.index] = set(places(one))
            others.update(*(places(seen[index]) for index in self._held(trace) if index in seen))
        return {place for place, differing in possible.items() if not differing & others}

    def _held(self, trace: DecodedTrace) -> list[int]:
        """The states of a trace after which the target was judged without a difference."""
        judged = [step.index for step in trace.steps][: self._judged.get(trace.name)]
        if self._last is not None and self._last[0] == trace.name:
            judged = [index for index in judged if index <= self._last[1]]
        return [index for index in judged if (trace.name, index) not in self._differ]


def _observed_values(failure: Failure) -> set[tuple[str, str]]:
    """Differences after a step: each place, and the observed value."""
    return {(one.path, json.dumps(one.got, sort_keys=True)) for one in failure.differences}
