"""`conform gate`: one command for continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, named_manifest, running, write_json
from harness.cli.options import Wait, WaiverFile, dialect_option
from harness.engines.base import Limits
from harness.errors import HOLDS, ConformError, meant
from harness.files import REPLACED, output_folder, write_text
from harness.gate.again import Again, again, change_of
from harness.gate.output import (
    code_quality,
    github_annotations,
    junit,
    markdown,
    result_line,
    to_json,
    verdict,
)
from harness.gate.page import page
from harness.gate.run import Gate
from harness.gate.steps import KINDS, WIRE_KINDS, Done, GateOptions, Outcome, Step, over_the_wire
from harness.identify.own import identified
from harness.kit import is_carried, kit_folder
from harness.manifest import TIERS, Manifest
from harness.replay.dialects import TEXT
from harness.waivers import read_waivers
from harness.words import counted

EVERY_KIND = tuple(dict.fromkeys([*KINDS, *WIRE_KINDS]))


def command(
    target: Annotated[
        str, typer.Option(help="The implementation, as replay takes it: python, stdio:COMMAND …")
    ] = "python",
    dialect: Annotated[
        str | None,
        dialect_option(
            "The dialect of the target; by default kip-848, or the identified dialect of a broker."
        ),
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            min=0.01,
            metavar="N",
            help="Time for everything: random work is cut, with a message; the rest fails.",
        ),
    ] = 25,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND[,KIND]", help=f"Only these steps: {', '.join(EVERY_KIND)}."),
    ] = None,
    tier: Annotated[str, typer.Option(help="The models to check: small or soak.")] = "small",
    seeds: Annotated[
        int, typer.Option(min=0, metavar="N", help="The number of seeds for each kind of random work.")
    ] = 5,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first run; each next run has the next seed.")
    ] = 848,
    wait: Wait = 0,
    traces: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with golden/, counterexamples/ and corpus/.")
    ] = None,
    manifest: Annotated[Path | None, typer.Option(help="The manifest, beside which the modules are.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("build/gate"),
    waivers: WaiverFile = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="The result (default: OUT/gate.json).")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="JUnit's XML (default: OUT/gate.xml).")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="A page to read (default: OUT/gate.html).")
    ] = None,
    quality_file: Annotated[
        Path | None, typer.Option("--code-quality", metavar="FILE", help="GitLab's code quality report.")
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory for an engine, as Java takes it.")] = "2g",
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of TLC.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Take no recorded result of the tier.")] = False,
) -> None:
    """Run all checks for one verdict: on this repository, or on your own coordinator.

    \b
    evidence  recorded results of models that are not checked here, with the hashes of their modules
    replay    the committed traces of the target's dialect; for KIP-848's text all folders without a dialect
    scenario  golden scenarios against the specification
    check     the models of a tier: recorded results that still count, and the rest computed side by side
    exhaust   every request in every state of a small model, on the target
    random    random behaviours of a model, replayed on the target
    simulate  whole groups around python, under random faults; another target on random schedules beside it

    For a live broker, or the mock, the steps are doctor (its declared operations), identify (its dialect,
    unless --dialect names it) and replay (the traces of that dialect, with --wait time-outs, too).

    Where the specification comes with an installed package and no checkout is at hand, scenario, check,
    exhaust and random are left out: they need Java, and without --only the gate needs no Java.

    So that no record hides an error, the gate computes some records anew: those that differ from the base of
    this change (CONFORM_BASE, or where this branch left the main one, or the commit before), and a tenth of
    the others of the tier, whose turn follows from the number of commits. Where git does not know the change,
    all are computed.

    Time: random work (random, simulate) comes last and is cut where the time is over. The gate reports that,
    and it is no failure. Fixed checks are never cut: a check that lacks the time has failed. So a gate that
    passed has done all fixed checks.

    Recorded results that count are one line together. A stale or missing result has a line of its own, and
    all are in the file of --json and on the page.

    Every step is done, also after one that failed. On GitHub (GITHUB_ACTIONS) failures are annotations, and
    the summary of the job is written; GitLab reads JUnit's XML and --code-quality.

    A waiver accepts differences on the target. A waiver that covers nothing or has expired is a failure.

    \b
    conform gate --minutes 25
    conform gate --target "stdio:./my-coordinator" --only replay,simulate

    Exit codes, the most serious of all steps: 3 an engine or the target failed, or the time was over; 2 the
    manifest or a trace is wrong or missing; 10 a model is not as expected; 11 the target does not conform;
    12 evidence is missing or stale; 0 otherwise.
    """
    if tier not in TIERS:
        raise ConformError(f"There is no tier {tier!r}: choose {' or '.join(TIERS)}.")
    identification = None
    if dialect is None and over_the_wire(target) and _is_wanted(only, ("identify", "replay")):
        with running(f"identifying {target}") as progress:
            identification = identified(target, progress)
        dialect = identification.dialect
    models = named_manifest(manifest or kit_folder("spec") / "manifest.json")
    options = GateOptions(
        manifest=models,
        traces=traces or kit_folder("traces"),
        out=out,
        seconds=minutes * 60,
        tier=tier,
        target=target,
        dialect=dialect or TEXT.name,
        limits=Limits(memory, None, workers),
        waivers=read_waivers(waivers, date.today()),
        waivers_file=waivers,
        kinds=_kinds(only),
        again=_again(models, tier, fresh),
        seeds=seeds,
        seed=seed,
        wait_s=wait,
        identified=identification,
    )
    gate = Gate(options)
    gate.steps()
    output_folder(out)
    json_file, junit_file, html_file = (
        given or out / f"gate.{suffix}"
        for given, suffix in ((json_file, "json"), (junit_file, "xml"), (html_file, "html"))
    )
    for file in (json_file, junit_file, html_file, quality_file):
        check_json_place(file)
    try:
        finished = _run(gate, json_file)
    finally:
        gate.close()
    exit_code, sentence = verdict(finished)
    write_json(json_file, to_json(options, finished))
    write_text(junit_file, junit(finished))
    write_text(html_file, page(options, finished))
    if quality_file is not None:
        write_text(quality_file, code_quality(finished, Path.cwd()))
    _tell_github(options, finished)
    print(_counts(finished))
    cut = sum(done.outcome is Outcome.CUT for done in finished)
    if cut:
        print(f"cut, as the {minutes:g} minutes were over: {cut} of the random steps")
    print(f"page: {html_file}")
    apart = options.waivers.excepted("differences") if exit_code == HOLDS else ""
    print(f"gate: {sentence}{apart}")
    raise typer.Exit(exit_code)


def _again(manifest: Manifest, tier: str, fresh: bool) -> Again:
    """The models whose recorded results are not taken."""
    if fresh:
        return Again({entry.name: "--fresh" for entry in manifest.entries if entry.tier == tier})
    if is_carried(manifest.folder):
        return Again()
    return again(manifest, tier, change_of(manifest.folder))


def _counts(finished: list[Done]) -> str:
    """Counts of the models' results of this run, and of the recorded ones."""
    models = [done.details for done in finished if done.step.kind in ("check", "evidence")]
    ran = sum(bool(model.get("ran")) for model in models)
    recorded = [model["evidence"]["recorded"] for model in models if model.get("evidence")]
    dates = sorted(filter(None, recorded))
    when = ""
    if dates:
        when = f" on {dates[0]}" if dates[0] == dates[-1] else f" from {dates[0]} to {dates[-1]}"
    return f"models: {ran} computed now, {len(dates)} recorded{when}"


def _is_wanted(only: list[str] | None, kinds: Sequence[str]) -> bool:
    wanted = _kinds(only)
    return wanted is None or not wanted.isdisjoint(kinds)


def _kinds(only: list[str] | None) -> frozenset[str] | None:
    if not only:
        return None
    kinds = [kind.strip() for given in only for kind in given.split(",")]
    for kind in kinds:
        if kind not in EVERY_KIND:
            known = ", ".join(EVERY_KIND)
            raise ConformError(
                f"--only: there is no kind {kind!r}; there are {known}.{meant(kind, EVERY_KIND)}"
            )
    return frozenset(kinds)


def _run(gate: Gate, json_file: Path) -> list[Done]:
    """All steps, each with a line when it is done; valid recorded results are one line together."""
    steps = gate.steps()
    finished = _recorded(gate, steps, json_file)
    for number, step in enumerate(steps[len(finished) :], start=len(finished) + 1):
        with running(f"[{number}/{len(steps)}] {step.kind} {step.name}") as progress:
            done = gate.run(step, progress)
        finished.append(done)
        print(f"[{number}/{len(steps)}] {result_line(done)}", flush=True)
    return finished


def _recorded(gate: Gate, steps: Sequence[Step], json_file: Path) -> list[Done]:
    """The first steps, those of evidence: a repository has hundreds, nearly all with the same result."""
    options = list(takewhile(lambda step: step.kind == "evidence" and not step.left_out, steps))
    if not options:
        return []
    finished: list[Done] = []
    with running(
        f"[1-{len(options)}/{len(steps)}] evidence: {counted(len(options), 'recorded result')}"
    ) as progress:
        for number, step in enumerate(options, start=1):
            progress(f"{number} of {len(options)}")
            finished.append(gate.run(step, progress))
    for number, done in enumerate(finished, start=1):
        if done.failed:
            print(f"[{number}/{len(steps)}] {result_line(done)}", flush=True)
    count = len(finished) - sum(done.failed for done in finished)
    print(
        f"[1-{len(options)}/{len(steps)}] evidence: {count} of {counted(len(options), 'recorded result')} "
        f"{'counts' if count == 1 else 'count'}; each is in {json_file}",
        flush=True,
    )
    return finished


def _tell_github(options: GateOptions, finished: list[Done]) -> None:
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for line in github_annotations(finished, Path(os.environ.get("GITHUB_WORKSPACE", "."))):
        print(line, flush=True)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(summary).open("a", encoding="utf-8", errors=REPLACED) as stream:
                stream.write(markdown(options, finished))
        except OSError as error:
            print(f"the summary {summary} cannot be written: {error.strerror}")
