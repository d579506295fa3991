"""The result of a run in words, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.engines.base import Model
from harness.engines.tlc import VERSION
from harness.pipeline.exhaust import Exhausted
from harness.pipeline.tables import value_of
from harness.replay.compare import Difference
from harness.replay.report import difference_of_state, loaded_otherwise
from harness.replay.signature import way
from harness.waivers import excepted
from harness.words import counted

_SHOWN: Final = 10
_PATHS: Final = 3
_WIDTH: Final = 100


def summary(result: Exhausted, model: Model | None, output: str) -> Iterator[str]:
    """The claim and the findings, in lines of at most 100 columns (but a path is one word)."""
    for line in _lines(result, model, output):
        deeper = " " * (len(line) - len(line.lstrip()) + 2)
        yield from textwrap.wrap(
            line, _WIDTH, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False
        )


def _lines(result: Exhausted, model: Model | None, output: str) -> Iterator[str]:
    if model or result.steps:
        yield from _claim(result, model)
    if result.traces:
        apart = _waived(result) if result.holds and not result.steps else ""
        yield f"{result.traces:,} traces with {result.trace_steps:,} steps on {result.target}{apart}"
    if result.earlier:
        steps = "step was" if result.earlier == 1 else "steps were"
        yield f"{result.earlier:,} {steps} judged in an earlier run, and not again"
    for one in result.waivers:
        yield f"waived until {one['expires']}, {one['reason']}: {one['steps']:,} x {one['signature']}"
    yield from result.waiver_problems
    if result.unobserved:
        yield f"not compared, because the target does not show it: {', '.join(result.unobserved)}"
    yield from left_out(result)
    yield from load_problems(result)
    if result.not_judged:
        why = "their states were not reached"
        if result.target_failed:
            others = ", the states of the others were not reached"
            why = f"the target failed in {result.target_failed:,} of them"
            why += others if result.target_failed < result.not_judged else ""
        yield f"{counted(result.not_judged, 'step')} could not be judged: {why}"
    if first := result.first_not_judged:
        step = f"{way(first['action'], first['branch'], first['error'])}, {_place(first['depth'])}"
        ended = first["ended"] or ("its call" if first["failure"] else "its load")
        yield f"  the first is {step}: {ended}: {first['failure'] or _difference(first)}"
    if result.quarantined:
        yield f"{counted(result.quarantined, 'input')} could not be read: see the table quarantine"
    yield f"requirements exercised: {', '.join(_exercised(result.coverage)) or 'none'}"
    yield from _findings(result, output)
    if result.page:
        yield f"state graph: {result.page.removeprefix('file://')}"
    if taken := _seconds(result):
        yield f"seconds on the clock: {taken}"
    yield f"tables: {output}"


def left_out(result: Exhausted) -> Iterator[str]:
    """Sentences about the features that the target declares it lacks, and the steps that need these."""
    for feature, steps in result.left_out.items():
        yield f"left out, because the target lacks {feature}: {counted(steps, 'step')}"


def load_problems(result: Exhausted) -> Iterator[str]:
    """Sentences about the states that were not there after `load`, which is no difference of the
    coordinator."""
    for how, one in sorted(result.loads.items()):
        place, count = _place(one["depth"]), one["states"]
        if how == "wrong":
            yield loaded_otherwise(result.target, count, place, _differences(one))
        else:
            states = "a state" if count == 1 else f"{count:,} states"
            yield (
                f"the target {result.target} refused to load {states}, which were reached by their shortest "
                f"paths; the first is {place}: {_difference(one)}"
            )


def _place(depth: int) -> str:
    return f"{counted(depth, 'step')} from the start"


def _difference(one: Mapping[str, Any]) -> str:
    """The first difference of a row in words."""
    different = _differences(one)
    return difference_of_state(different) if different else "it differs"


def _differences(one: Mapping[str, Any]) -> list[Difference]:
    """The differences of a row, whose values are texts of JSON; long texts are cut off."""
    return [
        Difference(difference["path"], value_of(difference["expected"]), value_of(difference["got"]))
        for difference in one["differences"]
    ]


_PARTS: Final = {
    "start": "Spark's start",
    "tlc": "TLC's state graph",
    "graph": "reading the graph",
    "depths": "ways to its states",
    "states": "its states",
    "steps/graph": "decoding its steps",
    "verdicts/graph": "judging them",
    "verdicts/paths": "judging by shortest paths",
    "tours": "making tours",
    "traces": "reading traces",
    "steps/traces": "decoding their steps",
    "verdicts/traces": "judging traces",
    "summary/counts": "counting the verdicts",
    "summary/quarantine": "what could not be read",
    "summary/findings": "gathering the findings",
    "summary/page": "drawing the page",
    "summary/examples": "traces of the findings",
    "summary/digests": "digests of the tables",
    "summary/tables": "writing the tables",
    "summary/rest": "all else",
}
"""Units of work in `timings` -> their words here."""


def _seconds(result: Exhausted) -> str:
    """Seconds of each part of this run, without the work of earlier runs."""
    seconds: dict[str, float] = {}
    for one in result.timings:
        seconds[one["unit"]] = seconds.get(one["unit"], 0.0) + one["seconds"]
    if "tlc" in seconds and "graph" in seconds:
        seconds["graph"] -= seconds["tlc"]  # TLC runs within that unit
    return ", ".join(f"{part} {seconds[unit]:.0f}" for unit, part in _PARTS.items() if unit in seconds)


def _claim(result: Exhausted, model: Model | None) -> Iterator[str]:
    one = result.steps == 1
    verb = ("holds" if one else "hold") if result.holds else ("was judged" if one else "were judged")
    steps = f"{counted(result.steps, 'step')} over {counted(result.states, 'coordinator state')}"
    spec = f"{model.name} (TLC {VERSION}, spec {result.spec_hash[:12]}, " if model else "the state graph ("
    yield f"{spec}dialect {result.dialect}): {steps} {verb} on {result.target}" + (
        f"{'' if result.left_out else ', none left out'}{_waived(result)}" if result.holds else ""
    )
    loaded = result.transitions - result.by_path - result.not_judged
    by_path = f"{result.by_path:,} by way of their shortest paths"
    reached = f"{counted(loaded, 'step')} from loaded states, {by_path}"
    repeated = result.transitions - result.steps
    again = f"; {repeated:,} of them again in other states of the model" if repeated else ""
    yield f"{counted(result.inputs, 'distinct input')}; {reached}{again}"
    if result.of_clients:
        yield (
            f"{result.of_clients:,} steps are those of clients and their network, which the coordinator does "
            "not see: conform replay judges them, by traces"
        )


def _waived(result: Exhausted) -> str:
    """The exceptions of a claim."""
    return excepted([one["signature"] for one in result.waivers], result.waived, "steps")


def _exercised(coverage: Sequence[dict[str, Any]]) -> list[str]:
    covered = {row["requirement"] for row in coverage}
    return sorted(covered, key=lambda name: (name[0], int(name[1:])))


def _findings(result: Exhausted, output: str) -> Iterator[str]:
    if not result.findings:
        yield "findings: none"
        return
    yield f"findings: {len(result.findings)}"
    for one in result.findings[:_SHOWN]:
        shown = ", ".join(one["paths"][:_PATHS]) + (" …" if len(one["paths"]) > _PATHS else "")
        what = way(one["action"], one["branch"], one["error"])
        yield f"  {one['requirement']:>3} {one['count']:>8,} x {what}: {shown}"
        yield f"      {one['steps']} steps: {output}/examples/{one['finding']}.itf.json"
    if len(result.findings) > _SHOWN:
        yield f"  and {len(result.findings) - _SHOWN} more: see the table findings"
