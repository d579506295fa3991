"""The mix of departures that explains most of a target's answers to the probes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from harness.dialect_name import base_of
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.identify.probes import Probe, ProbedTarget, differ
from harness.replay.view import View
from harness.targets.base import Answer, Capabilities, Json, Target
from harness.targets.python import PythonTarget, departures, named_dialects, spoken, values_of

HISTORY = "records.assignmentEpochs"
"""A field that only some dialects record: commits decide about PartitionEpochs in its place."""


@dataclass
class Identified:
    """The dialect that fits best, by the name that --dialect takes.

    `as_well` are other names of the same departures. The tried probes cannot distinguish the dialect from
    those in `not_told_apart`, of which it is the newest. `inconsistent` has departures of which some probes
    fit only one value, others only another: departure -> values. `unknown` counts the probes of a departure
    that fit none of its values. `undecided` are departures whose values no probe distinguishes. `left_out`
    counts the probes that were not tried, by the operation or feature that the target lacks.
    """

    target: str
    dialect: str
    base: str
    changes: dict[str, str]
    probes: int
    as_well: list[str] = field(default_factory=list)
    not_told_apart: list[str] = field(default_factory=list)
    inconsistent: dict[str, list[str]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    undecided: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> Json:
        """The fields for `--json`. `asdict` of Python 3.11 makes pairs the keys of a Counter."""
        return vars(self).copy()


def identify(
    target: Target, probes: Sequence[Probe], progress: Callable[[str], None] = lambda _: None
) -> Identified:
    """Give a target every probe that it can take, and find the dialect with its answers.

    ConformError: exit 2 if it can take no probe, 3 if it fails, 11 if no probe fits any dialect.
    """
    known = target.hello()
    left_out = Counter(lacking for probe in probes if (lacking := probe.lacks(known)))
    tried = [probe for probe in probes if not probe.lacks(known)]
    if not tried:
        reasons = ", ".join(left_out)
        raise ConformError(f"The target {target.name} can be given no probe: it lacks {reasons}.", USAGE)
    judge = _Judge(target, known, tried, progress)
    start = min(named_dialects(), key=lambda name: judge.loss(name, tried))
    mix = judge.improved(start)
    values = values_of(mix)
    names = sorted(named_dialects(), key=lambda name: len(_changes(values, name)))
    first = next(name for name in names if len(_changes(values, name)) == len(_changes(values, names[0])))
    alike = judge.alike(mix, _changes(values, first))
    base = next(name for name in alike if values_of(name) == values_of(alike[-1]))
    changes = _left(_changes(values, first), base)
    result = Identified(
        target.name, with_changes(base, changes), base, changes, len(tried), left_out=left_out
    )
    same = [name for name in alike if values_of(name) == values_of(base)]
    result.as_well = [name for name in same if name != base]
    result.not_told_apart = [name for name in alike if name not in same]
    judge.describe(result)
    if result.unknown.total() == result.probes:
        raise ConformError(
            f"The target {target.name} speaks no dialect: none of {result.probes} probes is answered as any "
            "value of its departure has it. conform doctor says which operations are wrong.",
            NOT_CONFORMANT,
        )
    return result


def with_changes(base: str, changes: Mapping[str, str]) -> str:
    """The name of a dialect with departures."""
    return spoken(",".join([base, *(f"{name}={value}" for name, value in changes.items())]))


def _changes(values: Mapping[str, str], base: str) -> dict[str, str]:
    own = values_of(base)
    return {name: value for name, value in values.items() if value != own[name]}


def _left(changes: Mapping[str, str], base: str) -> dict[str, str]:
    """The changes that a named dialect does not have by itself."""
    own = values_of(base)
    return {name: value for name, value in changes.items() if value != own[name]}


class _Judge:
    """The answers of a target to the probes, beside those of the Python coordinator in any dialect."""

    def __init__(
        self, target: Target, known: Capabilities, probes: Sequence[Probe], progress: Callable[[str], None]
    ) -> None:
        unobserved = known.unobserved | {HISTORY}
        self._progress = progress
        self._view = View(Capabilities(target.name, "", {}, known.controls, unobserved))
        self._configures = "configure" in known.controls
        probed = ProbedTarget(target, known, self._view, self._configures)
        self._probes = probes
        self._seen: dict[int, list[Answer | str]] = {}
        for probe in probes:
            self._seen[probe.number] = probed.answers(probe)
            progress(f"{len(self._seen)} of {len(probes)} probes")
        self._distance = cache(self._computed_distance)
        self._python = cache(
            lambda dialect: ProbedTarget(PythonTarget(dialect), known, self._view, self._configures)
        )

    def distance(self, dialect: str, probe: Probe) -> int:
        """The number of operations of a probe after which the target differs from that dialect."""
        return self._distance(dialect, probe.number)

    def _computed_distance(self, dialect: str, number: int) -> int:
        probe = next(one for one in self._probes if one.number == number)
        answers = self._python(dialect).answers(probe)
        return sum(differ(one, other) for one, other in zip(answers, self._seen[number], strict=True))

    def loss(self, dialect: str, probes: Iterable[Probe]) -> tuple[int, int]:
        """The number of probes that differ, and the number of operations after which they do."""
        distances = [self.distance(dialect, probe) for probe in probes]
        return sum(map(bool, distances)), sum(distances)

    def improved(self, dialect: str) -> str:
        """The dialect after the best changes, one departure at a time, while a change makes it fit all probes
        better. A change is tried first on the probes that differ and on its own probes."""
        while True:
            loss = self.loss(dialect, self._probes)
            self._progress(f"{len(self._probes) - loss[0]} of {len(self._probes)} probes fit {dialect}")
            gains = self._gains(dialect)
            fitting = (other for other in gains if self.loss(other, self._probes) < loss)
            better = next(fitting, None)
            if better is None:
                return dialect
            dialect = better

    def _gains(self, dialect: str) -> list[str]:
        """The dialect with one other value of a departure, where that fits its probes better, the best
        first."""
        values = values_of(dialect)
        wrong = {probe.number for probe in self._probes if self.distance(dialect, probe)}
        gains: list[tuple[tuple[int, int], str]] = []
        for name, value in ((name, value) for name, every in departures().items() for value in every):
            if not wrong or value == values[name]:
                continue
            other = self._with(dialect, name, value)
            concerned = [one for one in self._probes if one.number in wrong or one.departure == name]
            before, after = self.loss(dialect, concerned), self.loss(other, concerned)
            if (gain := (before[0] - after[0], before[1] - after[1])) > (0, 0):
                gains.append((gain, other))
        return [other for _, other in sorted(gains, key=lambda one: one[0], reverse=True)]

    def alike(self, mix: str, changes: Mapping[str, str]) -> list[str]:
        """The named dialects that explain as much as a mix does, each with these changes; at least one."""
        loss = self.loss(mix, self._probes)
        named = {name: with_changes(name, _left(changes, name)) for name in named_dialects()}
        return [name for name, other in named.items() if self.loss(other, self._probes) == loss]

    def _with(self, dialect: str, name: str, value: str) -> str:
        """The dialect with another value; its base stays, as some rules depend on the name alone."""
        base = base_of(dialect)
        return with_changes(base, _changes({**values_of(dialect), name: value}, base))

    def describe(self, result: Identified) -> None:
        """Add the undecided departures, the inconsistent ones, and those that fit no value."""
        values = values_of(result.dialect)
        for name, every in departures().items():
            fits: set[str] = set()
            decided = False
            for probe in (one for one in self._probes if one.departure == name):
                distances = {
                    value: self.distance(self._with(result.dialect, name, value), probe) for value in every
                }
                fitting = [value for value in every if not distances[value]]
                decided |= len(fitting) < len(every) and bool(fitting)
                if not fitting:
                    result.unknown[name] += 1
                elif values[name] not in fitting:
                    fits.update(fitting)
            if fits:
                result.inconsistent[name] = [values[name], *sorted(fits)]
            elif not decided:
                result.undecided.append(name)
