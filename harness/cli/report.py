"""`conform report`: what a run found, as one page and as one screen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from harness.cli.console import MANIFEST, check_json_place, write_json
from harness.cli.options import JsonFile
from harness.clients.judge import RULES
from harness.coverage.record import NAME, Recorded, read_record
from harness.errors import worst
from harness.files import output_folder, write_text
from harness.kit import kit_path
from harness.manifest import read_manifest
from harness.report.coverage import coverage
from harness.report.page import SPECIFICATION, page
from harness.report.readers.client import Client, recorded
from harness.report.results import Results, read_results
from harness.report.specification import modules_of_others
from harness.report.specification import page as specification_page
from harness.report.summary import WIDTH, print_summary
from harness.report.verdict import MEANINGS, findings


def command(
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="The build folder, with results/ and graphs/ in it.")
    ] = Path("build"),
    out: Annotated[
        Path | None, typer.Option(help="File for the page (default: DIR/report/index.html).")
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print a summary of one screen, too.")] = False,
    manifest: Annotated[Path, typer.Option(help="The manifest, for the evidence.")] = MANIFEST,
    json_file: JsonFile = None,
) -> None:
    """Write one self-contained page from the results of the other verbs, and give the verdict.

    Read are DIR/results/check*.json, replay*.json, exhaust*.json and generate*.json (which --json of those
    verbs writes; in a file's name the source of the traces follows the verb) and DIR/graphs/*.svg; if they
    are there, graph*.json, simulate*.json, client*.json, mutate*.json, diff*.json, bench*.json and
    measured*.json, too, and DIR/mutants.json. For a model of the manifest that was not checked, and for the
    kit's own client (`conform client reference`), the recorded evidence counts. The output names the results
    that are missing.

    On the page each finding has a page of its own: the requirement, the shortest trace step by step beside
    its sequence diagram, what each step changes, and the command that shows it again. Each requirement has
    the places that cite it in specification, coordinator and tests, and the number of steps and traces that
    exercise it. Beside the page is specification.html, with the recorded coverage of the specification
    (`conform coverage`).

    \b
    conform report --results build --summary

    Exit codes, the most serious that applies: 3 an engine failed; 2 a file that is not a result; 10 a model
    is not as expected; 11 differences on a target; 13 a model ran out of time; 12 results or evidence are
    missing, or a seeded bug was not caught; 0 otherwise.
    """
    check_json_place(json_file)
    manifest = kit_path(manifest)
    models = read_manifest(manifest) if manifest.is_file() else None
    outcomes = read_results(results, models, _recorded_clients(manifest))
    file = out or results / "report" / "index.html"
    output_folder(file.parent)
    recorded = _coverage_of_specification(manifest)
    if recorded and models:
        in_tlc = [entry for entry in models.entries if entry.engine == "tlc"]
        unsure = modules_of_others(in_tlc, recorded.reached)
        text = specification_page(recorded, manifest.parent, len(in_tlc), unsure)
        write_text(file.parent / SPECIFICATION, text)
    write_text(file, page(outcomes, recorded))
    exit_code = worst(finding.exit_code for finding in findings(outcomes))
    write_json(json_file, {"command": "report", "exit_code": exit_code, **_to_json(outcomes)})
    if summary:
        console = Console(highlight=False, markup=False)
        if not console.is_terminal:
            console = Console(highlight=False, markup=False, width=WIDTH)
        print_summary(outcomes, file, console)
    else:
        print(f"{file}: {MEANINGS[exit_code]}")
        for finding in findings(outcomes):
            print(f"  {finding.sentence}")
    raise typer.Exit(exit_code)


def _coverage_of_specification(manifest: Path) -> Recorded | None:
    """The recorded coverage of the specification by its models; None where nothing is recorded."""
    file = manifest.parent / "evidence" / NAME
    return read_record(file, manifest.parent) if file.is_file() else None


def _recorded_clients(manifest: Path) -> list[Client]:
    """The result of the kit's own member, from the record beside the manifest."""
    file = manifest.parent / "evidence" / "Clients.json"
    rules = {rule.__name__: (rule.requirement, rule.sentence) for rule in RULES}
    return [recorded(file, manifest.parent.parent, rules)] if file.is_file() else []


def _to_json(results: Results) -> dict[str, Any]:
    return {
        "findings": [vars(finding) for finding in findings(results)],
        "models": len(results.models),
        "distinct_states": sum(model.distinct_states or 0 for model in results.models),
        "traces": sum(replay.traces for replay in results.replays),
        "steps": sum(replay.steps for replay in results.replays),
        "target_steps": sum(replay.target_steps for replay in results.replays),
        "differences": sum(replay.differences for replay in results.replays),
        "coverage": {
            counted.title: {
                "counts": dict(sorted(counted.counts.items())),
                "unreached": list(counted.unreached),
            }
            for counted in coverage(results.replays)
        },
    }
