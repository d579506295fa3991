"""Seeds of a simulation as Spark tasks: each is played by itself; their sum does not depend on the tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.session import Cluster, spark_session
from harness.simulate.groups.run import Asked, Outcome, run_seed
from harness.targets.groups.python import PythonParts

AT_A_TIME: Final = 8
"""Tasks for each core: enough that the slowest seed does not keep the others waiting."""


def simulate_seeds(
    asked: Asked, cluster: Cluster, log: Path, progress: Callable[[str], None], tasks: int | None = None
) -> list[Outcome]:
    """The outcomes of all seeds, in their order. `log` takes what Spark prints; `tasks` is for tests.

    ConformError (exit 3) if Spark fails, or if seeds got lost.
    """
    progress("starting Spark")
    wanted = range(asked.seed, asked.seed + asked.seeds)
    with spark_session(cluster, log) as spark:
        context = spark.sparkContext
        slices = tasks or min(asked.seeds, AT_A_TIME * context.defaultParallelism)
        progress(f"{asked.seeds:,} seeds in {slices} tasks")
        played = context.parallelize(wanted, slices).map(partial(_played, asked)).collect()
    outcomes: list[Outcome] = sorted(played, key=lambda one: one.seed)
    if [one.seed for one in outcomes] != list(wanted):
        raise ConformError(f"Of {asked.seeds:,} seeds {len(outcomes):,} came back from Spark.", ENGINE_FAILED)
    return outcomes


def _played(asked: Asked, seed: int) -> Outcome:
    """One seed, on a worker. What many seeds violate alike is shrunk once, by whoever collects them."""
    return run_seed(PythonParts(), asked, seed)
