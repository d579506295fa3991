"""The report as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.dialects import shown
from harness.replay.report import explain
from harness.report.coverage import coverage
from harness.report.results import Results
from harness.report.svg import inline_svg
from harness.report.verdict import MEANINGS, findings, worst

_TEMPLATE = "report.html.j2"
_SECTIONS = (
    ("models", "Models"),
    ("replay", "Replay"),
    ("exhaust", "Every step"),
    ("dialects", "Dialects"),
    ("coverage", "Coverage"),
    ("generation", "Generated traces"),
    ("differences", "Differences"),
    ("mutants", "Seeded bugs"),
    ("graphs", "State graphs"),
)


def page(results: Results) -> str:
    """The page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(_TEMPLATE).render(_context(results))


def _context(results: Results) -> dict[str, Any]:
    found = findings(results)
    exit_code = worst(finding.exit_code for finding in found)
    states = [model.facts["distinct_states"] or 0 for model in results.models]
    return {
        "exit_code": exit_code,
        "verdict": MEANINGS[exit_code].capitalize(),
        "findings": found,
        "models": results.models,
        "accepted": [model for model in results.models if model.from_evidence],
        "distinct_states": sum(states),
        "replays": results.replays,
        "traces": sum(replay.traces for replay in results.replays),
        "target_steps": sum(replay.target_steps for replay in results.replays),
        "differences": sum(replay.differences for replay in results.replays),
        "exhausts": results.exhausts,
        "departures": results.departures,
        "dialects": results.dialects,
        "measured": results.measured,
        "shown": shown,
        "coverage": coverage(results.replays),
        "generations": results.generations,
        "failures": [
            "\n".join(explain(failure, replay.target, replay.dialect))
            for replay in results.replays
            for failure in replay.failures
        ],
        "mutants": results.mutants,
        "graphs": [(graph.stem, inline_svg(graph)) for graph in results.graphs],
        "sections": [
            (anchor, title)
            for anchor, title in _SECTIONS
            if {"mutants": results.mutants, "dialects": results.departures}.get(anchor, True)
        ],
    }
