"""`conform check`: models, with the engine that their manifest entry names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.check import ENGINES, Checked, check_entry, check_model
from harness.cli.console import (
    MANIFEST,
    check_json_place,
    find_model,
    named_manifest,
    print_table,
    running,
    write_json,
)
from harness.engines.apalache_home import download_apalache
from harness.engines.base import EngineError, Failure, Limits, Model
from harness.errors import ENGINE_FAILED, EVIDENCE_MISSING, HOLDS, MODEL_VIOLATED, USAGE, ConformError
from harness.evidence import Status
from harness.files import output_folder
from harness.manifest import TIERS, Entry

_WORST_FIRST = (ENGINE_FAILED, USAGE, MODEL_VIOLATED, EVIDENCE_MISSING, HOLDS)
Job = tuple[Model, str, Entry | None]
"""A model, its engine, its entry if it has one."""


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL|PATH.tla", help="Models of the manifest, or modules by path."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration of a module given by path (default: the .cfg beside it)."),
    ] = None,
    library: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="A folder with more modules, for a path.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="tlc or apalache: the engine for a path, or only its models.")
    ] = None,
    tier: Annotated[str, typer.Option(help="Without MODEL: small, soak or all models.")] = "small",
    manifest: Annotated[Path, typer.Option(help="The manifest.")] = MANIFEST,
    deadlock: Annotated[bool, typer.Option(help="Check a module given by path for deadlocks.")] = True,
    out: Annotated[Path, typer.Option(help="Folder for logs and counterexamples.")] = Path("build/check"),
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON, too.")
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory for the engine, as Java takes it.")] = "2g",
    timeout: Annotated[
        float | None, typer.Option(min=0.1, metavar="S", help="Stop an engine after S seconds.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of TLC.")] = None,
    record_evidence: Annotated[
        bool, typer.Option("--record-evidence", help="Keep results that are as expected in evidence/.")
    ] = False,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch the pinned Apalache if it is missing.")
    ] = False,
) -> None:
    """Check models and compare what they give with the manifest.

    Compared exactly: outcome, violated property, length of the counterexample (steps), number of distinct
    states, depth. A model that must fail and holds is a failure. A module given by path should hold.

    Logs and counterexamples (ITF, ready for `conform replay`) go to --out. For an engine that this machine
    does not have, the recorded evidence counts, and the output says so.

    \b
    conform check
    conform check MCSmall MCNoR9 --workers 2
    conform check path/to/Spec.tla --config path/to/Other.cfg --engine apalache

    Exit codes: 0 all as expected; 10 something else than expected, a wrong figure in the manifest included;
    12 evidence missing or stale; 2 a wrong command line, manifest or specification; 3 an engine failed.
    """
    check_json_place(json_file)
    if engine is not None and engine not in ENGINES:
        raise ConformError(f"There is no engine {engine!r}: choose tlc or apalache.")
    jobs = _jobs(models or [], config, library or [], engine, tier, manifest, deadlock)
    output_folder(out)
    if download and any(job[1] == "apalache" for job in jobs):
        _download()
    limits = Limits(memory, timeout, workers)
    checked = [_check(job, manifest.parent, out, limits, record_evidence) for job in jobs]
    exit_code = next(code for code in _WORST_FIRST if any(one.exit_code == code for one in checked))
    _show(checked)
    write_json(
        json_file,
        {"command": "check", "exit_code": exit_code, "models": [one.to_json() for one in checked]},
    )
    raise typer.Exit(exit_code)


def _jobs(
    names: list[str],
    config: Path | None,
    libraries: list[Path],
    engine: str | None,
    tier: str,
    manifest: Path,
    deadlock: bool,
) -> list[Job]:
    if tier not in (*TIERS, "all"):
        raise ConformError(f"There is no tier {tier!r}: choose {', '.join(TIERS)} or all.")
    jobs: list[Job] = []
    if names:
        for name in names:
            model, entry = find_model(name, config, manifest, libraries)
            if entry is None and not deadlock:
                model = replace(model, args={"deadlock": False})
            jobs.append((model, entry.engine if entry else engine or "tlc", entry))
    else:
        entries = [entry for entry in named_manifest(manifest).entries if tier in (entry.tier, "all")]
        jobs = [(entry.model(), entry.engine, entry) for entry in entries]
    chosen = [job for job in jobs if engine in (None, job[1])]
    if not chosen:
        raise ConformError(f"No model of {manifest} is of the tier {tier} and the engine {engine or 'any'}.")
    return chosen


def _download() -> None:
    try:
        ENGINES["apalache"].version()
    except EngineError as error:
        if error.failure is not Failure.MISSING:
            raise
        with running("downloading Apalache"):
            download_apalache()


def _check(job: Job, folder: Path, out: Path, limits: Limits, keep: bool) -> Checked:
    model, engine, entry = job
    with running(f"checking {model.name} with {engine}") as progress:
        try:
            if entry is None:
                return check_model(model, engine, out, limits, progress)
            return check_entry(entry, folder, out, limits, progress, keep=keep)
        except ConformError as error:
            return Checked(name=model.name, engine=engine, error=error, entry=entry)


def _show(checked: list[Checked]) -> None:
    rows = [
        [
            one.name,
            f"{one.engine} {one.version}".strip(),
            _outcome(one),
            *(_figure(one, what) for what in ("distinct_states", "depth", "length")),
            f"{one.seconds:.1f} s" if one.facts else "",
            _verdict(one),
        ]
        for one in checked
    ]
    print_table(["model", "engine", "outcome", "states", "depth", "length", "time", "verdict"], rows)
    for one in checked:
        for difference in one.differences:
            print(f"{one.name}: {difference.what}: expected {difference.expected}, got {difference.got}")
        if one.differences and one.counterexample:
            print(f"{one.name}: counterexample in {one.counterexample}")
        if one.evidence:
            print(f"{one.name}: {_evidence(one)}")
        if one.error:
            print(f"{one.name}: {one.error.message}")


def _outcome(one: Checked) -> str:
    if not one.facts:
        return "-"
    return f"{one.facts['outcome']} {one.facts['property'] or ''}".strip()


def _figure(one: Checked, what: str) -> str:
    figure = one.facts.get(what) if one.facts else None
    return "" if figure is None else f"{figure:,}"


def _verdict(one: Checked) -> str:
    if one.error:
        return one.error.failure.value if isinstance(one.error, EngineError) else "error"
    if one.evidence:
        return f"evidence {one.evidence.status.value}"
    return "not as expected" if one.differences else "as expected"


def _evidence(one: Checked) -> str:
    assert one.evidence is not None
    said = f"{one.engine} is not on this machine; the recorded result is {one.evidence.status.value}"
    reasons = f" ({'; '.join(one.evidence.reasons)})" if one.evidence.reasons else ""
    way_out = "" if one.evidence.status is Status.ACCEPTED else "; record it with --record-evidence"
    return f"{said}{reasons}{way_out}"
