"""The departure that explains a difference of a replay: the Python coordinator with it answers so, too."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.dialect_name import base_of
from harness.errors import ConformError
from harness.identify.judge import with_changes
from harness.replay.causes import Place, places
from harness.replay.jobs import Files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Failure, Replayed, Replayer
from harness.targets.python import PythonTarget, departures, values_of

MANY = 10**6
"""More differences than a replay finds."""


def explained(
    result: Replayed,
    dialect: str,
    progress: Callable[[str], None] = lambda _: None,
    waives: Callable[[str], bool] = lambda _: False,
) -> dict[Place, str]:
    """The steps that one departure explains, each with that which explains the most of them.

    The traces are of the named dialect on which `dialect` is based; its departures are tried like all others.
    A departure must also fit the steps around: where it would change the same places and the target did not,
    it explains nothing. A step on which the Python coordinator differs without any departure has another
    cause. Among steps that differ alike, only the one with the shortest schedule is tried. `waives` tells
    by its signature if a difference is waived.
    """
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in result.failures:
        key = (failure.action, failure.branch, failure.error, *sorted(places(failure)))
        alike.setdefault(key, []).append(failure)
    first = {key: min(found, key=lambda one: (one.index, one.trace)) for key, found in alike.items()}
    base = base_of(dialect)
    tries = _Tries(result, list(first.values()), base, waives)
    known = {change: tries.explains(change, progress) for change in _changes(base)}
    declared = {f"{name}={value}" for name, value in values_of(dialect).items()}
    best = sorted(known, key=lambda change: (-len(known[change]), change not in declared))
    found: dict[Place, str] = {}
    for key, one in first.items():
        place = one.trace, one.index
        if change := next((change for change in best if place in known[change]), ""):
            found |= {(other.trace, other.index): change for other in alike[key]}
    return found


def _changes(dialect: str) -> list[str]:
    own = values_of(dialect)
    return [
        f"{name}={value}" for name, every in departures().items() for value in every if value != own[name]
    ]


class _Tries:
    """Replays of the traces of `failures` on the Python coordinator, with one departure after another."""

    def __init__(
        self, result: Replayed, failures: Sequence[Failure], dialect: str, waives: Callable[[str], bool]
    ) -> None:
        self._dialect, self._waives, self._files = dialect, waives, Files()
        self._judged = {one.trace: one.judged for one in result.ended_early}
        self._differ = {(one.trace, one.index) for one in result.failures}
        self._last: Place | None = None
        if result.not_judged and result.failures:
            self._last = result.failures[-1].trace, result.failures[-1].index
        without = self._of(dialect, failures)
        self._failures = [one for one in failures if (one.trace, one.index) not in without]

    def explains(self, change: str, progress: Callable[[str], None]) -> set[Place]:
        """The steps after which the Python coordinator, with this change, answers what the target did."""
        name, _, value = change.partition("=")
        progress(f"explaining the differences: {name}")
        return self._of(with_changes(self._dialect, {name: value}), self._failures)

    def _of(self, dialect: str, failures: Sequence[Failure]) -> set[Place]:
        replayer = Replayer(PythonTarget(dialect), MANY, waives=self._waives)
        found: dict[Place, set[str]] = {}
        others: set[str] = set()
        for name in dict.fromkeys(failure.trace for failure in failures):
            trace = self._files.read(Path(name))
            try:
                seen = {one.index: one for one in replayer.outcome(trace).failures}
            except ConformError:  # what the coordinator cannot do explains nothing
                continue
            for one in failures:
                if one.trace == name and one.index in seen and _said(one) <= _said(seen[one.index]):
                    found[name, one.index] = set(places(one))
            others.update(*(places(seen[index]) for index in self._held(trace) if index in seen))
        return {place for place, differing in found.items() if not differing & others}

    def _held(self, trace: DecodedTrace) -> list[int]:
        """The states of a trace after which the target was judged, and was as expected."""
        judged = [step.index for step in trace.steps][: self._judged.get(trace.name)]
        if self._last is not None and self._last[0] == trace.name:
            judged = [index for index in judged if index <= self._last[1]]
        return [index for index in judged if (trace.name, index) not in self._differ]


def _said(failure: Failure) -> set[tuple[str, str]]:
    """Differences after a step: each place, and the value that was there instead."""
    return {(one.path, json.dumps(one.got, sort_keys=True)) for one in failure.differences}
