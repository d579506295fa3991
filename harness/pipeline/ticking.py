"""Progress of a run between its own lines: the number of finished Spark tasks, and the time so far.

A stage of the pipeline is one call of Spark, which prints nothing until it is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from harness.engines.base import Progress
from harness.words import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_S: Final = 2.0
"""Seconds between two lines."""
Tasks = tuple[int, int]
"""The number of finished tasks of the running stages, and of all their tasks."""


class Ticking:
    """A repeater of the last line while no other comes, with the changes since."""

    def __init__(self, progress: Progress, every_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._every_s, self._now = progress, every_s, now
        self._line, self._since = "", now()
        self._tasks: Callable[[], Tasks | None] = lambda: None
        self._over = Event()

    def __call__(self, line: str) -> None:
        """Print a line of the run's own."""
        self._line, self._since = line, self._now()
        self._progress(line)

    @contextmanager
    def following(self, spark: SparkSession) -> Iterator[None]:
        """Count the tasks of a session while it exists."""
        self._tasks = lambda: tasks_of(spark)
        try:
            yield
        finally:
            self._tasks = lambda: None

    def tick(self) -> None:
        """Print the last line again, unless it is new."""
        if not self._line or self._now() - self._since < self._every_s:
            return
        line, tasks = self._line, self._tasks()
        done = f"{tasks[0]} of {counted(tasks[1], 'task')}, " if tasks else ""
        if line == self._line and not self._over.is_set():
            self._progress(f"{line} ({done}for {self._now() - self._since:.0f} s)")

    def run(self) -> None:
        """Print the line every few seconds, until the run is over."""
        while not self._over.wait(self._every_s):
            self.tick()

    def end(self) -> None:
        """Print no more."""
        self._over.set()


@contextmanager
def ticking(progress: Progress) -> Iterator[Ticking]:
    """Progress that goes on by itself, in a thread of its own."""
    ticks = Ticking(progress, EVERY_S)
    thread = Thread(target=ticks.run, daemon=True, name="progress")
    thread.start()
    try:
        yield ticks
    finally:
        ticks.end()
        thread.join(EVERY_S)


def tasks_of(spark: SparkSession) -> Tasks | None:
    """The tasks of all running stages; None where none runs, or Spark does not tell."""
    # A server of Spark Connect has no tracker, and a session that ends answers nothing any more.
    with suppress(Exception):
        tracker = spark.sparkContext.statusTracker()
        stages = [info for one in tracker.getActiveStageIds() if (info := tracker.getStageInfo(one))]
        if stages:
            return sum(one.numCompletedTasks for one in stages), sum(one.numTasks for one in stages)
    return None
