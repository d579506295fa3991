"""`conform check`: models, with the engine that their manifest entry names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from harness.check import Checked, check_entry, check_model, judge_record
from harness.cli.console import (
    MANIFEST,
    check_json_place,
    find_model,
    named_manifest,
    print_table,
    running,
    write_json,
)
from harness.cli.options import JsonFile, Libraries, ManifestFile
from harness.engines.apalache_home import download_apalache
from harness.engines.base import EngineError, Failure, Limits, Model, Progress
from harness.engines.process import side_by_side
from harness.engines.registry import ENGINES
from harness.errors import (
    HOLDS,
    ConformError,
    worst,
)
from harness.evidence import STORE, Records, renew
from harness.files import output_folder
from harness.manifest import TIERS, Entry

Job = tuple[Model, str, Entry | None]
"""A model, its engine, its entry if it has one."""
_MOST_RECORDED = 20
"""The number of recorded results that are listed; more are only counted, while they are as expected."""


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL|PATH.tla", help="Models of the manifest, or modules by path."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration of a module given by path (default: the .cfg beside it)."),
    ] = None,
    library: Libraries = None,
    engine: Annotated[
        str | None, typer.Option(help="tlc or apalache: the engine for a path, or only its models.")
    ] = None,
    tier: Annotated[str, typer.Option(help="Without MODEL: small, soak or all models.")] = "small",
    manifest: ManifestFile = MANIFEST,
    deadlock: Annotated[bool, typer.Option(help="Check a module given by path for deadlocks.")] = True,
    out: Annotated[Path, typer.Option(help="Folder for logs and counterexamples.")] = Path("build/check"),
    json_file: JsonFile = None,
    memory: Annotated[str, typer.Option(help="Memory for the engine, as Java takes it.")] = "2g",
    timeout: Annotated[
        float | None, typer.Option(min=0.1, metavar="S", help="Stop an engine after S seconds.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of TLC.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Models at a time (default: one for each processor)."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Take no recorded result.")] = False,
    anew: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Run this model, too, whatever is recorded."),
    ] = None,
    record_evidence: Annotated[
        bool, typer.Option("--record-evidence", help="Keep results that are as expected in evidence/.")
    ] = False,
    reread_evidence: Annotated[
        bool,
        typer.Option(
            "--reread-evidence", help="Only read recorded outputs again, with a parser that has changed."
        ),
    ] = False,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch the pinned Apalache if it is missing.")
    ] = False,
) -> None:
    """Check models, and compare their results with the manifest.

    Compared exactly: outcome, violated property, length of the counterexample (steps), number of distinct
    states, depth. A model that must fail and holds is a failure. A module given by path should hold.

    A model of the manifest whose result is recorded, in evidence/ beside the manifest or by an earlier run in
    build/store, is not run: a record counts for the same definitions, bounds, options and engine. The output
    names the models that ran, with the reason, and the recorded ones, with their dates. For an engine that
    this machine does not have, the record counts with any options, and the output says so.

    Logs and counterexamples (ITF, ready for `conform replay`) go to --out.

    \b
    conform check
    conform check MCSmall MCNoR9 --fresh
    conform check --tier small --record-evidence
    conform check path/to/Spec.tla --config path/to/Other.cfg --engine apalache

    Exit codes: 0 all as expected; 10 a result that is not as expected, as a wrong figure in the manifest; 12
    evidence missing or stale; 13 undecided: a model did not end in --timeout seconds; 2 a wrong command line,
    manifest or specification; 3 an engine failed.
    """
    check_json_place(json_file)
    if engine is not None and engine not in ENGINES:
        raise ConformError(f"There is no engine {engine!r}: choose tlc or apalache.")
    chosen = _jobs(models or [], config, library or [], engine, tier, manifest, deadlock)
    known = {model.name for model, _, _ in chosen}
    others = [name for name in anew or [] if name not in known]
    chosen += _jobs(others, None, [], engine, tier, manifest, deadlock) if others else []
    output_folder(out)
    if download and any(job[1] == "apalache" for job in chosen):
        _download()
    folder = named_manifest(manifest).folder if any(entry for _, _, entry in chosen) else manifest.parent
    if reread_evidence:
        checked = [judge_record(entry, renew(entry, folder)) for _, _, entry in chosen if entry]
    else:
        taking = _Taking(Records(folder, STORE), fresh, frozenset(anew or []), record_evidence)
        checked = taking.checked(chosen, out, Limits(memory, timeout, workers), jobs)
    exit_code = worst(one.exit_code for one in checked)
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


@dataclass(frozen=True)
class _Taking:
    """The choice of results that are taken from records: not those of `anew`, and none with `fresh`.

    With `keep` a result as expected becomes the committed record.
    """

    records: Records
    fresh: bool
    anew: frozenset[str]
    keep: bool

    def checked(self, jobs: list[Job], out: Path, limits: Limits, at_once: int | None) -> list[Checked]:
        """The result of each job, in the order of the jobs; the longest runs begin first."""
        done: dict[int, Checked] = {}
        waiting: dict[int, str] = {}
        for number, job in enumerate(jobs):
            try:
                taken, why = self._taken(job, out)
            except ConformError as error:
                taken, why = Checked(job[0].name, job[1], error=error, entry=job[2]), ""
            if taken:
                done[number] = taken
            else:
                waiting[number] = why
        processors = os.cpu_count() or 1
        limits = replace(limits, spare=max(1, processors // max(1, len(waiting))))
        order = sorted(waiting, key=lambda number: -_seconds(jobs[number]))
        with running(_title([jobs[number] for number in order])) as progress:
            work = [partial(self._run, jobs[n], waiting[n], out, limits, progress) for n in order]
            ran = side_by_side(work, at_once or max(1, processors // (limits.workers or limits.spare)))
        done.update(zip(order, ran, strict=True))
        return [done[number] for number in range(len(jobs))]

    def _taken(self, job: Job, out: Path) -> tuple[Checked | None, str]:
        """The recorded result, or the reason why the model must run."""
        model, _, entry = job
        if entry is None:
            return None, ""
        if self.fresh or model.name in self.anew:
            return None, "--fresh" if self.fresh else "in every run"
        record = self.records.find(entry)
        if not record.counts:
            return None, record.why
        taken = judge_record(entry, record, out)
        if self.keep and not taken.differences:
            taken = judge_record(entry, self.records.publish(entry), out)
        return taken, ""

    def _run(self, job: Job, why: str, out: Path, limits: Limits, progress: Progress) -> Checked:
        model, engine, entry = job

        def show(line: str) -> None:
            progress(f"{model.name}: {line}")

        show(why or engine)
        try:
            if entry is None:
                return check_model(model, engine, out, limits, show)
            return check_entry(entry, self.records, out, limits, show, keep=self.keep, why=why)
        except ConformError as error:
            return Checked(name=model.name, engine=engine, error=error, entry=entry)


def _seconds(job: Job) -> float:
    return job[2].seconds if job[2] else 0.0


def _title(jobs: list[Job]) -> str:
    if not jobs:
        return "reading records"
    if len(jobs) == 1:
        return f"checking {jobs[0][0].name} with {jobs[0][1]}"
    return f"checking {len(jobs)} models"


def _show(checked: list[Checked]) -> None:
    good = [one for one in checked if one.evidence and one.exit_code == HOLDS]
    shown = checked if len(good) <= _MOST_RECORDED else [one for one in checked if one not in good]
    rows = [
        [
            one.name,
            f"{one.engine} {one.version}".strip(),
            _outcome(one),
            *(_figure(one, what) for what in ("distinct_states", "depth", "length")),
            f"{one.seconds:.1f} s" if one.facts else "",
            _verdict(one),
        ]
        for one in shown
    ]
    if rows:
        print_table(["model", "engine", "outcome", "states", "depth", "length", "time", "verdict"], rows)
    for one in checked:
        if one.why:
            print(f"{one.name}: ran, {one.why}")
        for difference in one.differences:
            print(f"{one.name}: {difference.what}: expected {difference.expected}, got {difference.got}")
        if one.differences and one.counterexample:
            print(f"{one.name}: counterexample in {one.counterexample}")
        if one.evidence and (one.missing or not one.evidence.counts):
            print(f"{one.name}: {_evidence(one)}")
        if one.error:
            print(f"{one.name}: {one.error.message}")
    print(counts(checked))


def counts(checked: Sequence[Checked]) -> str:
    """Counts of the results of this run, and of those that are recorded, with the dates of the records."""
    ran = [one for one in checked if one.ran]
    taken = sorted(one.evidence.recorded for one in checked if one.evidence and one.evidence.counts)
    processor = sum(one.result.processor for one in ran if one.result)
    words = f"{len(ran)} ran now" + (f" ({processor:.0f} s of processor time)" if ran else "")
    if taken:
        when = f"on {taken[0]}" if taken[0] == taken[-1] else f"from {taken[0]} to {taken[-1]}"
        words += f", {len(taken)} recorded {when}"
    without = len(checked) - len(ran) - len(taken)
    return words + (f", {without} without a result" if without else "")


def _outcome(one: Checked) -> str:
    if not one.facts:
        return "undecided" if one.undecided else "-"
    of = f"({', '.join(one.requirements)})" if one.requirements else ""
    return f"{one.facts['outcome']} {one.facts['property'] or ''} {of}".strip()


def _figure(one: Checked, what: str) -> str:
    figure = one.facts.get(what) if one.facts else None
    return "" if figure is None else f"{figure:,}"


def _verdict(one: Checked) -> str:
    if one.error:
        return one.error.failure.value if isinstance(one.error, EngineError) else "error"
    if one.differences:
        return "not as expected"
    if one.evidence:
        return f"recorded {one.evidence.recorded}" if one.evidence.counts else f"record {one.evidence.status}"
    return "as expected"


def _evidence(one: Checked) -> str:
    """The status of a record that was taken, or that is not valid, with the reasons; and the reason why the
    engine did not run."""
    assert one.evidence is not None
    sentence = f"the recorded result is {one.evidence.status.value}"
    if one.missing:
        sentence = f"{one.engine} is not on this machine; {sentence}"
    reasons = f" ({'; '.join(one.evidence.reasons)})" if one.evidence.reasons else ""
    way_out = "" if one.evidence.counts else "; record it with --record-evidence"
    cause = f"\n{one.name}: {one.missing}" if one.missing else ""
    return f"{sentence}{reasons}{way_out}{cause}"
