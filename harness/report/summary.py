"""The report as one screen of a terminal: at most 80 columns and about 40 lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.errors import worst
from harness.report.coverage import coverage
from harness.report.readers.check import ModelResult
from harness.report.results import Results
from harness.report.verdict import MEANINGS, findings, not_needed

WIDTH = 80
_FAMILY = re.compile(r"(MC)?([A-Z][a-z])?[A-Z][a-z]{2,}")
"""The first word of a model's name, or two if the first has two letters. Models that share it
are shown together."""
_MOST_MODELS = 18
_MOST_FINDINGS = 8
_MOST_UNREACHED = 8


def print_summary(results: Results, page: Path, console: Console) -> None:
    """Print it; tables in colours on a terminal, plain elsewhere."""
    reasons = findings(results)
    exit_code = worst(finding.exit_code for finding in reasons)
    if not results.of_others:  # the kit's earlier results are not about another implementation
        _models(results.models, console)
    _replays(results, console)
    _exhausts(results, console)
    _random(results, console)
    for counted in coverage(results.replays):
        named = ", ".join(counted.unreached[:_MOST_UNREACHED])
        more = len(counted.unreached) - _MOST_UNREACHED
        unreached = f"; not reached by these traces: {named}" if named else ""
        if more > 0:
            unreached += f" and {more} more"
        console.print(f"{counted.title}: {counted.reached} of {counted.total} reached{unreached}")
        if counted.title == "actions" and counted.counts:
            console.print("  " + ", ".join(f"{name} {count:,}" for name, count in counted.ordered()))
    if results.mutants:
        caught = sum(1 for mutant in results.mutants if mutant.caught_by)
        console.print(f"seeded bugs: {caught} of {len(results.mutants)} caught")
    if left := not_needed(results):
        console.print(textwrap.fill(left, WIDTH, subsequent_indent="  "), highlight=False)
    for finding in reasons[:_MOST_FINDINGS]:
        console.print(f"! {finding.sentence}", style="red")
    if len(reasons) > _MOST_FINDINGS:
        console.print(f"! and {len(reasons) - _MOST_FINDINGS} more, in the report", style="red")
    console.print(f"report: {page}", soft_wrap=True)
    console.print(f"verdict: {MEANINGS[exit_code]}", style="bold red" if exit_code else "bold green")


def _models(models: Sequence[ModelResult], console: Console) -> None:
    """Print models with expected results in a few lines, the others in a table."""
    accepted = [model for model in models if model.from_evidence and model.as_expected]
    run = [model for model in models if model not in accepted]
    good = [model for model in run if model.as_expected]
    for when, some in (("computed now", good), ("recorded", accepted)):
        for engine in sorted({_engine(model) for model in some}):
            mine = [model for model in some if _engine(model) == engine]
            states = " (distinct states)" if some is good else ""
            _names(f"{when}, hold on {engine}{states}", "holds", mine, console, figures=some is good)
            _names(f"{when}, must fail and do on {engine}", "violated", mine, console)
    if bad := [model for model in run if not model.as_expected]:
        table = _table("model", "engine", "outcome", "!distinct\nstates", "")
        table.columns[0].min_width = max(len(model.name) for model in bad)
        table.columns[-1].min_width = 2
        for model in bad[:_MOST_MODELS]:
            outcome = "not checked" if model.without_record else model.outcome or "no answer"
            table.add_row(model.name, _engine(model), outcome, _figure(model.distinct_states), "NO")
        console.print(table)
        if len(bad) > _MOST_MODELS:
            console.print(f"and {len(bad) - _MOST_MODELS} more models that are not as expected")
    taken = f", {len(accepted)} recorded {_dates(accepted)}" if accepted else ""
    total = sum(model.distinct_states or 0 for model in accepted)
    of_these = f" ({total:,} distinct states)" if total else ""
    console.print(f"results of models: {len(run)} computed now{taken}{of_these}", highlight=False)


def _dates(recorded: Sequence[ModelResult]) -> str:
    """The first and the last date of recorded results."""
    dates = sorted({model.recorded for model in recorded if model.recorded})
    if len(dates) < 2:
        return f"on {dates[0]}" if dates else "earlier"
    return f"from {dates[0]} to {dates[-1]}"


def _names(
    title: str, outcome: str, models: Sequence[ModelResult], console: Console, *, figures: bool = False
) -> None:
    """One wrapped line: the models with that outcome, and with `figures` their states."""
    mine = [model for model in models if model.outcome.startswith(outcome)]
    words = [
        f"{name} {_figure(sum(states)) if figures and None not in states else ''}".strip()
        for name, states in _families(mine)
    ]
    if words:
        text = ", ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in words)
        wrapped = textwrap.fill(f"models {title}: {text}", WIDTH, subsequent_indent="  ")
        console.print(wrapped.replace("\N{NO-BREAK SPACE}", " "), highlight=False)


def _families(models: Sequence[ModelResult]) -> Iterator[tuple[str, list[Any]]]:
    """Each model with its distinct states; those of a family together, with their number."""
    families: dict[str, list[ModelResult]] = {}
    for model in models:
        families.setdefault((_FAMILY.match(model.name) or [model.name])[0], []).append(model)
    for family, mine in families.items():
        name = mine[0].name if len(mine) == 1 else f"{family}… x {len(mine)}"
        yield name, [model.distinct_states for model in mine]


def _engine(model: ModelResult) -> str:
    return f"{model.engine} {model.version}".strip()


def _replays(results: Results, console: Console) -> None:
    if not results.replays:
        return
    table = _table("traces of", "target", "!traces", "!steps", "!on target", "!differences")
    for replay in results.replays:
        figures = (replay.traces, replay.steps, replay.target_steps, replay.differences)
        table.add_row(replay.source, replay.target, *map(_figure, figures))
    console.print(table)
    for replay in results.replays:
        for line in replay.left_out:
            text = textwrap.fill(f"{replay.source}: {line}", WIDTH, subsequent_indent="  ")
            console.print(text, highlight=False)


def _exhausts(results: Results, console: Console) -> None:
    if not results.exhausts:
        return
    table = _table("every step of", "target", "!states", "!steps", "!of traces", "!differ")
    for exhaust in results.exhausts:
        figures = (exhaust.states, exhaust.steps, exhaust.trace_steps, exhaust.failed)
        table.add_row(exhaust.model, exhaust.target, *map(_figure, figures))
    console.print(table)


def _random(results: Results, console: Console) -> None:
    """Simulations and mutants, a line each."""
    for run in results.simulations:
        outcome = "all of it holds" if run.holds else run.outcome
        text = f"simulation of {run.what}: {run.size}, {outcome}"
        console.print(textwrap.fill(text, WIDTH, subsequent_indent="  "), highlight=False)
    for one in results.clients:
        broken = (
            f"breaks {', '.join(each.rule for each in one.breaches)}" if one.breaches else "breaks no rule"
        )
        text = f"client {one.name}: {one.schedules:,} schedules{one.note and f' ({one.note})'}, {broken}"
        console.print(textwrap.fill(text, WIDTH, subsequent_indent="  "), highlight=False)
    for mutation in results.mutations:
        total = mutation.total
        console.print(f"mutants: {total.killed:,} of {total.judged:,} killed, {total.survived:,} survive")


def _table(*columns: str) -> Table:
    """A table without a frame; columns whose name begins with ! have numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.removeprefix("!"), justify="right" if column[:1] == "!" else "left")
    return table


def _figure(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
