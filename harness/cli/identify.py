"""`conform identify`: the dialect that an implementation speaks, and where it departs from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.cli.options import JsonFile
from harness.files import write_text
from harness.identify.judge import Identified
from harness.identify.own import identified

NAMED = 6
"""The number of departures in a line."""


def command(
    target: Annotated[
        str, typer.Option(help="The implementation: python, stdio:COMMAND, or another that replay takes.")
    ] = "python",
    json_file: JsonFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the dialect's name, for --dialect FILE of other commands."
        ),
    ] = None,
) -> None:
    """Find out which dialect an implementation speaks, and in which departures it differs from that.

    Each departure has probes: short schedules on which its values differ. The implementation is given each of
    them once, and the Python coordinator is given them in every dialect and mix that could explain the
    answers. The name that is printed is what the option --dialect of other commands takes; with --out a file
    has the name, which --dialect takes, too.

    On a live broker only the probes of requests and topics are tried. The output names the departures that
    these probes do not decide. Where they do not tell versions apart, the newest version is taken.

    \b
    conform identify --target "stdio:python -m coordinator --stdio" --out build/dialect.txt
    conform identify --target broker:127.0.0.1:9092

    Exit codes: 0 the dialect is identified; 2 there is no such target, or no probe can be given to it; 11
    none of its answers is an answer of any dialect; 3 the target failed.
    """
    check_json_place(json_file)
    check_json_place(out)
    with running(f"identifying {target}") as progress:
        result = identified(target, progress)
    for line in lines(result):
        print(line)
    if out is not None:
        comments = "\n".join(f"# {line}" for line in lines(result))
        write_text(out, f"{comments}\n{result.dialect}\n")
    write_json(json_file, {"command": "identify", **result.to_json()})


def _some(names: Iterable[str]) -> str:
    """The first names, and the number of the others, which --json has."""
    first, rest = [*islice(known := iter(names), NAMED)], sum(1 for _ in known)
    return ", ".join(first) + (f", and {rest} more (--json has them)" if rest else "")


def lines(result: Identified) -> Iterator[str]:
    """The result in words, the dialect first."""
    changes = ", ".join(f"{name}={value}" for name, value in result.changes.items())
    yield result.base + (f" except {changes}" if changes else "")
    if result.inconsistent:
        parts = (f"{name} ({' and '.join(values)})" for name, values in result.inconsistent.items())
        yield f"inconsistent: {', '.join(parts)}"
    if result.unknown:
        parts = (f"{name} {count}" for name, count in result.unknown.most_common())
        yield (
            f"{result.unknown.total()} of {result.probes} probes fit no value of their departure: "
            f"{_some(parts)}"
        )
    if undecided := [name for name in result.undecided if name not in result.unknown]:
        yield f"undecided, for want of a probe that tells their values apart: {_some(undecided)}"
    if result.as_well:
        yield f"the same departures: {', '.join(result.as_well)}"
    if result.not_told_apart:
        yield f"these probes do not tell it from: {', '.join(result.not_told_apart)}"
    for lacking, count in sorted(result.left_out.items()):
        yield f"not tried: {count} probes, the target has no {lacking}"
    yield f'{result.probes} probes; for other commands: --dialect "{result.dialect}"'
