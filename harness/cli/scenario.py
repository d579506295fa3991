"""`conform scenario`: golden scenarios on the specification and, if asked for, on an implementation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.check import Checked, Difference
from harness.cli.console import (
    MANIFEST,
    check_json_place,
    print_table,
    running,
    spec_folder,
    write_json,
)
from harness.cli.options import JsonFile, ManifestFile, TlcMemory, TlcTimeout, dialect_option
from harness.engines.base import Limits
from harness.engines.tlc import VERSION
from harness.errors import ENGINE_FAILED, HOLDS, MODEL_VIOLATED, NOT_CONFORMANT, ConformError
from harness.files import read_text, write_text
from harness.itf import read_trace, trace_to_text, write_trace
from harness.kinds.scenarios import Played, scenario_of_trace, scenario_text
from harness.kit import is_carried
from harness.replay.files import replay_files
from harness.replay.report import explain as explain_failure
from harness.replay.report import not_loaded, summary
from harness.scenario.files import (
    explain,
    play_files,
    rewritten_file,
    scenario_files,
    stale,
    trace_beside,
)
from harness.scenario.scripts.model import PlayedScript
from harness.words import counted


def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE|DIR...", help="Scenarios (*.yaml), or folders of scenarios."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Replay them, too: on python, or stdio:COMMAND (the line protocol).")
    ] = None,
    dialect: Annotated[str, dialect_option("The dialect of the target.")] = "kip-848",
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write the states that the specification gives into the files.")
    ] = False,
    from_trace: Annotated[
        Path | None, typer.Option("--from", metavar="TRACE", help="Print an ITF trace as a scenario.")
    ] = None,
    manifest: ManifestFile = MANIFEST,
    json_file: JsonFile = None,
    memory: TlcMemory = "1g",
    timeout: TlcTimeout = None,
) -> None:
    """Check that scenarios are behaviours of the specification, state by state as they are written.

    A scenario is a script with its expected transcript, and with the errata of its document: each state that
    the document prints wrongly must be rejected. TLC plays all of them, those of each kind of group in one
    run. The behaviour is kept beside the file (basic.itf.json for basic.yaml), so that it can be replayed
    without TLC: `conform replay traces/golden/basic.yaml`.

    --rewrite replaces the states that are missing or differ, and the behaviours, and touches nothing else;
    a diff shows what changed. Without it nothing is written.

    \b
    conform scenario traces/golden
    conform scenario traces/golden/basic.yaml --target "stdio:python -m coordinator --stdio"
    conform scenario traces/golden --rewrite && git diff traces/golden
    conform scenario --from build/check/MCNoR9.itf.json > late-heartbeat.yaml

    Exit codes: 0 all as written; 10 a scenario is no behaviour of the specification, or an erratum is one, or
    a kept behaviour is stale; 11 the target does not conform; 2 a wrong file; 3 TLC or the target failed.
    """
    check_json_place(json_file)
    if from_trace is not None:
        if files or rewrite:
            raise ConformError(
                "--from prints one trace as a scenario: it goes with no files and no --rewrite."
            )
        name = from_trace.name.removesuffix(".itf.json")
        print(scenario_text(scenario_of_trace(read_trace(from_trace), name, str(from_trace))), end="")
        return
    paths = scenario_files(files or [])
    if rewrite and (installed := [file for file in paths if is_carried(file)]):
        raise ConformError(
            f"{installed[0]} came with the installed package: copy the scenario, and name the copy."
        )
    spec = spec_folder(manifest)
    limits = Limits(memory, timeout, 1)
    played = _play(paths, spec, limits)
    if rewrite:
        changed = [line for one in played for line in _rewrite(one)]
        print("\n".join(changed) or "every file is as the specification gives it")
        played = _play(paths, spec, limits) if changed else played
    wrong = {one.scenario.file: [*explain(one), *stale(one)] for one in played}
    _show(played, wrong)
    exit_code = MODEL_VIOLATED if any(wrong.values()) else HOLDS
    result = {"command": "scenario", "exit_code": exit_code, "models": [_result(played, wrong)]}
    write_json(json_file, result)
    if target is not None and exit_code == HOLDS:
        _replay(paths, target, dialect)
    raise typer.Exit(exit_code)


def _play(files: list[Path], spec: Path, limits: Limits) -> list[Played | PlayedScript]:
    with running(f"checking {counted(len(files), 'scenario')} with tlc"):
        return play_files(files, spec, limits)


def _rewrite(played: Played | PlayedScript) -> list[str]:
    """Write the missing and different states; the names of the written files."""
    path = Path(played.scenario.file)
    old = read_text(path, "The scenario")
    written = []
    if (new := rewritten_file(played, old)) != old:
        write_text(path, new)
        written.append(f"rewritten: {path}")
    beside = trace_beside(path)
    if not beside.is_file() or read_text(beside, "The trace") != trace_to_text(played.trace):
        write_trace(beside, played.trace)
        written.append(f"rewritten: {beside}")
    return written


def _show(played: list[Played | PlayedScript], wrong: dict[str, list[str]]) -> None:
    rows = [
        [
            one.scenario.file,
            str(len(one.scenario.steps)),
            str(len(one.scenario.errata)),
            "not as written" if wrong[one.scenario.file] else "as written",
        ]
        for one in played
    ]
    print_table(["scenario", "steps", "errata", "verdict"], rows)
    for lines in wrong.values():
        for line in lines:
            print(line)


def _result(played: list[Played | PlayedScript], wrong: dict[str, list[str]]) -> dict[str, object]:
    """All scenarios as one checked model, for the report."""
    lines = [line for lines in wrong.values() for line in lines]
    facts = {
        "outcome": "violated" if any(one.stuck or one.mismatches for one in played) else "holds",
        "distinct_states": sum(len(one.trace.states) for one in played),
        "depth": max(len(one.trace.states) for one in played),
    }
    differences = tuple(Difference("scenario", "as written", line) for line in lines)
    checked = Checked("GoldenScenarios", "tlc", VERSION, facts, differences=differences)
    errata = sum(len(one.scenario.errata) for one in played)
    purpose = f"Golden scenarios as written; {errata} uncorrected states are rejected"
    return {**checked.to_json(), "purpose": purpose, "bounds": f"{len(played)} scripts"}


def _replay(files: list[Path], target: str, dialect: str) -> None:
    result = replay_files(files, target, dialect)
    for line in summary(result, target):
        print(line)
    if result.failures:
        print("\n".join(explain_failure(result.failures[0], target, dialect)))
        raise ConformError(f"The target {target} does not conform.", NOT_CONFORMANT)
    if sentence := not_loaded(result, target):
        raise ConformError(sentence, ENGINE_FAILED)
