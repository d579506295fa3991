"""`conform doctor`: whether an adapter does what it says, operation by operation, and what it is good for."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from harness.cli.console import check_json_place, running, write_json
from harness.cli.options import JsonFile, dialect_option
from harness.doctor.examine import Doctor
from harness.doctor.report import levels, rows, to_json
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, ConformError
from harness.targets import announced_dialect, start_target

WIDTH = 80


def command(
    target: Annotated[
        str, typer.Option(help="The implementation: python, stdio:COMMAND, or another that replay takes.")
    ] = "python",
    dialect: Annotated[
        str | None,
        dialect_option("The dialect of the target; by default the dialect of its hello or of its name."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            "--answer-timeout",
            min=0.1,
            metavar="S",
            help="Seconds that an answer of stdio:COMMAND may take.",
        ),
    ] = 20.0,
    json_file: JsonFile = None,
) -> None:
    """Test an adapter against the contract of targets, and tell which tests the adapter allows.

    Each operation that it declares is used in a small conversation with a target of its own; no trace is
    needed. For each operation that is wrong, the output shows the line that was sent, the answer, and the
    rule of the protocol. The level is black box (responses), observable (the state, too) or loadable
    (everything).

    \b
    conform doctor --target "stdio:python -m coordinator --stdio"

    Exit codes: 0 all declared operations work; 11 one does not; 2 there is no such target; 3 the target died,
    or did not answer.
    """
    check_json_place(json_file)
    with running(f"examining {target}") as progress:
        spoken = dialect or announced_dialect(target, timeout)
        doctor = Doctor(target, spoken, lambda: start_target(target, spoken, timeout))
        examined = doctor.examine(progress)
    _print(["operation", "", "what was seen"], rows(examined))
    _print(["level", "", "what it buys"], levels(examined))
    print(f"level: {examined.level}")
    write_json(json_file, to_json(examined))
    if examined.wrong:
        raise ConformError(
            f"The target {target} does not do what it declares: {', '.join(examined.wrong)}.",
            ENGINE_FAILED if examined.died else NOT_CONFORMANT,
        )


def _print(columns: list[str], lines: list[list[str]]) -> None:
    table = Table(*columns, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    table.columns[-1].overflow = "fold"
    Console(highlight=False, markup=False, width=WIDTH).print(table)
    print()
