"""Differences of the same kind together: their number, the requirements that they touch, the shortest
example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from frozendict import frozendict

from harness.diff.behaviours import Behaviours, Step, parted
from harness.diff.compare import Comparison, Different, Kind, Way, Ways
from harness.diff.words import answer_of, aspect, changes, effects, input_of, membership, way_of
from harness.itf import Trace
from harness.requirements import requirements
from harness.values import State

ORDER: Final = (Kind.CHANGED, Kind.FORBIDDEN, Kind.ADDED)

Signature: TypeAlias = tuple[Kind, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Kind, action, ways through the text in each version, and the field `Group.about`."""


@dataclass(frozen=True)
class Came:
    """The outcome of an input: the answer, and the changes of the step, each with a flag for the other
    version (`answered` for the answer). `trace` ends with this step."""

    answer: str
    answered: bool
    effects: tuple[tuple[str, bool], ...]
    trace: Trace

    def words(self) -> str:
        """The outcome in one line."""
        effects = "; ".join(text for text, _ in self.effects)
        return f"{self.answer}: {effects}" if self.answer else effects


@dataclass(frozen=True)
class Example:
    """The shortest way to a difference, and the outcome of the input there in each version.

    `way` belongs to the first version where `ways_differ`; it is empty where the initial state is the source.
    """

    way: tuple[str, ...]
    way_b: tuple[str, ...]
    input: str
    a: tuple[Came, ...]
    b: tuple[Came, ...]

    @property
    def ways_differ(self) -> bool:
        """Tell if no way of common steps leads there."""
        return self.way != self.way_b


@dataclass(frozen=True)
class Group:
    """All differences of one kind: `count` inputs, in `states` different states.

    `a` and `b` are the ways of the step through the text of the specification (branch and error), `about` is
    the field in which the outcomes differ; for a step that only one version has, the field that the step
    changes.
    """

    kind: Kind
    action: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    about: tuple[str, ...]
    count: int
    states: int
    requirements: tuple[str, ...]
    example: Example


def groups(comparison: Comparison, meta_a: Mapping[str, Any], meta_b: Mapping[str, Any]) -> list[Group]:
    """The differences by kind, those of inputs that are answered otherwise first, the most frequent first.

    `meta_a` and `meta_b` go into the traces.
    """
    if not comparison.different:
        return []
    ways = Ways(comparison)
    alike: dict[Signature, list[Different]] = {}
    for one in comparison.different:
        alike.setdefault(_signature(comparison, one), []).append(one)
    made = []
    for (kind, action, a, b, about), members in alike.items():
        first = min(members, key=lambda one: (ways.length(one.source), _simplicity(comparison, one)))
        example = _example(comparison, ways, first, meta_a, meta_b)
        ids = _requirements(comparison, members)
        states = len({one.source for one in members})
        made.append(Group(kind, action, a, b, about, len(members), states, ids, example))
    return sorted(
        made, key=lambda one: (ORDER.index(one.kind), -one.count, one.action, one.a, one.b, one.about)
    )


def _signature(comparison: Comparison, one: Different) -> Signature:
    value = comparison.space.values.value
    actions = {comparison.space.action(step.label) for step in (*one.a, *one.b)}
    ways = (tuple(sorted({way_of(value(step.label)) for step in steps})) for steps in (one.a, one.b))
    a, b = ways
    return one.kind, " or ".join(sorted(actions)), a, b, tuple(sorted(_about(comparison, one)))


def _about(comparison: Comparison, one: Different) -> set[str]:
    """The fields in which outcomes differ, or that a step of one version changes; where the members differ,
    only the members."""
    value, read = comparison.space.values.value, comparison.space.read
    source_a, source_b = (states[0] for states in comparison.both[one.source])
    who = _who(value((one.a or one.b)[0].label))
    come_a = {text for step in one.a for text in membership(read(source_a), read(step.after))}
    come_b = {text for step in one.b for text in membership(read(source_b), read(step.after))}
    if come_a != come_b:
        return {"who is a member"}
    about: set[str] = set()
    if one.kind is not Kind.CHANGED:
        for source, steps in ((source_a, one.a), (source_b, one.b)):
            for step in steps:
                about |= {aspect(path, who) for path, _, _ in changes(read(source), read(step.after))}
        return about
    for a, b in _pairs(comparison, one):
        if a.outcome[0] != b.outcome[0]:
            about.add("the response")
        after_a, after_b = (comparison.space.read(step.outcome[1]) for step in (a, b))
        about |= {aspect(path, who) for path, _, _ in changes(after_a, after_b)}
    return about


def _pairs(comparison: Comparison, one: Different) -> Iterator[tuple[Step, Step]]:
    """Each outcome of one version with the most similar one of the other."""
    read = comparison.space.read
    if len(one.a) == len(one.b) == 1:
        yield one.a[0], one.b[0]
        return
    for step in one.a:
        yield (
            step,
            min(one.b, key=lambda other: len(list(changes(read(step.outcome[1]), read(other.outcome[1]))))),
        )


def _who(step: Any) -> str:
    return str(step.get("member", "")) if isinstance(step, frozendict) else ""


def _simplicity(comparison: Comparison, one: Different) -> tuple[int, str]:
    """The order of examples of the same length: the simplest input first."""
    request = input_of(comparison.space.values.value((one.a or one.b)[0].label), frozendict())
    return len(request), request


def _requirements(comparison: Comparison, members: Iterable[Different]) -> tuple[str, ...]:
    steps = {step.label for one in members for step in (*one.a, *one.b)}
    ways: dict[tuple[str, str, str], None] = {}
    for number in sorted(steps):
        step = comparison.space.values.value(number)
        response = step.get("response") if isinstance(step, frozendict) else None
        if isinstance(step, frozendict) and isinstance(response, frozendict):
            ways[str(step.get("action")), str(step.get("branch", "")), str(response.get("error", ""))] = None
    return tuple(dict.fromkeys(name for way in sorted(ways) for name in requirements(*way)))


def _example(
    comparison: Comparison, ways: Ways, one: Different, meta_a: Mapping[str, Any], meta_b: Mapping[str, Any]
) -> Example:
    way_a, way_b = ways.to(one.source)
    before_a, before_b = comparison.a.whole(*way_a[-1]), comparison.b.whole(*way_b[-1])
    came_a = [_outcome(comparison, before_a, step) for step in one.a]
    came_b = [_outcome(comparison, before_b, step) for step in one.b]
    first = comparison.space.values.value((one.a or one.b)[0].label)
    return Example(
        tuple(_lines(comparison.a, way_a)),
        tuple(_lines(comparison.b, way_b)),
        input_of(first, before_a),
        _came(comparison.a, way_a, one.a, came_a, came_b, meta_a),
        _came(comparison.b, way_b, one.b, came_b, came_a, meta_b),
    )


def _outcome(comparison: Comparison, before: State, step: Step) -> tuple[str, list[str]]:
    """The answer, and the changes."""
    answer = answer_of(comparison.space.values.value(step.label))
    return answer, effects(parted(before)[0], comparison.space.read(step.after))


def _came(
    behaviours: Behaviours,
    way: Way,
    steps: Sequence[Step],
    own: Sequence[tuple[str, list[str]]],
    other: Sequence[tuple[str, list[str]]],
    meta: Mapping[str, Any],
) -> tuple[Came, ...]:
    answers, elsewhere = {answer for answer, _ in other}, {text for _, texts in other for text in texts}
    return tuple(
        Came(
            answer,
            answer in answers,
            tuple((text, text in elsewhere) for text in texts),
            _trace(behaviours, (*way, (step.after, step.label)), meta),
        )
        for step, (answer, texts) in zip(steps, own, strict=True)
    )


def _lines(behaviours: Behaviours, way: Way) -> Iterator[str]:
    """The steps of a way, in words, each with its answer."""
    before = behaviours.whole(*way[0])
    for state, number in way[1:]:
        assert number is not None
        step = behaviours.space.values.value(number)
        answer = answer_of(step)
        yield input_of(step, before) + (f" → {answer}" if answer else "")
        before = behaviours.whole(state, number)


def _trace(behaviours: Behaviours, way: Way, meta: Mapping[str, Any]) -> Trace:
    states = [behaviours.whole(state, step) for state, step in way]
    actions = ["Init", *(behaviours.space.action(step) for _, step in way[1:] if step is not None)]
    return Trace(dict(meta), tuple(sorted(states[0])), states, tuple(actions))
