"""Findings, one page each: the broken requirement, the shortest trace to it, and the command that repeats
it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import ConformError
from harness.itf import read_trace
from harness.kit import kit_path
from harness.replay.causes import causes, label
from harness.replay.compare import Difference
from harness.replay.files import SUFFIX
from harness.replay.report import again, shown
from harness.replay.rules import Rule
from harness.replay.run import Failure
from harness.replay.signature import place, way
from harness.report.changes import Change, changes, plain, short
from harness.report.mermaid import mermaid
from harness.report.readers.check import ModelResult
from harness.report.readers.client import Breach
from harness.report.readers.exhaust import Exhaust, ExhaustFinding
from harness.report.readers.replay import Replay
from harness.report.readers.simulate import Simulation, Violation
from harness.report.results import Results
from harness.report.sequence import sequence
from harness.report.sequence_words import violated
from harness.report.stages import Stage, groups_of, stages_of
from harness.report.story_sequence import content_of_story
from harness.report.trace_sequence import content_of_trace
from harness.requirements import broken, sentences

MOST: Final = 40
"""The most pages; of further findings only the sentence is there."""
_WORDS: Final = 3
"""The number of differences that the diagram names."""


@dataclass(frozen=True)
class Page:
    """One finding. `diagram` is SVG (and `mermaid` its text), or empty with the reason in `lacking`;
    `command` repeats the finding. `rules` are the properties that the step breaks.

    `expected` tells that a model must fail in this way. `steps` is the length of the trace, `sent` the last
    request to the target, or the text of `heading`, and `heads` are the headings of changes. `stages` are the
    trace step by step, `changes` those of the last. `listed` tells that the report has a table of
    requirements with this one. `about` is the target or the client; `places` are the steps with this
    difference (trace and number), for a client its rule, by which tables link here.
    """

    anchor: str
    title: str
    requirement: str
    sentence: str
    what: str
    source: str
    count: str
    trace: str
    steps: int
    changes: Sequence[Change]
    sent: Sequence[str]
    command: str
    rules: Sequence[Rule] = ()
    stages: Sequence[Stage] = ()
    diagram: str = ""
    mermaid: str = ""
    lacking: str = ""
    trace_title: str = "Shortest trace"
    heading: str = "The operations of the last step on the target"
    heads: tuple[str, str] = ("after, says the specification", "after, on the target")
    expected: bool = False
    of_model: bool = False
    listed: bool = False
    about: str = ""
    places: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True)
class Pages:
    """The pages, and the number of findings without a page, because there are too many."""

    shown: Sequence[Page]
    left_out: int


def pages(results: Results) -> Pages:
    """A page for each kind of difference on a target and each model that fails; those that must fail come
    last."""
    failing = [one for one in results.models if one.counterexample]
    made = [_of_model(one) for one in failing if not one.as_expected]
    made += [page for replayed in results.replays for page in _of_replay(replayed)]
    made += [_of_breach(one, judged.name) for judged in results.clients for one in judged.breaches]
    made += [_of_violation(one, run) for run in results.simulations for one in run.violations]
    made += [_of_exhaust(one, run) for run in results.exhausts for one in run.findings]
    must = [replace(_of_model(one), expected=True) for one in failing if one.as_expected]
    listed = {one.name for one in results.requirements}
    return Pages(
        [
            replace(
                page,
                anchor=f"finding-{number}",
                sentence=sentences().get(page.requirement, ""),
                listed=page.requirement in listed,
            )
            for number, page in enumerate([*made[:MOST], *must], start=1)
        ],
        len(made[MOST:]),
    )


def _of_replay(replayed: Replay) -> Iterator[Page]:
    """Equal failures are one finding, with the shortest way to one; by their causes, the most serious
    first."""
    order = {cause.labels: number for number, cause in enumerate(causes(replayed.failures))}
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in replayed.failures:
        places = sorted({place(one.path, one.expected, one.got) for one in failure.differences})
        alike.setdefault((failure.action, failure.branch, failure.error, *places), []).append(failure)
    for failures in sorted(alike.values(), key=lambda one: (order[(label(one[0]),)], -len(one))):
        first = min(failures, key=lambda one: (one.index, one.trace))
        steps = frozenset((one.trace, one.index) for one in failures)
        page = _of_failure(first, len(failures), replayed)
        yield replace(page, about=replayed.target, places=steps)


def _of_failure(failure: Failure, count: int, replayed: Replay) -> Page:
    paths = [one.path for one in failure.differences]
    step = failure.action, failure.branch, failure.error
    page = Page(
        anchor="",
        title=_title(failure.action, failure.branch, failure.error, failure.differences),
        requirement=failure.rules[0].requirement if failure.rules else broken(*step, paths),
        sentence="",
        what=f"{replayed.target} differs from the specification ({replayed.dialect})",
        source=f"replay of {replayed.source}",
        count=_alike(count),
        trace=failure.trace,
        steps=failure.index,
        changes=plain(failure.differences),
        sent=(),
        command=again(failure.trace, replayed.target, replayed.dialect, replayed.wait_s),
        rules=failure.rules,
    )
    page = _with_trace(page, failure.index, failure.differences)
    return replace(page, sent=_sent(failure))  # now that the trace has given the names of its topics


def _alike(count: int) -> str:
    return f"{count:,} steps differ in this way" if count > 1 else ""


def _sent(failure: Failure) -> list[str]:
    script = [f"next target assignment: {shown(failure.script.get('target'))}"] if failure.script else []
    return [*script, shown(failure.operation)]


def _of_exhaust(one: ExhaustFinding, run: Exhaust) -> Page:
    trace = f"{run.output}/examples/{one.name}{SUFFIX}"
    page = Page(
        anchor="",
        title=_title(one.action, one.branch, one.error, one.differences),
        requirement=one.requirement,
        sentence="",
        what=f"{run.target} differs from the specification ({run.dialect})",
        source=f"every step of {run.model}",
        count=_alike(one.count),
        trace=trace,
        steps=one.steps,
        changes=plain(one.differences),
        sent=(),
        command=again(trace, run.target, run.dialect),
        about=run.target,
        places=frozenset({(one.name, one.steps)}),
    )
    return _with_trace(page, None, one.differences)


def _of_model(model: ModelResult) -> Page:
    name = model.violated or model.outcome
    page = Page(
        anchor="",
        title=f"{model.name}: {name}",
        requirement="",
        sentence="",
        what=f"{model.name} violates {name}. {model.purpose}".strip(),
        source=f"{model.engine} {model.version}, {model.bounds}".strip(", "),
        count="",
        trace=model.counterexample,
        steps=0,
        changes=(),
        sent=(),
        command=f"conform check {model.name}",
        of_model=True,
    )
    return _with_trace(page, None, ())


def _of_violation(one: Violation, run: Simulation) -> Page:
    words = [
        f"{each.path}: A {short(each.path, each.expected)}, B {short(each.path, each.got)}"
        for each in one.differences[:_WORDS]
    ]
    story = content_of_story(one.messages, words or [one.message]) if one.messages else None
    return Page(
        anchor="",
        title=one.title,
        requirement=one.requirement,
        sentence="",
        what=one.message,
        source=f"simulation of {run.what}, seed {run.seed}",
        count=one.seen,
        trace=one.schedule,
        steps=len(one.steps),
        changes=changes(one.before, one.after, one.differences),
        sent=[*one.steps, *([f"as a scenario: {one.scenario}"] if one.scenario else [])],
        command=one.again,
        diagram=sequence("", *story, inline=True) if story else "",
        mermaid=mermaid(*story) if story else "",
        lacking="" if one.messages else "the result has no messages.",
        heading="The schedule",
        trace_title="Shortest schedule",
        heads=("after, on A", "after, on B") if one.differences else ("after", ""),
    )


def _of_breach(one: Breach, client: str) -> Page:
    story = content_of_story(one.messages, [one.message]) if one.messages else None
    return Page(
        anchor="",
        title=f"{one.requirement} {one.rule}: {client}",
        requirement=one.requirement,
        sentence="",
        what=f"After {one.ms:,} ms the client {one.message}",
        source=f"schedules on {client}, {one.origin}",
        count="",
        trace=one.configured,
        steps=len(one.schedule),
        changes=(),
        sent=one.schedule,
        command=one.again,
        diagram=sequence("", *story, inline=True) if story else "",
        mermaid=mermaid(*story) if story else "",
        lacking="" if story else "the result has no messages.",
        heading="The schedule",
        trace_title="Shortest schedule",
        about=client,
        places=frozenset({(one.rule, 0)}),
    )


def _title(action: str, branch: str, error: str, different: Iterable[Difference]) -> str:
    places = list(dict.fromkeys(place(one.path, one.expected, one.got) for one in different))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{way(action, branch, error)}: {places[0] if places else ''}{more}"


def _with_trace(page: Page, index: int | None, different: Sequence[Difference]) -> Page:
    """The page with the content of its trace, cut after the step `index` (None: at its end)."""
    try:
        trace = read_trace(kit_path(Path(page.trace)))
        if index is not None:
            trace = replace(trace, states=trace.states[: index + 1], actions=trace.actions[: index + 1])
        last = len(trace.states) - 1
        groups = groups_of(trace, page.trace)  # first: it gives the names of topics
        words = [
            f"{one.path}: {short(one.path, one.expected)}, got {short(one.path, one.got)}"
            for one in different[:_WORDS]
        ]
        words += [f"and {len(different) - _WORDS} more differences"] if len(different) > _WORDS else []
        content = content_of_trace(trace, "", {last: words} if different else violated(trace))
        stages = stages_of(trace, page.trace, groups, content[1], different)
        diagram = sequence("", *content, inline=True)
    except ConformError as error:
        return replace(page, lacking=error.message)
    page = replace(page, diagram=diagram, mermaid=mermaid(*content))
    return replace(page, steps=last, changes=stages[-1].changes, stages=stages)
