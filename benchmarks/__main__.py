"""Speed, side by side in one run: `make bench`, never a test.

`python -m benchmarks [--peer SPEC.tla]` prints
- `make` in a new clone, again, and after an edit of one operator, with all processes that it starts;
- a replay from files to verdict, as typed, in one process and in two, in processor time and on the clock;
- the size of the closed model at one disturbance, beside that of another specification of the same protocol,
  read from a path (its own configuration is made for 2 clients and one partition);
- assignors and the requests that compute a target, in groups of 1,000 and 10,000 members;
- a heartbeat that changes nothing, in groups of 10 to 10,000 members, also as a picture;
- a log of 10,000 groups, loaded;
- whole state graphs judged by Spark: steps a second on one core and on two, and memory at growing sizes;
- whole groups under random faults: events a second, with every invariant checked after each;
- a log of a whole group, followed by TLC: processor seconds of `conform validate`;
- the same traces on this coordinator, on Kafka's own in a JVM and on a live broker;
- heartbeats a second over sockets, of the served coordinator and of Kafka, with their latencies;
- Kafka's assignors in Java beside this coordinator's;
- what a rebalance costs eager, cooperative and KIP-848 groups, on a simulated clock: the same in every run.

The figures, and what machine they are of, go to build/bench.json and build/bench-heartbeat.svg.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.curve import heartbeat_curves
from benchmarks.exhaust import exhaustive
from benchmarks.kafka import assignors_side_by_side, targets_side_by_side
from benchmarks.make import makes
from benchmarks.measure import machine
from benchmarks.rebalance import rebalances
from benchmarks.replay import replays
from benchmarks.scale import Table, heartbeats, takeovers, targets
from benchmarks.served import served_side_by_side
from benchmarks.simulate import whole_groups
from benchmarks.validate import recorded_runs
from harness.cli.console import print_table, running, write_json
from harness.engines.base import Limits, Model, Result
from harness.engines.tlc import Tlc
from harness.files import output_folder, read_text, write_text

SPEC = Path("spec")
BUILD = Path("build")
LIMITS = Limits(memory="3g")


class Part(StrEnum):
    """The parts that can be measured alone."""

    make = "make"
    replay = "replay"
    models = "models"
    targets = "targets"
    heartbeats = "heartbeats"
    load = "load"
    exhaust = "exhaust"
    simulate = "simulate"
    validate = "validate"
    kafka = "kafka"
    served = "served"
    assignors = "assignors"
    rebalance = "rebalance"


def main(
    peer: Annotated[
        Path | None,
        typer.Option(metavar="SPEC.tla", help="Another specification of KIP-848, with its .cfg beside it."),
    ] = None,
    library: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of modules that the peer extends, if any.")
    ] = None,
    only: Annotated[list[Part] | None, typer.Option(help="Measure only this; may be repeated.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the JSON and the picture go.")] = BUILD,
) -> None:
    """Measure and print."""
    output_folder(out)
    data: dict[str, Any] = {"machine": machine()}
    tables: list[Table] = []
    for part in Part:
        if only and part not in only:
            continue
        table = _models_table(peer, library) if part is Part.models else _scale_table(part, out)
        tables.append(table)
        data[part.value] = table.data
    for table in tables:
        print_table(table.columns, table.rows)
    data["machine"]["load_average_after"] = machine()["load_average"]
    write_json(out / "bench.json", data)
    print(f"figures: {out / 'bench.json'}")


def _models_table(peer: Path | None, library: Path | None) -> Table:
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        results = {"this, 2 members, 2 partitions, 1 disturbance": _closed(Path(folder))}
        if peer:
            results["peer, 2 clients, 1 partition, 1 perturbation"] = _peer(peer, library, Path(folder))
    return Table(
        ["closed model, exhaustively on TLC", "distinct states", "time"],
        [[title, *_figures(result)] for title, result in results.items()],
        [
            {"model": title, "distinct_states": result.distinct_states, "seconds": result.seconds}
            for title, result in results.items()
        ],
    )


def _scale_table(part: Part, out: Path) -> Table:
    with running(f"measuring {part.value}") as progress:
        if part is Part.make:
            return makes(progress)
        if part is Part.replay:
            return replays(progress)
        if part is Part.targets:
            return targets(progress)
        if part is Part.kafka:
            return targets_side_by_side(progress)
        if part is Part.served:
            return served_side_by_side(progress)
        if part is Part.assignors:
            return assignors_side_by_side(progress)
        if part is Part.load:
            return takeovers(progress)
        if part is Part.exhaust:
            return exhaustive(progress)
        if part is Part.rebalance:
            return rebalances(progress)
        if part is Part.simulate:
            return whole_groups(progress)
        if part is Part.validate:
            return recorded_runs(progress)
        table, curves = heartbeats(progress)
    write_text(out / "bench-heartbeat.svg", heartbeat_curves(curves))
    return table


def _closed(folder: Path) -> Result:
    text = read_text(SPEC / "MCSmall.cfg", "The configuration")
    config = folder / "MCSmall.cfg"
    config.write_text(text.replace("Budget = 2", "Budget = 1"))
    return _check(Model("MCSmall", SPEC / "MCSmall.tla", config), folder)


def _peer(peer: Path, library: Path | None, folder: Path) -> Result:
    text = read_text(peer.with_suffix(".cfg"), "The peer's configuration")
    config = folder / "peer.cfg"
    config.write_text(text.replace("TopicCount = 2", "TopicCount = 1"))
    model = Model("peer", peer, config, {"deadlock": False})
    return _check(replace(model, libraries=(library,) if library else ()), folder)


def _check(model: Model, folder: Path) -> Result:
    with running(f"checking {model.name}") as progress:
        return Tlc().check(model, folder / f"{model.name}.log", LIMITS, progress)


def _figures(result: Result) -> list[str]:
    return [f"{result.distinct_states or 0:,}", f"{result.seconds:.0f} s"]


if __name__ == "__main__":
    typer.run(main)
