"""The coverage matrix: for each requirement the places that cite it, and the numbers of steps and traces that
exercise it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.report.citations import Requirement
from harness.report.results import Results

LETTERS: Final = {
    "E": "epochs",
    "R": "reconciliation",
    "H": "heartbeat",
    "A": "assignment",
    "S": "static members",
    "T": "topics",
    "O": "offsets",
    "K": "members",
    "P": "persistence",
    "D": "administration",
    "C": "classic groups",
    "M": "migration",
    "W": "Connect groups",
    "Q": "share groups",
    "G": "the kit itself",
    "Z": "out of scope",
}
"""Meaning of the letters of requirements; an unknown letter stands for itself."""


@dataclass(frozen=True)
class Exercised:
    """The numbers of steps and of traces of one source that exercise a requirement (0 traces: a graph)."""

    source: str
    steps: int
    traces: int


@dataclass(frozen=True)
class Row:
    """A requirement, the steps and traces that exercise it, and the models that check one of its operators or
    name it."""

    requirement: Requirement
    exercised: Sequence[Exercised]
    models: Sequence[str] = ()

    @property
    def steps(self) -> int:
        """All steps."""
        return sum(one.steps for one in self.exercised)

    @property
    def traces(self) -> int:
        """All traces."""
        return sum(one.traces for one in self.exercised)

    @property
    def tested(self) -> bool:
        """Tell if any step exercises the requirement: a judged one, or one of the trace that the table
        names."""
        return bool(self.steps or self.requirement.trace)


def matrix(results: Results) -> list[Row]:
    """A row for each requirement, in their order."""
    return [Row(one, _exercised(one.name, results), _models(one, results)) for one in results.requirements]


def letters(rows: Sequence[Row]) -> Mapping[str, str]:
    """The letters in use, with their meanings."""
    there = dict.fromkeys(row.requirement.letter for row in rows)
    return {letter: LETTERS.get(letter, letter) for letter in there}


def _models(one: Requirement, results: Results) -> list[str]:
    operators = {place.rpartition(".")[2] for place in one.spec}
    about = {model.name for model in results.models if one.name in re.findall(r"\w+", model.purpose)}
    return [name for name, checks in results.checks.items() if operators & checks or name in about]


def _exercised(name: str, results: Results) -> list[Exercised]:
    rows = []
    for replay in results.replays:
        counts = replay.coverage.requirements.get(name)
        if counts:
            rows.append(Exercised(f"traces {replay.source}", counts.steps, counts.traces))
    for exhaust in results.exhausts:
        if steps := exhaust.exercised.get(name):
            rows.append(Exercised(f"every step of {exhaust.model}", steps, 0))
    return rows
