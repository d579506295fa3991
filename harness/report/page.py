"""The report as one self-contained HTML page; each section is a template in `sections`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from harness.coverage.record import Recorded
from harness.dialects import shown
from harness.errors import worst
from harness.pages import template
from harness.report.coverage import coverage
from harness.report.lines import lines
from harness.report.matrix import letters, matrix
from harness.report.pages import pages
from harness.report.plot import Axes, bars, curve
from harness.report.readers.bench import Rebalance
from harness.report.readers.check import ModelResult
from harness.report.results import Results
from harness.report.specification import sums
from harness.report.svg import inline_svg
from harness.report.tables import clients, implementations
from harness.report.verdict import MEANINGS, findings, not_needed

_HERE: Final = Path(__file__).parent
_SECTIONS: Final = {
    "findings": "Findings",
    "implementations": "Implementations",
    "clients": "Clients",
    "models": "Models",
    "replay": "Replay",
    "exhaust": "Every step",
    "simulate": "Simulation",
    "requirements": "Requirements",
    "coverage": "Coverage",
    "dialects": "Dialects",
    "generation": "Generated traces",
    "mutants": "Seeded bugs",
    "mutate": "Mutants",
    "diff": "Changes of the protocol",
    "rebalance": "Cost of rebalances",
    "depths": "States by depth",
    "graphs": "State graphs",
}
"""Anchors, which are names of templates, and titles."""
SPECIFICATION: Final = "specification.html"
"""The page beside this one, with the coverage of the specification by its models."""
_SCRIPTS: Final = ("report.js", "explorer.js")
_LEAST_S: Final = 0.1
"""The value on a logarithmic axis in place of 0."""
_FEW: Final = 15
"""The number of models that are listed unfolded."""


def page(results: Results, specification: Recorded | None = None) -> str:
    """The page, which links to the coverage of the specification (the file `SPECIFICATION`) where there is
    one."""
    context = {**_verdict(results), **_models(results), **_tables(results), **_pictures(results)}
    context |= {"specification": specification, "sums": specification and sums(specification)}
    absent = {
        "dialects": not results.departures,
        "implementations": not context["implementations"].lines,
        "clients": not results.clients,
        "mutants": not results.mutants,
        "simulate": not results.simulations,
        "mutate": not results.mutations,
        "diff": not results.diffs,
        "rebalance": not results.rebalances,
        "requirements": not context["matrix"],
        "depths": not context["depths"],
    }
    sections = [(anchor, title) for anchor, title in _SECTIONS.items() if not absent.get(anchor)]
    if results.of_others:  # the question is about other implementations, not about the kit's earlier results
        sections.sort(key=lambda section: section[0] == "models")
    return template(_HERE, "report.html.j2").render(context, sections=sections)


def _verdict(results: Results) -> dict[str, Any]:
    reasons = findings(results)
    exit_code = worst(finding.exit_code for finding in reasons)
    states = [model.distinct_states or 0 for model in results.models]
    return {
        "exit_code": exit_code,
        "verdict": MEANINGS[exit_code].capitalize(),
        "findings": reasons,
        "not_needed": not_needed(results),
        "of_others": results.of_others,
        "distinct_states": sum(states),
        "traces": sum(replay.traces for replay in results.replays),
        "target_steps": sum(replay.target_steps for replay in results.replays),
        "differences": sum(replay.differences for replay in results.replays),
    }


@dataclass(frozen=True)
class _Engine:
    """The results of one engine, in numbers."""

    name: str
    models: int
    hold: int
    fail: int
    unexpected: int
    accepted: int
    states: int
    seconds: float


def _models(results: Results) -> dict[str, Any]:
    models = results.models
    bad = [model for model in models if not (model.as_expected or model.without_record)]
    unknown = [model for model in models if model.without_record]
    accepted = [model for model in models if model.from_evidence and model.as_expected]
    checked = [model for model in models if model.as_expected and not model.from_evidence]
    groups = [
        (f"{len(bad)} not as expected", bad, True),
        (
            f"{len(unknown)} not checked, and nothing is recorded that still counts",
            unknown,
            len(unknown) <= _FEW,
        ),
        (f"{len(checked)} checked in this run, as expected", checked, len(checked) <= _FEW),
        (f"{len(accepted)} accepted from recorded evidence", accepted, len(models) <= _FEW),
    ]
    engines = sorted({f"{model.engine} {model.version}".strip() for model in models})
    return {
        "models": models,
        "accepted": [model for model in models if model.from_evidence],
        "model_groups": groups,
        "engines": [
            _engine(name, [one for one in models if f"{one.engine} {one.version}".strip() == name])
            for name in engines
        ],
    }


def _engine(name: str, models: Sequence[ModelResult]) -> _Engine:
    good = [model for model in models if model.as_expected]
    return _Engine(
        name,
        len(models),
        sum(model.outcome == "holds" for model in good),
        sum(model.outcome.startswith("violated") for model in good),
        len(models) - len(good),
        sum(model.from_evidence for model in models),
        sum(model.distinct_states or 0 for model in models),
        sum(model.seconds for model in models),
    )


def _tables(results: Results) -> dict[str, Any]:
    rows = matrix(results)
    chosen = pages(results)
    return {
        "replays": results.replays,
        "exhausts": results.exhausts,
        "departures": results.departures,
        "dialects": results.dialects,
        "measured": results.measured,
        "listed": results.listed,
        "shown": shown,
        "coverage": coverage(results.replays),
        "generations": results.generations,
        "mutants": results.mutants,
        "simulations": results.simulations,
        "mutations": results.mutations,
        "diffs": results.diffs,
        "matrix": rows,
        "letters": letters(rows),
        "untested": sum(not row.tested for row in rows),
        "implementations": implementations(results, chosen.shown),
        "clients": clients(results, chosen.shown),
        "listed_requirements": {one.name for one in results.requirements},
        "pages": chosen.shown,
        "left_out": chosen.left_out,
        "page_of_model": {one.title.partition(":")[0]: one.anchor for one in chosen.shown if one.of_model},
    }


def _pictures(results: Results) -> dict[str, Any]:
    steps, branches = Axes("traces", "distinct steps"), Axes("traces", "branches")
    return {
        "curves": [
            (
                f"{replay.source}: {replay.traces:,} traces",
                curve([(traces, distinct) for traces, distinct, _ in replay.coverage.growth], steps),
                curve([(traces, reached) for traces, _, reached in replay.coverage.growth], branches),
            )
            for replay in results.replays
            if replay.coverage.growth
        ],
        "rebalances": _rebalances(results.rebalances),
        "depths": [(graph, bars(graph.depths, Axes("depth", "states"))) for graph in results.state_graphs],
        "graphs": [(graph.stem, inline_svg(graph)) for graph in results.graphs],
        "script": Markup("".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)),
    }


def _rebalances(measured: Sequence[Rebalance]) -> list[tuple[str, str, list[Rebalance]]]:
    """The events, their plot, and their figures."""
    axes = Axes("members", "partition seconds")
    groups = []
    for what in dict.fromkeys(one.what for one in measured):
        mine = [one for one in measured if one.what == what]
        curves = {
            protocol: {one.members: max(one.idle_s, _LEAST_S) for one in mine if one.protocol == protocol}
            for protocol in dict.fromkeys(one.protocol for one in mine)
        }
        groups.append((what, lines(curves, axes), mine))
    return groups
