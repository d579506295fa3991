"""`conform coverage`: the expressions of the specification that no model reaches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.console import (
    MANIFEST,
    check_json_place,
    named_manifest,
    print_table,
    running,
    write_json,
)
from harness.cli.options import JsonFile, ManifestFile, TlcMemory
from harness.coverage.follow import Traces, follow, traces_by_model
from harness.coverage.measure import Reached, measure
from harness.coverage.record import NAME, Recorded, read_record, write_record
from harness.engines.base import Limits, Progress
from harness.engines.tlc import VERSION
from harness.errors import ConformError
from harness.files import output_folder, write_text
from harness.manifest import Entry, Manifest
from harness.report.specification import gaps, module_names, modules, modules_of_others, page, sums

_MOST = 20
"""Unreached expressions that the screen shows; the page has the others."""


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL]", help="Models to measure now; without them the record is shown."),
    ] = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record-evidence", help="Measure all models of TLC, and keep the result in evidence/."
        ),
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("build/coverage"),
    manifest: ManifestFile = MANIFEST,
    json_file: JsonFile = None,
    memory: TlcMemory = "2g",
    timeout: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="S", help="Stop TLC after S seconds a model; what it reached counts."),
    ] = None,
) -> None:
    """Show the expressions of the specification that no model reaches, beside the source.

    TLC checks a copy of each model in which every arm (a side of IF, a later operand of a conjunction, the
    body of a quantifier …) reports that it was evaluated. The copy must give the same figures as the model.
    An expression that no model reaches is a rule that nothing checks, and a right side of => that no model
    reaches is a property that holds for want of a case.

    Without MODEL the recorded measurement is shown, with its date; definitions that have changed since are
    listed as not measured. A model whose arms have all been reached by smaller models does not run. A run of
    --record-evidence that was stopped goes on where it was. Models of which a module was edited are measured
    again. A large model takes hours: with --timeout, a model that does not end counts as begun. Expressions
    that it reached count; an expression in one of its modules that nothing reached may still be reached. A
    begun model then goes on from the states of its traces alone, in the folder `traces` beside the
    specification, which are often farther than it came.

    \b
    conform coverage
    conform coverage MCTour MCClosed
    conform coverage --record-evidence --timeout 20
    conform coverage --record-evidence

    Exit codes: 0; 2 a wrong command line or specification; 3 TLC failed, or a copy gave other figures.
    """
    check_json_place(json_file)
    if models and record:
        raise ConformError(
            "--record-evidence measures all models: leave out the models, or --record-evidence."
        )
    listed = named_manifest(manifest)
    output_folder(out)
    file, specification = listed.folder / "evidence" / NAME, listed.folder
    limits = Limits(memory, timeout)
    traces = traces_by_model(specification.parent / "traces") if models or record else {}
    if record:
        _measure_all(_of_tlc(listed.entries), file, specification, limits, traces)
    shown = (
        Recorded(VERSION, date.today().isoformat(), _measured_now(_named(models, listed), limits, traces))
        if models
        else read_record(file, specification)
    )
    of_tlc = [] if models else _of_tlc(listed.entries)
    unsure = modules_of_others(of_tlc, shown.reached)
    write_text(out / "index.html", page(shown, specification, len(_of_tlc(listed.entries)), unsure))
    _print(shown, specification, out / "index.html", of_tlc, unsure)
    if not models and not record:
        print(f"Recorded on {shown.date} with TLC {shown.version}; nothing was measured now.")
    write_json(json_file, _to_json(shown, unsure))


def _of_tlc(entries: Iterable[Entry]) -> list[Entry]:
    """The models of TLC, the fast ones first: an arm counts for the first model that reaches it."""
    return sorted((one for one in entries if one.engine == "tlc"), key=lambda one: (one.seconds, one.name))


def _named(names: Sequence[str], listed: Manifest) -> list[Entry]:
    entries = [listed.entry(name) for name in dict.fromkeys(names)]
    for entry in entries:
        if entry.engine != "tlc":
            raise ConformError(f"{entry.name} is a model of {entry.engine}: only TLC's are measured.")
    return _of_tlc(entries)


def _measure_all(
    entries: Sequence[Entry], file: Path, specification: Path, limits: Limits, traces: Traces
) -> None:
    """Measure the models that are not in the record, those that may run longer than before, and those with an
    edited module."""
    output_folder(file.parent)
    reached = Reached()
    if file.is_file():
        before = read_record(file, specification)
        reached = before.reached
        reached.forget({one.name for one in entries if before.edited & module_names(one)})
    known = {*reached.models, *reached.idle}
    longer = {name for name, ran in reached.begun.items() if limits.timeout is None or ran < limits.timeout}
    rest = [one for one in entries if one.name not in known | (reached.begun.keys() - longer)]

    def keep() -> None:
        write_record(file, reached, specification)

    _measure(rest, reached, limits, keep)
    _follow(entries, reached, limits, traces, keep)


def _measured_now(entries: Sequence[Entry], limits: Limits, traces: Traces) -> Reached:
    reached = Reached()
    _measure(entries, reached, limits, lambda: None)
    _follow(entries, reached, limits, traces, lambda: None)
    return reached


def _measure(
    entries: Sequence[Entry], reached: Reached, limits: Limits, after_each: Callable[[], None]
) -> None:
    with running("measuring coverage") as progress:
        for number, entry in enumerate(entries, start=1):
            measure(entry, reached, limits, _shown(progress, f"{number} of {len(entries)}, {entry.name}"))
            after_each()


def _follow(
    entries: Sequence[Entry],
    reached: Reached,
    limits: Limits,
    traces: Traces,
    after_each: Callable[[], None],
) -> None:
    """Let begun models go on from the states of their traces, unless they did so before with as many
    traces."""
    begun = [one for one in entries if one.name in reached.begun]
    rest = [one for one in begun if reached.followed.get(one.name, 0) != len(traces.get(one.name, []))]
    with running("measuring coverage of traces") as progress:
        for number, entry in enumerate(rest, start=1):
            show = _shown(progress, f"{number} of {len(rest)}, {entry.name}")
            follow(entry, traces.get(entry.name, []), reached, limits, show)
            after_each()


def _shown(progress: Progress, place: str) -> Progress:
    return lambda line: progress(f"{place}: {line}")


def _print(
    shown: Recorded, specification: Path, file: Path, listed: Sequence[Entry], unsure: Collection[str]
) -> None:
    table = modules(shown, specification)
    rows = [[one.name, str(one.arms), str(one.reached), str(len(one.gaps))] for one in table if one.gaps]
    if rows:
        print_table(["module", "arms", "reached", "unreached expressions"], rows)
    missing = sorted(gaps(shown), key=lambda arm: arm.module in unsure)
    for arm in missing[:_MOST]:
        still = " (a model that did not end may reach it)" if arm.module in unsure else ""
        print(f"  {arm.module}.tla, line {arm.begin[0]}: {arm.what} in {arm.definition}{still}")
    if len(missing) > _MOST:
        print(f"  … and {len(missing) - _MOST} more")
    known = {*shown.reached.models, *shown.reached.begun, *shown.reached.idle}
    if rest := [one.name for one in listed if one.name not in known]:
        print(
            f"  {len(rest)} of {len(listed)} models of TLC are not measured: "
            "conform coverage --record-evidence"
        )
    for module, name in shown.changed:
        print(f"  {module}!{name} has changed since: not measured")
    counts = sums(shown)
    print(
        f"{counts.reached:,} of {counts.arms:,} arms are reached, {counts.gaps} expressions by no model and "
        f"no trace ({_runs(shown.reached)}): {file}"
    )


def _runs(reached: Reached) -> str:
    """The counts of models by how far they ran."""
    begun = f", {len(reached.begun)} were stopped before their end" if reached.begun else ""
    if reached.followed:
        begun += f", and {len(reached.followed)} of these went on from the states of their traces"
    return f"{len(reached.models)} models ran to their end{begun}, {len(reached.idle)} had nothing to add"


def _to_json(shown: Recorded, unsure: Collection[str]) -> dict[str, Any]:
    return {
        "command": "coverage",
        "version": shown.version,
        "recorded": shown.date,
        "models": shown.reached.models,
        "begun": shown.reached.begun,
        "idle": shown.reached.idle,
        "followed": shown.reached.followed,
        "reached": len(shown.reached.by),
        "unreached": [
            {
                "module": arm.module,
                "definition": arm.definition,
                "what": arm.what,
                "open": arm.module in unsure,
            }
            | {
                "line": arm.begin[0],
                "column": arm.begin[1],
                "last_line": arm.end[0],
                "last_column": arm.end[1],
            }
            for arm in gaps(shown)
        ],
        "changed": [f"{module}!{name}" for module, name in shown.changed],
    }
