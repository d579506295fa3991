"""Seeds of whole groups as Spark tasks: the same result with any distribution."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.pipeline.session import Cluster
from harness.pipeline.simulating import simulate_seeds
from harness.simulate.groups.run import SimulationOptions, run_seed, summed
from harness.targets.groups.python import PythonParts


@pytest.mark.parametrize("tasks", [1, 5])
def test_the_sum_does_not_depend_on_the_tasks(tasks: int, tmp_path: Path) -> None:
    request = SimulationOptions(seed=0, seeds=5, events=400, exemption=False)
    lines: list[str] = []
    outcomes = simulate_seeds(request, Cluster("local[2]"), tmp_path / "spark.log", lines.append, tasks)
    here = [run_seed(PythonParts(), request, seed) for seed in range(5)]
    assert summed(request, outcomes) == summed(request, here)
    assert [one.seed for one in outcomes] == [0, 1, 2, 3, 4]
    assert f"5 seeds in {tasks} tasks" in lines  # later lines have the time so far, on a slow machine
