"""Speed, side by side in one run: `make bench`, never a test.

`python -m harness.bench [--peer SPEC.tla]` prints coordinator steps a second with all comparisons, decoding
apart, and the size of the closed model at one disturbance, beside that of another specification of the same
protocol, read from a path (its own configuration is made for 2 clients and one partition).
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import print_table, running
from harness.engines.base import Limits, Model, Result
from harness.engines.tlc import Tlc
from harness.errors import ConformError
from harness.files import read_text
from harness.generate import simulate
from harness.itf import write_trace
from harness.replay.bench import ReplaySpeed, measure

SPEC = Path("spec")
LIMITS = Limits(memory="3g")


def main(
    peer: Annotated[
        Path | None,
        typer.Option(metavar="SPEC.tla", help="Another specification of KIP-848, with its .cfg beside it."),
    ] = None,
    library: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of modules that the peer extends, if any.")
    ] = None,
) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        speed = _replay(Path(folder))
        rows = [["this, 2 members, 2 partitions, 1 disturbance", *_figures(_closed(Path(folder)))]]
        if peer:
            rows.append(
                [
                    "peer, 2 clients, 1 partition, 1 perturbation",
                    *_figures(_peer(peer, library, Path(folder))),
                ]
            )
    print_table(
        ["replay with all comparisons", "steps", "steps/s", "decoding s", "reading ITF s"],
        [
            [
                speed.target,
                f"{speed.target_steps:,}",
                f"{speed.steps_per_s:,.0f}",
                f"{speed.decode_s:.2f}",
                f"{speed.read_s:.2f}",
            ]
        ],
    )
    print_table(["closed model, exhaustively on TLC", "distinct states", "time"], rows)


def _replay(folder: Path) -> ReplaySpeed:
    model = Model("MCOpen", SPEC / "MCOpen.tla", SPEC / "MCOpen.cfg")
    with running("generating 400 behaviours of MCOpen"):
        traces = simulate(model, number=400, depth=50, seed=1, limits=LIMITS, log=folder / "simulate.log")
    files = [folder / f"{number}.itf.json" for number in range(len(traces))]
    for file, trace in zip(files, traces, strict=True):
        write_trace(file, trace)
    with running("replaying them"):
        speed = measure(files)
    if speed.differences:
        raise ConformError("The coordinator does not conform: see `conform replay` before measuring it.")
    return speed


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
