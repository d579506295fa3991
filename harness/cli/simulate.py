"""`conform simulate`: whole groups, or the same random schedule on two targets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.cli.simulate_groups import (
    Assumption,
    Place,
    check_whole_groups,
    replay_groups,
    simulate_groups,
)
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.files import output_folder
from harness.simulate.groups.run import Asked as Whole
from harness.simulate.left_out import left_out
from harness.simulate.pair import Pair
from harness.simulate.repeat import repeat
from harness.simulate.report import Asked, explain, explain_found, file_name, summary, to_json
from harness.simulate.run import Simulated, simulate
from harness.simulate.schedule import read_schedule, write_schedule
from harness.targets import open_target
from harness.targets.base import Target
from harness.targets.recording import recorded
from harness.waivers import read_waivers


def command(
    target: Annotated[
        str, typer.Option(help="An implementation, as replay takes it; of two it is asked first.")
    ] = "python",
    against: Annotated[str | None, typer.Option(help="Another one, to compare it with.")] = None,
    dialect: Annotated[str, typer.Option(help="What both speak.")] = "kip-848",
    against_dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the other one speaks, if it is not the same.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Two targets: how many steps, of all runs; 10,000.")
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Steps of a run, 200; then both start from nothing."),
    ] = None,
    seed: Annotated[int, typer.Option(help="What is drawn follows from it alone.")] = 848,
    max_differences: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End with N kinds of differences; 1.")
    ] = None,
    schedule: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Do this schedule again, instead.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Write down what --target was told and answered, for conform validate.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where schedules that fail are written.")] = Path(
        "build/simulate"
    ),
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON, too.")
    ] = None,
    waivers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Differences that are accepted: signature, reason, expires (TOML)."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Whole groups: so many seeds, from --seed on, by Spark.")
    ] = 1,
    events: Annotated[int, typer.Option(min=1, metavar="N", help="Events of each seed.")] = 5_000,
    without: Annotated[
        list[Assumption] | None,
        typer.Option(help="Take away what the protocol relies on: then a violation must be found."),
    ] = None,
    master: Annotated[str, typer.Option(help="Spark's: local[2], spark://HOST:7077, yarn …")] = "local[*]",
    package: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What a cluster's workers run: build/conform.pex of `make package`."
        ),
    ] = None,
    spark_memory: Annotated[str, typer.Option(help="Memory for Spark's JVM, as Java takes it.")] = "1500m",
) -> None:
    """Whole groups under random faults; or, with --against, the same random schedule on two targets.

    Whole groups: consumers, with their clocks, and the coordinator in one simulation of discrete events.
    Messages are lost, late, doubled and reordered; consumers crash, leave, come back, stall and are cut off;
    the coordinator fails over; topics come, grow, go and are made anew; members of some groups compute the
    target themselves. After every event the invariants are checked of what it touched (R7 in both views, E1
    to E4, R1, R2, R5, R6, A4 to A7, O2, O3, K1 to K3, P2), and at the end of a seed the faults stop and every
    group must converge (R8). What fails is shrunk to the shortest schedule. --without takes an assumption
    away: r9, the network that drops what a process gave up on, or exemption, by which a zombie may still own
    what is another's.

    Two targets: heartbeats, commits and fetches, right and wrong ones, changes of topics, time, timers and
    fail-overs are drawn from the seed and from what the first implementation shows. Response, group, armed
    timers and written records are compared. The first difference ends a run; its schedule is shrunk to the
    shortest one after which they differ in the same way.

    Schedules are written to files, which --replay takes. --record writes the log of a run, which conform
    validate takes; of two targets that of the first.

    \b
    conform simulate --seed 7
    conform simulate --seeds 200
    conform simulate --seed 7 --events 800 --record build/seed-7.jsonl
    conform simulate --target python --against "stdio:python -m coordinator --stdio"

    Exit codes: 0 all holds, no difference; 11 a violation or differences; 2 a wrong command line, or an
    implementation that lacks what is needed for it; 3 an implementation or Spark failed.
    """
    check_json_place(json_file)
    if against is None:
        only = {"--steps": steps, "--length": length, "--max-differences": max_differences}
        check_whole_groups(
            target, dialect, {**only, "--against-dialect": against_dialect, "--waivers": waivers}
        )
        if schedule is not None:
            return replay_groups(schedule, record)
        if record is not None and seeds > 1:
            raise ConformError("--record writes down one run: leave out --seeds.", USAGE)
        taken = set(without or ())
        wanted = Whole(seed, seeds, events, Assumption.r9 not in taken, Assumption.exemption not in taken)
        return simulate_groups(wanted, Place(out, json_file, master, spark_memory, package, record))
    asked = Asked(target, against, dialect, against_dialect or dialect, seed, steps or 10_000, length or 200)
    if schedule is not None:
        return _replay(asked, schedule, record)
    _compare(asked, out, json_file, waivers, max_differences or 1, record)


def _compare(
    asked: Asked,
    out: Path,
    json_file: Path | None,
    waivers: Path | None,
    max_differences: int,
    record: Path | None,
) -> None:
    """Two targets."""
    accepted = read_waivers(waivers, date.today())
    output_folder(out)
    with (
        _opened(asked, record) as pair,
        running(f"simulating on {asked.target} and {asked.against}") as progress,
    ):

        def show(so_far: Simulated) -> None:
            progress(f"{so_far.steps:,} steps, {len(so_far.found)} differences")

        result = simulate(pair, asked.seed, asked.steps, asked.length, max_differences, accepted.covers, show)
        omitted = left_out(pair.dialects, pair.can)
    for line in summary(asked, result, pair.hidden, omitted, accepted):
        print(line)
    files = [out / file_name(one.signature, asked.seed) for one in result.found]
    for one, path in zip(result.found, files, strict=True):
        write_schedule(one.schedule, path)
        for line in explain_found(asked, one, path):
            print(line)
    write_json(json_file, to_json(asked, result, pair.hidden, omitted, accepted, files))
    problems = list(accepted.problems())
    if result.found:
        problems.insert(0, f"{asked.target} and {asked.against} differ: {result.found[0].signature}.")
    if problems:
        raise ConformError(" ".join(problems), NOT_CONFORMANT)


def _replay(asked: Asked, path: Path, record: Path | None) -> None:
    schedule = read_schedule(path)
    with _opened(asked, record) as pair:
        seen = repeat(pair, schedule)
    if seen is None:
        print(f"{len(schedule.operations)} operations, no difference")
        return
    for line in explain(asked, schedule, seen.number, seen.done.differences):
        print(line)
    raise ConformError(
        f"{asked.target} and {asked.against} differ after operation {seen.number} of {path}: "
        f"{seen.done.signatures()[0]}.",
        NOT_CONFORMANT,
    )


@contextmanager
def _opened(asked: Asked, record: Path | None) -> Iterator[Pair]:
    with ExitStack() as stack:
        first: Target = stack.enter_context(closing(open_target(asked.target, asked.dialect)))
        if record is not None:
            first = stack.enter_context(recorded(first, record))
        second = stack.enter_context(closing(open_target(asked.against, asked.against_dialect)))
        yield Pair(first, second)
