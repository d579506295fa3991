"""Schedules by where they come from: a seed, or a trace of a closed model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.clients.draw import draw
from harness.clients.timeline import Setup
from harness.targets.base import Json


class Origin(NamedTuple):
    """A seed; with a `trace`, the path of its file."""

    seed: int = 0
    trace: str = ""

    def __str__(self) -> str:
        return f"trace {self.trace}" if self.trace else f"seed {self.seed}"

    def to_json(self) -> Json:
        """The fields for `--json` and for the file of kept schedules."""
        return {"trace": self.trace} if self.trace else {"seed": self.seed}

    def words(self) -> list[str]:
        """The options of `conform client` for this schedule alone."""
        return ["--traces", self.trace] if self.trace else ["--seed", str(self.seed), "--seeds", "1"]


class Schedule(NamedTuple):
    """The configuration of the client and the steps, the first of which starts the client."""

    origin: Origin
    setup: Setup
    steps: tuple[Json, ...]


def drawn(seeds: Iterable[int]) -> list[Schedule]:
    """The schedules of seeds."""
    made = [(seed, *draw(seed)) for seed in seeds]
    return [Schedule(Origin(seed), setup, tuple(steps)) for seed, setup, steps in made]
