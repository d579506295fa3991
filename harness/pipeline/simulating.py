"""Seeds of a simulation as Spark tasks: each seed is played independently; the sum does not depend on the
tasks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.session import Cluster, parallelism, spark_session
from harness.pipeline.ticking import ticking
from harness.simulate.groups.run import Outcome, SimulationOptions, run_seed
from harness.targets.groups.parts import parts_of

_OUTCOME: Final = pa.schema([("outcome", pa.binary())])
AT_A_TIME: Final = 8
"""The number of tasks for each core: enough that the slowest seed does not delay the others."""


def simulate_seeds(
    options: SimulationOptions,
    cluster: Cluster,
    log: Path,
    progress: Callable[[str], None],
    tasks: int | None = None,
) -> list[Outcome]:
    """The outcomes of all seeds, in their order. `log` takes Spark's output; `tasks` is for tests.

    ConformError (exit 3) if Spark fails, or if seeds were lost.
    """
    wanted = range(options.seed, options.seed + options.seeds)
    with ticking(progress) as ticks:
        ticks("starting Spark")
        with spark_session(cluster, log) as spark, ticks.following(spark):
            slices = tasks or min(options.seeds, AT_A_TIME * parallelism(spark))
            ticks(f"{options.seeds:,} seeds in {slices} tasks")
            seeds = spark.range(wanted.start, wanted.stop, 1, slices)
            played = seeds.mapInArrow(partial(_played, options), "outcome binary").collect()
    outcomes = sorted((_outcome(row["outcome"]) for row in played), key=lambda one: one.seed)
    if [one.seed for one in outcomes] != list(wanted):
        raise ConformError(
            f"Of {options.seeds:,} seeds {len(outcomes):,} came back from Spark.", ENGINE_FAILED
        )
    return outcomes


def _played(options: SimulationOptions, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Play seeds on a worker. A violation that many seeds have in common is shrunk once, by the caller that
    collects them."""
    for batch in batches:
        for seed in batch.column(0).to_pylist():
            outcome = pickle.dumps(run_seed(parts_of(options.kind), options, seed))
            yield pa.RecordBatch.from_pylist([{"outcome": outcome}], _OUTCOME)


def _outcome(pickled: bytes) -> Outcome:
    """An outcome that one of our own workers has sent."""
    outcome: Outcome = pickle.loads(pickled)
    return outcome
