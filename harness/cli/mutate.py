"""`conform mutate`: what small changes of the coordinator and of the specification the checks notice."""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, print_table, running, write_json
from harness.cli.options import JsonFile
from harness.errors import EVIDENCE_MISSING, HOLDS, NOT_CONFORMANT, USAGE, ConformError

OPERATORS = "mutmut"


def command(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH[:LINES]", help="Mutate only this file or folder, or lines: FILE:40-60."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Judge N of the mutants, drawn from the seed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the order.")] = 848,
    jobs: Annotated[
        int, typer.Option(min=1, help="Mutants at a time (default: one for each processor).")
    ] = os.cpu_count() or 1,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, metavar="M", help="Begin no mutant after M minutes.")
    ] = None,
    tour: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Replay every step of MODEL on the coordinator's mutants."),
    ] = None,
    states: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="The specification's mutants on models of at most N states alone."
        ),
    ] = 6_000,
    fast: Annotated[
        bool, typer.Option("--fast", help="The coordinator's mutants on committed traces alone.")
    ] = False,
    with_types: Annotated[
        bool,
        typer.Option(
            "--with-types", help="Check surviving mutants with mypy: a mutant of a wrong type does not count."
        ),
    ] = False,
    with_tests: Annotated[
        bool,
        typer.Option("--with-tests", help="Run tests/coordinator on mutants that survive the kit's checks."),
    ] = False,
    at_least: Annotated[float, typer.Option(metavar="PERCENT", help="Fail if the score is lower.")] = 0.0,
    journal: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The file of judged mutants; a run that was stopped goes on from it."
        ),
    ] = Path("build/mutate/journal.jsonl"),
    json_file: JsonFile = None,
) -> None:
    """Change the coordinator and the specification in small ways, one at a time, and see which checks notice.

    Mutants of the coordinator and of its members are judged by a replay of the committed traces, those of
    each dialect on the coordinator in that dialect, then of tours that take every step of MCTour (--tour
    names others), then by simulations: schedules of one client, and whole groups. Mutants of the
    specification are judged by the golden scenarios and the corpus, which must give the very states that they
    give without it, and by the small models (--states bounds them) of which a definition has changed in their
    dialect: properties must hold, and figures be as in the manifest; mutants that a figure alone notices are
    counted apart. The first check that notices ends a mutant. A mutant that takes ten times as long as the
    original counts as killed; mutants that do not load or parse are counted apart. Those that survive are
    listed; tests/mutants/equivalent.toml argues which of them change nothing.

    With --minutes a sample is judged, which is drawn from the seed. A run that was stopped goes on where it
    was, unless a source of its results has changed.

    \b
    conform mutate --only coordinator/consumer/reconcile.py
    conform mutate --only spec/Coordinator.tla --sample 40 --minutes 20 --json build/results/mutate.json

    Exit codes: 0 judged; 11 the score is lower than --at-least; 12 equivalent.toml is stale; 2 a wrong
    command line, or nothing to mutate; 3 TLC failed.
    """
    check_json_place(json_file)
    if importlib.util.find_spec(OPERATORS) is None:
        needed = "pip install 'group-conformance[mutate]'"
        raise ConformError(f"Mutants are made with {OPERATORS}: {needed}.", USAGE)
    from harness.mutate.equivalent import FILE, read_equivalent, stale
    from harness.mutate.mutant import read_only
    from harness.mutate.report import COLUMNS, Mutated, figures, rows, survivors, to_json
    from harness.mutate.run import TOURS, Plan, all_mutants, judge_all, sampled

    began, root = time.monotonic(), Path(".")
    known = read_equivalent(FILE)
    every = all_mutants(root, [read_only(text) for text in only or []])
    chosen = sampled(every, sample, seed)
    until = None if minutes is None else began + 60 * minutes
    tours = () if fast else tuple(tour or TOURS)
    plan = Plan(root, jobs, until, tours, journal, with_types, with_tests, seed, states, not fast)
    judged = []
    with running(f"judging {len(chosen)} mutants") as progress:
        for one in judge_all(chosen, plan, progress):
            judged.append(one)
            left = sum(other.outcome == "survived" for other in judged)
            progress(f"{len(judged):,} judged, {left} survived")
    whole = [] if any(":" in text for text in only or []) else every
    request = {
        "only": only or [],
        "sample": sample,
        "seed": seed,
        "minutes": minutes,
        "states": states,
        "tours": list(plan.tours),
        "more": list(plan.more),
    }
    result = Mutated(chosen, judged, known, list(stale(known, whole, judged)), request)
    print_table(COLUMNS, list(rows(result)))
    for line in (*figures(result), *survivors(result)):
        print(line)
    for problem in result.problems:
        print(problem)
    score = result.counts()["score"]
    exit_code = EVIDENCE_MISSING if result.problems else HOLDS
    if not exit_code and score is not None and score < at_least:
        exit_code = NOT_CONFORMANT
    write_json(json_file, to_json(result, exit_code))
    raise typer.Exit(exit_code)
