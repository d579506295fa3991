"""Steps that the second of two versions forbids, adds, or answers otherwise.

The comparison covers the states that both versions reach within their bounds, input by input. An input is
*changed* if each version has an outcome of it that the other has not. Outcomes that only the first version
has are *forbidden* by the second; outcomes that only the second has are *added*: all outcomes of an input, or
some where an input has several. Steps from states that only one version reaches are consequences of these,
and counted apart.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from harness.diff.behaviours import Behaviours, Number, Outcome, Space, Step


class Kind(StrEnum):
    """The ways in which the outcome of an input can differ."""

    SAME = "same"
    CHANGED = "changed"
    FORBIDDEN = "forbidden"
    ADDED = "added"


Way: TypeAlias = tuple[tuple[Number, Number | None], ...]
"""States from an initial one, each with the value of `step` that led to it."""


@dataclass(frozen=True, slots=True)
class Different:
    """An input in a state, and the steps that only one version has."""

    source: Number
    input: Number
    a: tuple[Step, ...]
    b: tuple[Step, ...]

    @property
    def kind(self) -> Kind:
        if self.a and self.b:
            return Kind.CHANGED
        return Kind.FORBIDDEN if self.a else Kind.ADDED if self.b else Kind.SAME


@dataclass
class Comparison:
    """Two versions of a model, compared.

    `both` are the states that both reach (their compared part), with those of each version. `counts` are
    their inputs by action and kind, `different` those that are not the same. `initial_a` is the number of
    initial states that only the first version has.
    """

    a: Behaviours
    b: Behaviours
    both: dict[Number, tuple[list[Number], list[Number]]]
    only_a: list[Number]
    only_b: list[Number]
    initial_a: int
    initial_b: int
    counts: dict[str, Counter[Kind]] = field(default_factory=dict)
    different: list[Different] = field(default_factory=list)

    @property
    def space(self) -> Space:
        return self.a.space

    @property
    def same(self) -> bool:
        """Tell if both have the same behaviours within the bounds."""
        return not (self.different or self.only_a or self.only_b or self.initial_a or self.initial_b)


def compare(a: Behaviours, b: Behaviours) -> Comparison:
    """Compare two versions that were read into the same space."""
    states_a, states_b = _by_compared(a), _by_compared(b)
    both = {state: (states_a[state], states_b[state]) for state in states_a if state in states_b}
    first_a = {a.space.compared(state) for state in a.initial}
    first_b = {b.space.compared(state) for state in b.initial}
    comparison = Comparison(
        a,
        b,
        both,
        [one for state, own in states_a.items() if state not in both for one in own],
        [one for state, own in states_b.items() if state not in both for one in own],
        len(first_a - first_b),
        len(first_b - first_a),
    )
    for source, (own_a, own_b) in both.items():
        steps_a, steps_b = _steps(a, own_a), _steps(b, own_b)
        inputs = dict.fromkeys([*steps_a, *steps_b])
        for one in inputs:
            outcomes_a, outcomes_b = steps_a.get(one, {}), steps_b.get(one, {})
            more_a = tuple(step for outcome, step in outcomes_a.items() if outcome not in outcomes_b)
            more_b = tuple(step for outcome, step in outcomes_b.items() if outcome not in outcomes_a)
            different = Different(source, one, more_a, more_b)
            if more_a or more_b:
                comparison.different.append(different)
            step = next(iter((outcomes_a or outcomes_b).values()))
            comparison.counts.setdefault(a.space.action(step.label), Counter())[different.kind] += 1
    return comparison


def _by_compared(behaviours: Behaviours) -> dict[Number, list[Number]]:
    states: dict[Number, list[Number]] = {}
    for state in behaviours.steps:
        states.setdefault(behaviours.space.compared(state), []).append(state)
    return states


def _steps(behaviours: Behaviours, states: list[Number]) -> dict[Number, dict[Outcome, Step]]:
    """The steps from states with the same compared part, by input and outcome."""
    steps: dict[Number, dict[Outcome, Step]] = {}
    for state in states:
        for one, own in behaviours.steps[state].items():
            outcomes = steps.setdefault(one, {})
            for step in own:
                outcomes.setdefault(step.outcome, step)
    return steps


class Ways:
    """Shortest ways to states, by steps that both versions have where there is such a way."""

    def __init__(self, comparison: Comparison) -> None:
        self._space = comparison.space
        self._a = _search([(state,) for state in comparison.a.initial], lambda at: _moves(comparison.a, at))
        self._b = _search([(state,) for state in comparison.b.initial], lambda at: _moves(comparison.b, at))
        firsts: list[_Place] = [
            (one, other)
            for one in comparison.a.initial
            for other in comparison.b.initial
            if comparison.space.compared(one) == comparison.space.compared(other)
        ]
        self._both = _search(firsts, lambda at: _common_moves(comparison, at))
        self._common: dict[Number, tuple[Number, ...]] = {}
        for place in self._both:
            self._common.setdefault(comparison.space.compared(place[0]), place)
        self._nearest_a = self._nearest(self._a)
        self._nearest_b = self._nearest(self._b)

    def common(self, state: Number) -> bool:
        """Tell if common steps of both versions lead to a state (its compared part)."""
        return state in self._common

    def length(self, state: Number) -> int:
        """Number of steps on the way to `to`."""
        return len(self.to(state)[0]) - 1

    def to(self, state: Number) -> tuple[Way, Way]:
        """The ways in the first and in the second version; the same way if both have it."""
        if place := self._common.get(state):
            way = _back(self._both, place)
            return (
                tuple((at[0], steps[0] if steps else None) for at, steps in way),
                tuple((at[-1], steps[-1] if steps else None) for at, steps in way),
            )
        return self._own(self._a, self._nearest_a, state), self._own(self._b, self._nearest_b, state)

    def _nearest(self, search: _ReachedFrom) -> dict[Number, _Place]:
        nearest: dict[Number, _Place] = {}
        for place in search:
            nearest.setdefault(self._space.compared(place[0]), place)
        return nearest

    @staticmethod
    def _own(search: _ReachedFrom, nearest: dict[Number, _Place], state: Number) -> Way:
        return tuple((at[0], steps[0] if steps else None) for at, steps in _back(search, nearest[state]))


_Place: TypeAlias = tuple[Number, ...]
"""A state of one version, or of both."""
_Observed: TypeAlias = tuple[Number, ...]
"""The value of `step` in one version, or in both."""
_ReachedFrom: TypeAlias = dict[_Place, tuple[_Place, _Observed] | None]
"""Every reached place, nearest first, with its predecessor and the step from there."""


def _search(
    firsts: list[_Place], moves: Callable[[_Place], Iterator[tuple[_Observed, _Place]]]
) -> _ReachedFrom:
    reached: _ReachedFrom = dict.fromkeys(firsts)
    queue = deque(reached)
    while queue:
        at = queue.popleft()
        for steps, to in moves(at):
            if to not in reached:
                reached[to] = at, steps
                queue.append(to)
    return reached


def _moves(behaviours: Behaviours, at: _Place) -> Iterator[tuple[_Observed, _Place]]:
    for steps in behaviours.steps[at[0]].values():
        for step in steps:
            if step.after in behaviours.steps:
                yield (step.label,), (step.after,)


def _common_moves(comparison: Comparison, at: _Place) -> Iterator[tuple[_Observed, _Place]]:
    """Steps of the same input and outcome in both versions."""
    other = comparison.b.steps[at[1]]
    for one, steps in comparison.a.steps[at[0]].items():
        outcomes = {step.outcome: step for step in other.get(one, ())}
        for step in steps:
            mate = outcomes.get(step.outcome)
            if mate and step.after in comparison.a.steps and mate.after in comparison.b.steps:
                yield (step.label, mate.label), (step.after, mate.after)


def _back(reached: _ReachedFrom, place: _Place) -> list[tuple[_Place, _Observed | None]]:
    way: list[tuple[_Place, _Observed | None]] = []
    came = reached[place]
    while came:
        way.append((place, came[1]))
        place = came[0]
        came = reached[place]
    return [(place, None), *reversed(way)]
