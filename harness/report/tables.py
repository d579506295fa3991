"""Tables of judged clients and implementations side by side: clients by rules, implementations by
requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.report.pages import Page
from harness.report.results import OWN, Results


@dataclass(frozen=True)
class Cell:
    """A verdict: `broken` with the page that shows it (its `anchor`, "" for none), or the number of times
    that something was `judged`, 0 for none."""

    judged: int = 0
    broken: bool = False
    anchor: str = ""
    steps: int = 0


@dataclass(frozen=True)
class Line:
    """A rule or a requirement, and a cell for each column."""

    requirement: str
    name: str
    sentence: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """Columns, each with a note, and lines."""

    columns: Sequence[tuple[str, str]]
    lines: Sequence[Line]


def clients(results: Results, pages: Iterable[Page]) -> Table:
    """Clients by rules."""
    shown = {(page.about, place): page for page in pages for place in page.places}
    known = {rule.rule: rule for one in results.clients for rule in one.rules}
    lines = []
    for name, rule in known.items():
        cells = []
        for one in results.clients:
            mine = next((each for each in one.rules if each.rule == name), None)
            page = shown.get((one.name, (name, 0))) if mine and mine.broken else None
            cells.append(_cell(mine.judged if mine else 0, bool(mine and mine.broken), page))
        lines.append(Line(rule.requirement, name, rule.sentence, cells))
    columns = [(one.name, one.note or f"{one.schedules:,} schedules") for one in results.clients]
    return Table(columns, lines)


def implementations(results: Results, pages: Iterable[Page]) -> Table:
    """Implementations by requirements: those that a judged step exercises or a difference breaks. The kit's
    own coordinator has a column where it is not alone."""
    targets = [*(one.target for one in results.replays), *(one.target for one in results.exhausts)]
    names = list(dict.fromkeys(targets))
    if set(names) <= {OWN}:
        return Table((), ())
    shown = list(pages)
    judged = [_judged(name, results) for name in names]
    broken = [_broken(name, results, shown) for name in names]
    there = {name for each in (*judged, *broken) for name in each}
    sentences = {one.name: one.sentence for one in results.requirements}
    order = [name for name in sentences if name in there] + sorted(there - sentences.keys())
    lines = [
        Line(
            name,
            "",
            sentences.get(name, ""),
            [
                _cell(counts.get(name, 0), name in bad, bad.get(name))
                for counts, bad in zip(judged, broken, strict=True)
            ],
        )
        for name in order
    ]
    return Table([(name, _size(name, results)) for name in names], lines)


def _cell(judged: int, broken: bool, page: Page | None) -> Cell:
    return Cell(judged, broken, page.anchor if page else "", page.steps if page else 0)


def _judged(target: str, results: Results) -> Mapping[str, int]:
    """The number of judged steps that exercise each requirement."""
    counts: dict[str, int] = {}
    for replay in results.replays:
        if replay.target == target:
            for name, exercised in replay.coverage.requirements.items():
                counts[name] = counts.get(name, 0) + exercised.steps
    for exhaust in results.exhausts:
        if exhaust.target == target:
            for name, steps in exhaust.exercised.items():
                counts[name] = counts.get(name, 0) + steps
    return {name: steps for name, steps in counts.items() if steps}


def _broken(target: str, results: Results, pages: Sequence[Page]) -> Mapping[str, Page | None]:
    """The requirements that differences or their causes break, with the page of the shortest trace."""
    places: dict[str, list[tuple[str, int]]] = {}
    for replay in results.replays:
        if replay.target != target:
            continue
        for failure in replay.failures:
            for one in failure.differences:
                places.setdefault(failure.requirement(one), []).append((failure.trace, failure.index))
        for cause in replay.causes:
            for name in cause.requirements:
                places.setdefault(name, []).append((cause.trace, cause.step))
    broken: dict[str, Page | None] = {}
    mine = [page for page in pages if page.about == target]
    for name, at in places.items():
        fitting = [page for page in mine if page.places & {*at}]
        broken[name] = min(fitting, key=lambda page: page.steps, default=None)
    for exhaust in results.exhausts:
        if exhaust.target == target:
            for kind in exhaust.findings:
                page = next((page for page in mine if (kind.name, kind.steps) in page.places), None)
                broken.setdefault(kind.requirement, page)
    broken.pop("", None)
    return broken


def _size(target: str, results: Results) -> str:
    steps = sum(one.target_steps for one in results.replays if one.target == target)
    steps += sum(one.steps + one.trace_steps for one in results.exhausts if one.target == target)
    return f"{steps:,} steps"
