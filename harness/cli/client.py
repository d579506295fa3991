"""`conform client`: a consumer judged under schedules, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, print_table, running, write_json
from harness.clients.judge import Judged
from harness.clients.run import lines, rows, run_seeds, shortest, to_json
from harness.clients.simulated import simulate
from harness.clients.timeline import Setup
from harness.errors import NOT_CONFORMANT, ConformError
from harness.targets.base import Json


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="`reference`, this kit's member, or MODULE:CLASS, a subclass of coordinator.member.Member.",
        ),
    ],
    seeds: Annotated[int, typer.Option(min=1, help="The number of schedules.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first schedule; then one by one.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write rules and findings as JSON, too.")
    ] = None,
) -> None:
    """Run a consumer under random schedules with faults, and say for each rule if it holds.

    The coordinator of this kit answers, on a simulated clock. A rule is a property of the client's view, with
    its requirement. Of a rule that is broken the shortest schedule is printed that shows it. A rule that had
    nothing to judge says so.

    \b
    conform client reference
    conform client reference --seeds 10 --seed 7
    conform client faulty:ClosesSilently --json build/client.json

    Exit codes: 0 all rules hold; 11 a rule is broken; 2 there is no such client.
    """
    from harness.targets.groups.client import client_parts

    check_json_place(json_file)
    parts = client_parts(name)

    def play(setup: Setup, steps: Sequence[Json]) -> Judged:
        return simulate(parts, parts.member, setup, steps)[0]

    with running(f"judging {name}"):
        result = run_seeds(play, range(seed, seed + seeds))
    with running("shrinking"):
        result.found = {rule: shortest(play, found) for rule, found in result.found.items()}
    print_table(["requirement", "rule", "verdict", "judged"], rows(result))
    for found in result.found.values():
        print()
        print("\n".join(lines(found)))
    write_json(json_file, to_json(name, result))
    if result.found:
        raise ConformError(f"{name} breaks {', '.join(result.found)}.", NOT_CONFORMANT)
    print(f"{name}: {result.schedules} schedules, no rule broken")
