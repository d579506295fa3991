"""`conform simulate`: the same random schedule on two targets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.errors import NOT_CONFORMANT, ConformError
from harness.files import output_folder
from harness.simulate.generate import left_out
from harness.simulate.pair import Pair
from harness.simulate.repeat import repeat
from harness.simulate.report import Asked, explain, explain_found, file_name, summary, to_json
from harness.simulate.run import Simulated, simulate
from harness.simulate.schedule import read_schedule, write_schedule
from harness.targets import open_target
from harness.waivers import read_waivers


def command(
    target: Annotated[str, typer.Option(help="An implementation, as replay takes it; it is asked first.")],
    against: Annotated[str, typer.Option(help="Another one.")],
    dialect: Annotated[str, typer.Option(help="What both speak.")] = "kip-848",
    against_dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the other one speaks, if it is not the same.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="How many steps, of all runs.")] = 10_000,
    length: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps of a run; then both start from nothing.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="What is drawn follows from it alone.")] = 848,
    max_differences: Annotated[
        int, typer.Option(min=1, metavar="N", help="End with N kinds of differences.")
    ] = 1,
    schedule: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Do this schedule again, instead.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where schedules that differ are written.")] = Path(
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
) -> None:
    """Give two implementations the same random schedule, and compare everything after each step.

    Requests of members, right and wrong ones, changes of topics, time, timers and fail-overs are drawn from
    the seed and from what the first implementation shows. Response, group, armed timers and written records
    are compared. The first difference ends a run; its schedule is shrunk to the shortest one after which
    they differ in the same way, and written to a file, which --replay takes.

    \b
    conform simulate --target python --against "stdio:python -m coordinator --stdio"

    Exit codes: 0 no difference; 11 differences; 2 a wrong command line, or an implementation that lacks what
    is needed for it; 3 an implementation failed.
    """
    check_json_place(json_file)
    asked = Asked(target, against, dialect, against_dialect or dialect, seed, steps, length)
    if schedule is not None:
        return _replay(asked, schedule)
    accepted = read_waivers(waivers, date.today())
    output_folder(out)
    with _opened(asked) as pair, running(f"simulating on {target} and {against}") as progress:

        def show(so_far: Simulated) -> None:
            progress(f"{so_far.steps:,} steps, {len(so_far.found)} differences")

        result = simulate(pair, seed, steps, length, max_differences, accepted.covers, show)
        omitted = left_out(pair.dialects, pair.can)
    for line in summary(asked, result, pair.hidden, omitted, accepted):
        print(line)
    files = [out / file_name(one.signature, seed) for one in result.found]
    for one, path in zip(result.found, files, strict=True):
        write_schedule(one.schedule, path)
        for line in explain_found(asked, one, path):
            print(line)
    write_json(json_file, to_json(asked, result, pair.hidden, omitted, accepted, files))
    problems = list(accepted.problems())
    if result.found:
        problems.insert(0, f"{target} and {against} differ: {result.found[0].signature}.")
    if problems:
        raise ConformError(" ".join(problems), NOT_CONFORMANT)


def _replay(asked: Asked, path: Path) -> None:
    schedule = read_schedule(path)
    with _opened(asked) as pair:
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
def _opened(asked: Asked) -> Iterator[Pair]:
    with ExitStack() as stack:
        first = stack.enter_context(closing(open_target(asked.target, asked.dialect)))
        second = stack.enter_context(closing(open_target(asked.against, asked.against_dialect)))
        yield Pair(first, second)
