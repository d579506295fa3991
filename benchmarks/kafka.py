"""The kit beside Kafka itself, in one run: checked steps a second, and assignors.

A row for which Kafka cannot be fetched, or whose broker does not start, has a reason and no figures.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.cases import STEPS
from benchmarks.measure import in_fresh_process
from benchmarks.scale import Progress, Table
from benchmarks.shapes import PARTITIONS_PER_TOPIC, Shape, Size, member_id, topic_id
from benchmarks.speed import measure
from harness.engines.base import Limits, Model
from harness.errors import ENGINE_FAILED, ConformError
from harness.generate import simulate
from harness.itf import write_trace
from harness.targets.kafka.target import java

VERSION: Final = "4.2.1"
DIALECT: Final = "kafka-4.2"
MODEL: Final = Model("MCKafka42Tour", Path("spec/MCKafka.tla"), Path("spec/MCKafka42Tour.cfg"))
MAIN: Final = "conform.kafka.Assignors"
STDIO: Final = f"stdio:{shlex.quote(sys.executable)} -m coordinator --stdio --dialect {DIALECT}"
TITLES: Final = {
    STDIO: "stdio: python -m coordinator",
    "broker": f"broker, Kafka {VERSION} over the wire",
}
ROUNDS: Final = 20
"""Rounds of Kafka's assignors, after the same number of rounds to warm up; this coordinator's have 3, and
need no warm-up."""


def targets_side_by_side(progress: Progress, number: int = 200, over_the_wire: int = 20) -> Table:
    """Committed traces on each target, up to the limits of the target; on a broker only the first
    `over_the_wire`. A broker's own processor time is not counted."""
    table = Table(
        ["replay with all comparisons", "traces", "steps", "steps/s", "of processor", "differences"]
    )
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        progress(f"{number} behaviours of {MODEL.name}")
        files = _behaviours(Path(folder), number)
        for name in ("python", STDIO, f"kafka:{VERSION}", "broker"):
            title = TITLES.get(name, name)
            progress(f"replaying them on {title}")
            try:
                if name == "broker":
                    with _broker(Path(folder) / "broker") as target:
                        speed = measure(files[:over_the_wire], target, 1, DIALECT)
                else:
                    speed = measure(files, name, dialect=DIALECT)
            except ConformError as error:
                table.rows.append([f"{title}: {error.message}", "", "", "", "", ""])
                table.data.append({"title": title, "not_measured": error.message})
                continue
            rates = [speed.steps_per_s, speed.steps_per_processor_s]
            steps = [f"{speed.target_steps:,}", *(f"{rate:,.0f}" for rate in rates), f"{speed.differences}"]
            table.rows.append([title, f"{speed.traces}", *steps])
            named = dict(zip(("steps_per_s", "steps_per_processor_s"), rates, strict=True))
            table.data.append({"title": title, **asdict(speed), **named})
    return table


def _behaviours(folder: Path, number: int) -> list[Path]:
    limits, log = Limits(memory="2g"), folder / "simulate.log"
    files: list[Path] = []
    for trace in simulate(MODEL, number=number, depth=50, seed=848, limits=limits, log=log):
        files.append(folder / f"{len(files):04}.itf.json")
        write_trace(files[-1], trace)
    return files


@contextmanager
def _broker(folder: Path) -> Iterator[str]:
    """The name of a broker that runs meanwhile. ConformError if the broker does not start."""
    from harness.targets.broker import local

    broker = local.start(VERSION, None, folder, {})
    try:
        yield broker.target
    finally:
        local.stop(broker)


def assignors_side_by_side(
    progress: Progress, sizes: Sequence[Size] = (Size(1_000, 100),), rounds: int = ROUNDS
) -> Table:
    """Every member subscribes to all topics; seconds of the processor, the best of all rounds."""
    columns = [f"{step} {whose}" for step in STEPS for whose in ("this", "Kafka")]
    table = Table(["assignor alone, s of processor, best round", "members x partitions", *columns])
    for size in sizes:
        for assignor in ("uniform", "range"):
            extent = f"{size.members:,} x {size.partitions:,}"
            progress(f"{assignor}, {extent}")
            ours = {
                step: in_fresh_process(
                    "assignor", shape=[assignor, "all"], size=[size.members, size.topics], step=step
                ).cpu_s
                for step in STEPS
            }
            data = {
                "members": size.members,
                "partitions": size.partitions,
                "assignor": assignor,
                "this": ours,
            }
            try:
                theirs = _of_kafka(assignor, size, rounds)
            except ConformError as error:
                table.rows.append([f"{assignor}: {error.message}", extent, *[""] * len(columns)])
                table.data.append({**data, "not_measured": error.message})
                continue
            figures = [f"{value:.4f}" for step in STEPS for value in (ours[step], min(theirs[step]))]
            table.rows.append([f"{assignor}, Kafka {VERSION}", extent, *figures])
            best = {step: {"best": min(theirs[step]), "median": median(theirs[step])} for step in STEPS}
            table.data.append({**data, "kafka": best, "rounds": rounds})
    return table


def _of_kafka(assignor: str, size: Size, rounds: int) -> dict[str, list[float]]:
    """Seconds of the processor of each round, by step. ConformError if there is no JDK, or no jars."""
    request = {
        "assignor": Shape(assignor, "all").assignor,
        "members": [member_id(number) for number in range(size.members + 1)],
        "topics": [topic_id(number) for number in range(size.topics)],
        "partitions": PARTITIONS_PER_TOPIC,
        "warmups": rounds,
        "rounds": rounds,
    }
    ended = subprocess.run([*java(VERSION), MAIN], input=json.dumps(request), capture_output=True, text=True)
    if ended.returncode:
        raise ConformError(f"Kafka's assignor {assignor} failed: {ended.stderr.strip()}", ENGINE_FAILED)
    measured: dict[str, Any] = json.loads(ended.stdout)
    return {step: [float(value) for value in measured[step]] for step in STEPS}
