"""`conform client`: a consumer judged under schedules, rule by rule."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, print_table, running, write_json
from harness.cli.kept_option import KeptFolder, NoKept
from harness.clients.judge import Judged
from harness.clients.over_sockets import Sockets, judge_agent, shortest_on_wire
from harness.clients.picture import messages, picture
from harness.clients.run import Found, Result, left_out, lines, rows, run_seeds, shortest, to_json
from harness.clients.simulated import simulate, topic_ids
from harness.clients.timeline import Setup
from harness.errors import NOT_CONFORMANT, ConformError
from harness.files import output_folder, write_text
from harness.kept import FOLDER, Kept, tried
from harness.targets.base import Json


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="`reference`, this kit's member, or MODULE:CLASS, a subclass of "
            "coordinator.members.consumer.Member.",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Judge the consumer of this agent, in real time over a socket."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="With --agent: schedules at a time.")] = 4,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="The number of schedules: 300, with --agent 20.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first schedule; then one by one.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write rules and findings as JSON, too.")
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a sequence diagram of each finding there, as Mermaid text."),
    ] = None,
    kept_folder: KeptFolder = FOLDER,
    no_kept: NoKept = False,
) -> None:
    """Run a consumer under random schedules with faults, and say for each rule if it holds.

    The coordinator of this kit answers: to NAME on a simulated clock, to the agent of a real consumer on a
    socket. A rule is a property of the client's view, with its requirement. For a broken rule the command
    prints the shortest schedule that shows the breach. A rule that had nothing to judge says so. A finding
    about an agent shows itself 5 times of 5, and 5 times of 5 with all times doubled; what does not is only
    named. Seeds under which a rule was broken before are tried first.

    \b
    conform client reference
    conform client reference --seeds 10 --seed 7
    conform client faulty:ClosesSilently --json build/client.json --pictures build/clients
    conform client --agent "python examples/clients/librdkafka.py" --seeds 8 --jobs 8

    Exit codes: 0 all rules hold; 11 a rule is broken; 2 there is no such client; 3 the agent failed.
    """
    check_json_place(json_file)
    if (name is None) == (agent is None):
        raise ConformError("Name one client to judge: `reference`, MODULE:CLASS, or an agent with --agent.")
    client = agent or name or ""
    kept = Kept(None if no_kept else kept_folder, "client", client, "kip-848")
    before = [int(one.get("seed", 0)) for one in kept.read()]
    asked = dict.fromkeys([*before, *range(seed, seed + (seeds or (20 if agent else 300)))])
    result = _over_sockets(client, asked, jobs) if agent else _simulated(client, asked)
    broken = {found.seed for found in result.found.values()}
    not_kept = kept.write({"seed": one} for one in sorted(broken))
    if before:
        print(tried("seed", len(before), len(broken.intersection(before))))
    print_table(["requirement", "rule", "verdict", "judged"], rows(result))
    if said := left_out(result):
        print(f"\n{said}")
    for found in result.found.values():
        print()
        print("\n".join(lines(found)))
    for rule, found in result.unsure.items():
        print(f"\n{rule} broke under seed {found.seed}, but not in each of 5 repetitions: no finding.")
    if not_kept:
        print(not_kept)
    asked_for = ["--agent", agent] if agent else [client]

    def more(found: Found) -> Json:
        words = ["conform", "client", *asked_for, "--seed", str(found.seed), "--seeds", "1"]
        return {"again": shlex.join(words), "messages": messages(found, topic_ids())}

    write_json(json_file, to_json(client, result, more))
    if pictures is not None:
        for rule, found in result.found.items():
            write_text(output_folder(pictures) / f"{rule}.mmd", picture(found, topic_ids()))
    if result.found:
        raise ConformError(f"{client} breaks {', '.join(result.found)}.", NOT_CONFORMANT)
    print(f"{client}: {result.schedules} schedules, no rule broken")


def _simulated(name: str, seeds: Iterable[int]) -> Result:
    from harness.targets.groups.client import client_parts

    parts = client_parts(name)

    def play(setup: Setup, steps: Sequence[Json]) -> Judged:
        return simulate(parts, parts.member, setup, steps)[0]

    with running(f"judging {name}"):
        result = run_seeds(play, seeds)
    with running("shrinking"):
        result.found = {rule: shortest(play, found) for rule, found in result.found.items()}
    return result


def _over_sockets(agent: str, seeds: Iterable[int], jobs: int) -> Result:
    from harness.targets.groups.served import ServedCoordinator

    try:
        words = shlex.split(agent)
    except ValueError as error:
        raise ConformError(f"The command of --agent cannot be read: {error}.") from None
    if not words:
        raise ConformError("--agent is a command, as in `python examples/clients/librdkafka.py`.")
    sockets = Sockets(ServedCoordinator, words, jobs)
    with running("judging the agent") as say:
        result = judge_agent(sockets, seeds, say)
    with running("shrinking") as say:
        result.found = {rule: shortest_on_wire(sockets, found, say) for rule, found in result.found.items()}
    return result
