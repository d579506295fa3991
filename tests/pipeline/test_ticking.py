"""Progress between the lines of a run: the last line comes again, with tasks and seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pipeline_runs import LIMITS, TRACE

from harness.pipeline import ticking
from harness.pipeline.exhaust import Job, exhaust
from harness.pipeline.session import Cluster, spark_session
from harness.pipeline.ticking import Ticking


def test_a_progress_line_repeats_when_nothing_else_was_printed() -> None:
    given: list[str] = []
    clock = [0.0]
    ticks = Ticking(given.append, 2.0, lambda: clock[0])
    ticks.tick()
    ticks("reading the states")
    for clock[0] in (1.0, 3.0):
        ticks.tick()
    ticks("summing up")
    clock[0] = 4.0
    ticks.tick()
    ticks.end()
    clock[0] = 9.0
    ticks.tick()
    assert given == ["reading the states", "reading the states (for 3 s)", "summing up"]


def test_the_tasks_of_a_session_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(batches: Iterator[Any]) -> Iterator[Any]:
        time.sleep(1.5)
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": batch.column(0)})

    given: list[str] = []
    monkeypatch.setattr(ticking, "EVERY_S", 0.3)
    session = spark_session(Cluster("local[2]"), tmp_path / "log")
    with session as spark, ticking.ticking(given.append) as ticks, ticks.following(spark):
        ticks("sleeping")
        spark.range(0, 2, 1, 2).mapInArrow(slow, "id long").collect()
    assert any(line.startswith("sleeping (0 of 2 tasks, for ") for line in given), given


def test_a_run_goes_on_saying_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages of more than two seconds once printed nothing until they were over."""
    monkeypatch.setattr(ticking, "EVERY_S", 0.05)
    given: list[str] = []
    job = Job("python", "kip-848", str(tmp_path / "out"), files=[TRACE.as_uri()])
    exhaust(job, LIMITS, tmp_path, given.append)
    assert any(" (for " in line or " task" in line for line in given), given
