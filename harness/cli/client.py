"""`conform client`: a consumer judged under schedules, rule by rule."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, print_table, running, write_json
from harness.cli.options import JsonFile, KeptFolder, NoKept
from harness.clients.judge import Judged
from harness.clients.over_sockets import Sockets, judge_agent, shortest_on_wire
from harness.clients.picture import drawing, messages, picture
from harness.clients.run import BrokenRule, Result, left_out, lines, rows, run_schedules, shortest, to_json
from harness.clients.schedules import Origin, Schedule, drawn, of_findings
from harness.clients.simulated import simulate, topic_ids
from harness.clients.timeline import Setup
from harness.clients.traced import schedules
from harness.errors import NOT_CONFORMANT, ConformError
from harness.files import output_folder, write_text
from harness.forms import Form
from harness.kept import FOLDER, Kept, tried
from harness.targets.base import Json
from harness.words import counted


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
    jobs: Annotated[int, typer.Option(min=1, help="With --agent: the number of schedules at a time.")] = 4,
    traces: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Traces of closed models that give schedules: files or folders."),
    ] = None,
    findings: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH", help="Results of --json whose findings give schedules: files or folders."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The number of schedules of seeds: 300; 20 for an agent; 0 with --traces or --findings.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first schedule; each next schedule has the next seed.")
    ] = 0,
    json_file: JsonFile = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a sequence diagram of each finding there, as SVG and as Mermaid text."
        ),
    ] = None,
    kept_folder: KeptFolder = FOLDER,
    no_kept: NoKept = False,
) -> None:
    """Run a consumer under schedules with faults, and say for each rule if it holds.

    Schedules are random (each from a seed), or come from traces of closed models (the member that acts most
    in the trace is the consumer), or from earlier findings, about another version of a client, say.
    Schedules of findings are not shortened again.

    The coordinator of this kit answers: to NAME on a simulated clock, to the agent of a real consumer on a
    socket. A rule is a property of the client's view, with its requirement. For a broken rule the command
    prints the shortest schedule that shows the breach. A rule that had nothing to judge says so. A finding
    about an agent shows itself 5 times of 5, and 5 times of 5 with all times doubled; a breach that does not
    is only named. Schedules under which a rule was broken before are tried first.

    \b
    conform client reference
    conform client reference --seeds 10 --seed 7
    conform client reference --traces traces/members
    conform client reference --findings examples/clients/findings
    conform client faulty:ClosesSilently --json build/client.json --pictures build/clients
    conform client --agent "python examples/clients/librdkafka.py" --seeds 8 --jobs 8

    Exit codes: 0 all rules hold; 11 a rule is broken; 2 there is no such client; 3 the agent failed.
    """
    check_json_place(json_file)
    if (name is None) == (agent is None):
        raise ConformError("Name one client to judge: `reference`, MODULE:CLASS, or an agent with --agent.")
    client = agent or name or ""
    kept = Kept(None if no_kept else kept_folder, "client", client, "kip-848")
    before = _kept_schedules(kept)
    of_traces, not_driven = schedules(traces) if traces else ([], Counter[str]())
    of_files = of_findings(findings or [])
    many = seeds or (0 if traces or findings else 20 if agent else 300)
    all_schedules = _each_once([*before, *of_files, *of_traces, *drawn(range(seed, seed + many))])
    result = _over_sockets(client, all_schedules, jobs) if agent else _simulated(client, all_schedules)
    result.not_driven = not_driven
    broken = {one.origin for one in result.broken.values()}
    not_kept = kept.write(one.to_json() for one in sorted(broken))
    if before:
        print(tried("schedule", len(before), len(broken.intersection(one.origin for one in before))))
    if not_driven:
        named = ", ".join(f"{action} {count}" for action, count in sorted(not_driven.items()))
        print(f"actions of traces that no step of a schedule brings about: {named}")
    print_table(["requirement", "rule", "verdict", "judged"], rows(result))
    if left := left_out(result):
        print(f"\n{left}")
    for breach in result.broken.values():
        print()
        print("\n".join(lines(breach)))
    for rule, breach in result.unsure.items():
        print(f"\n{rule} broke under {breach.origin}, but not in each of 5 repetitions: no finding.")
    if not_kept:
        print(not_kept)
    asked_for = ["--agent", agent] if agent else [client]

    def more(broken: BrokenRule) -> Json:
        words = ["conform", "client", *asked_for, *broken.origin.words()]
        return {"again": shlex.join(words), "messages": messages(broken, topic_ids())}

    write_json(json_file, to_json(client, result, more))
    if pictures is not None:
        for rule, breach in result.broken.items():
            place = output_folder(pictures) / rule
            write_text(place.with_suffix(".mmd"), picture(breach, topic_ids()))
            write_text(place.with_suffix(".svg"), drawing(client, breach, topic_ids()))
    if result.broken:
        raise ConformError(f"{client} breaks {', '.join(result.broken)}.", NOT_CONFORMANT)
    print(f"{client}: {counted(result.schedules, 'schedule')}, no rule broken")


class _Entry(Form):
    """A kept schedule: by the trace, or the file of findings, or the seed that it comes from."""

    trace: str = ""
    file: str = ""
    seed: int = 0


def _kept_schedules(kept: Kept) -> list[Schedule]:
    """The schedules that failed before. A trace or a file that is no longer there, or no longer one that
    gives schedules, is dropped."""
    all_kept = list[Schedule]()
    for one in kept.read_as(_Entry):
        if one.trace:
            with suppress(ConformError):
                all_kept += schedules([Path(one.trace)])[0]
        elif one.file:
            with suppress(ConformError):
                all_kept += of_findings([Path(one.file)])
        else:
            all_kept += drawn([one.seed])
    return all_kept


def _each_once(many: Sequence[Schedule]) -> list[Schedule]:
    by_origin: dict[Origin, Schedule] = {}
    for one in many:
        by_origin.setdefault(one.origin, one)
    return list(by_origin.values())


def _simulated(name: str, all_schedules: Sequence[Schedule]) -> Result:
    from harness.targets.groups.client import client_parts

    parts = client_parts(name)

    def play(setup: Setup, steps: Sequence[Json]) -> Judged:
        return simulate(parts, parts.member, setup, steps)[0]

    with running(f"judging {name}"):
        result = run_schedules(play, all_schedules)
    with running("shrinking"):
        for rule, broken in _long(result):
            result.broken[rule] = shortest(play, broken)
    return result


def _long(result: Result) -> list[tuple[str, BrokenRule]]:
    """The findings whose schedules may be shortened: those of earlier findings are the shortest already."""
    return [(rule, broken) for rule, broken in result.broken.items() if not broken.origin.file]


def _over_sockets(agent: str, all_schedules: Sequence[Schedule], jobs: int) -> Result:
    from harness.targets.groups.served import ServedCoordinator

    try:
        words = shlex.split(agent)
    except ValueError as error:
        raise ConformError(f"The command of --agent cannot be read: {error}.") from None
    if not words:
        raise ConformError("--agent is a command, as in `python examples/clients/librdkafka.py`.")
    sockets = Sockets(ServedCoordinator, words, jobs)
    with running("judging the agent") as say:
        result = judge_agent(sockets, all_schedules, say)
    with running("shrinking") as say:
        for rule, broken in _long(result):
            result.broken[rule] = shortest_on_wire(sockets, broken, say)
    return result
