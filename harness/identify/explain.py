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
from harness.replay.run import Failure, Replayer
from harness.targets.python import PythonTarget, departures, values_of

MANY = 10**6
"""More differences than a replay finds."""


def explained(
    failures: Sequence[Failure], dialect: str, progress: Callable[[str], None] = lambda _: None
) -> dict[Place, str]:
    """The steps that one departure from a dialect explains, each with that which explains the most of them.

    Of steps that differ alike only that with the shortest schedule is tried. A trace of another dialect is
    judged by the dialect of its name.
    """
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        key = (failure.action, failure.branch, failure.error, *sorted(places(failure)))
        alike.setdefault(key, []).append(failure)
    first = {key: min(found, key=lambda one: (one.index, one.trace)) for key, found in alike.items()}
    tried = list(first.values())
    known = {change: _explains(change, tried, dialect, progress) for change in _changes(dialect)}
    best = sorted(known, key=lambda change: -len(known[change]))
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


def _explains(
    change: str, failures: Sequence[Failure], dialect: str, progress: Callable[[str], None]
) -> set[Place]:
    """The steps after which the Python coordinator, with this change, answers what the target did."""
    name, _, value = change.partition("=")
    progress(f"explaining the differences: {name}")
    own = values_of(dialect)
    changed = {key: one for key, one in own.items() if one != values_of(base_of(dialect))[key]}
    target = PythonTarget(with_changes(base_of(dialect), {**changed, name: value}))
    replayer, found = Replayer(target, MANY), set()
    files = Files()
    for trace in dict.fromkeys(failure.trace for failure in failures):
        try:
            seen = replayer.outcome(files.read(Path(trace))).failures
        except ConformError:  # what the coordinator cannot do explains nothing
            continue
        said = {one.index: _said(one) for one in seen}
        wanted = {one.index: _said(one) for one in failures if one.trace == trace}
        found |= {(trace, index) for index, part in wanted.items() if part <= said.get(index, set())}
    return found


def _said(failure: Failure) -> set[tuple[str, str]]:
    """Differences after a step: each place, and the value that was there instead."""
    return {(one.path, json.dumps(one.got, sort_keys=True)) for one in failure.differences}
