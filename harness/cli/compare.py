"""`conform compare`: the same random schedule on two implementations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.cli.options import JsonFile, KeptFolder, NoKept, Schedule, WaiverFile, dialect_option
from harness.errors import NOT_CONFORMANT, ConformError
from harness.files import output_folder
from harness.kept import FOLDER, Kept, tried
from harness.simulate.left_out import left_out
from harness.simulate.pair import Pair
from harness.simulate.report import (
    ComparisonOptions,
    explain,
    explain_divergence,
    file_name,
    summary,
    to_json,
)
from harness.simulate.run import RunFailed, Simulated, simulate, simulate_again
from harness.simulate.schedule import read_schedule, schedule_of, write_schedule
from harness.targets import open_target
from harness.targets.base import Target
from harness.targets.recording import recorded
from harness.waivers import read_waivers


def command(
    target: Annotated[
        str, typer.Option(help="An implementation, as replay takes it; its state decides the next request.")
    ],
    against: Annotated[str, typer.Option(help="A second implementation, to compare with --target.")],
    dialect: Annotated[str, dialect_option("The dialect of both implementations.")] = "kip-848",
    against_dialect: Annotated[
        str | None, dialect_option("Dialect of --against, if it is another one.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps of all runs together.")] = 10_000,
    length: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps of a run; each run begins with no group.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 848,
    max_differences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Stop after N kinds of differences.")
    ] = 1,
    schedule: Schedule = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Write the requests to --target and its answers to this log, for conform validate.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for schedules that fail.")] = Path(
        "build/compare"
    ),
    json_file: JsonFile = None,
    waivers: WaiverFile = None,
    kept_folder: KeptFolder = FOLDER,
    no_kept: NoKept = False,
) -> None:
    """Compare two implementations on the same random schedule.

    Heartbeats, commits and fetches, right and wrong ones, changes of topics, time, timers and fail-overs are
    drawn from the seed and from the state that the first implementation shows. Response, group, armed timers
    and written records are compared. The first difference ends a run; its schedule is shrunk to the shortest
    one after which they differ in the same way. Schedules are written to files, which --replay takes. Those
    of the last runs on the same targets are tried first, and end a run on which they still fail. The
    operations of a run in which an implementation fails are written to a file, too.

    \b
    conform compare --target python --against "stdio:python -m coordinator --stdio"

    Exit codes: 0 no difference; 11 differences; 2 a wrong command line, or an implementation that lacks an
    operation; 3 an implementation failed.
    """
    check_json_place(json_file)
    options = ComparisonOptions(target, against, dialect, against_dialect or dialect, seed, steps, length)
    if schedule is not None:
        return _replay(options, schedule, record, json_file, waivers)
    both = ", ".join(dict.fromkeys((options.dialect, options.against_dialect)))
    kept = Kept(None if no_kept else kept_folder, "compare", f"{target} against {against}", both)
    _compare(options, out, json_file, waivers, max_differences, record, kept)


def _compare(
    options: ComparisonOptions,
    out: Path,
    json_file: Path | None,
    waivers: Path | None,
    max_differences: int,
    record: Path | None,
    kept: Kept,
) -> None:
    """Two targets."""
    accepted = read_waivers(waivers, date.today())
    output_folder(out)
    with (
        _opened(options, record) as pair,
        running(f"comparing {options.target} and {options.against}") as progress,
    ):

        def show(so_far: Simulated) -> None:
            progress(f"{so_far.steps:,} steps, {len(so_far.divergences)} differences")

        before = [schedule_of(one, kept.path or out) for one in kept.read()]
        failure: RunFailed | None = None
        result = simulate_again(pair, before, accepted.covers)
        again = len(result.divergences)
        if not again:
            try:
                result = simulate(
                    pair, options.seed, options.steps, options.length, max_differences, accepted.covers, show
                )
            except RunFailed as error:
                failure, result = error, error.result
        omitted = left_out(pair.dialects, pair.can)
    not_kept = kept.write(asdict(one.schedule) for one in result.divergences)
    if before:
        print(tried("schedule", len(before), again, "nothing else was tried"))
    for line in summary(options, result, pair.hidden, omitted, accepted):
        print(line)
    files = [out / file_name(one.signature, options.seed) for one in result.divergences]
    for one, path in zip(result.divergences, files, strict=True):
        write_schedule(one.schedule, path)
        for line in explain_divergence(options, one, path):
            print(line)
    write_json(json_file, to_json(options, result, pair.hidden, omitted, accepted, files, failure))
    if not_kept:
        print(not_kept)
    if failure is not None:
        path = out / f"failed-{options.seed}.json"
        write_schedule(failure.schedule, path)
        print(f"the operations of the run that failed: {path}\n  again: {options.replay(path)}")
        raise failure
    problems = list(accepted.problems())
    if result.divergences:
        problems.insert(
            0, f"{options.target} and {options.against} differ: {result.divergences[0].signature}."
        )
    if problems:
        raise ConformError(" ".join(problems), NOT_CONFORMANT)


def _replay(
    options: ComparisonOptions, path: Path, record: Path | None, json_file: Path | None, waivers: Path | None
) -> None:
    schedule, accepted = read_schedule(path), read_waivers(waivers, date.today())
    with _opened(options, record) as pair:
        result = simulate_again(pair, [schedule], accepted.covers)
        omitted = left_out(pair.dialects, pair.can)
    files = [path] * len(result.divergences)
    write_json(json_file, to_json(options, result, pair.hidden, omitted, accepted, files))
    for one in result.divergences:
        for line in explain(options, one.schedule, one.operations, one.done.differences):
            print(line)
        raise ConformError(
            f"{options.target} and {options.against} differ after operation {one.operations} of {path}: "
            f"{one.signature}.",
            NOT_CONFORMANT,
        )
    for line in accepted.lines():
        print(line)
    waived = "only waived differences" if result.seen else "no difference"
    early = ": the next one computed a target assignment that was not scripted" if result.unscripted else ""
    print(f"{result.steps} of {len(schedule.operations)} operations, {waived}{early}")


@contextmanager
def _opened(options: ComparisonOptions, record: Path | None) -> Iterator[Pair]:
    with ExitStack() as stack:
        first: Target = stack.enter_context(closing(open_target(options.target, options.dialect)))
        if record is not None:
            first = stack.enter_context(recorded(first, record))
        second = stack.enter_context(closing(open_target(options.against, options.against_dialect)))
        yield Pair(first, second)
