"""Judges all steps of a state graph that `conform exhaust` has in its tables, without Spark, on the
coordinator that Python imports: nearest to an initial state first, up to the distance at which some differ.

    python tests/pipeline/judge_rows.py build/exhaust-bugs/MCTour

Prints what came of it as JSON (`Judged`), with the functions that were called if the coordinator notes them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Final

import pyarrow.dataset as ds

import coordinator
from harness.pipeline.judging import FAIL, NOT_JUDGED, TARGET_FAILED, USED, Judge
from harness.pipeline.parts import Row, rows_of
from harness.requirements import broken

_SHOWN: Final = 120
"""Characters of a value in the example."""


@dataclass
class Judged:
    """The numbers of judged steps, of those that differ, of those whose state before could not be loaded; the
    number of different ones for each requirement; the first one in the order of their keys. `after` is their
    distance from an initial state, in steps."""

    steps: int = 0
    differ: int = 0
    not_loaded: int = 0
    after: int = 0
    requirements: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] | None = None

    def add(self, row: Row, verdict: Row, home: str) -> None:
        """Count a verdict; `home` is the folder that messages name, and that the example must not."""
        self.steps += 1
        self.not_loaded += verdict["verdict"] == NOT_JUDGED
        if verdict["verdict"] not in (FAIL, TARGET_FAILED):
            return
        self.differ += 1
        paths = [one["path"] for one in verdict["differences"]]
        requirement = broken(row["action"], row["branch"], row["error"], paths)
        self.requirements[requirement] = self.requirements.get(requirement, 0) + 1
        if self.first is None or row["step"] < self.first["step"]:
            self.after = row["depth"] + 1
            difference = verdict["differences"][0].items()
            one = {name: text.replace(f"{home}/", "")[:_SHOWN] for name, text in difference}
            how = {name: row[name] for name in ("step", "action", "branch", "error")}
            self.first = {"requirement": requirement, **how, **one}


def judge_all(place: Path, home: str) -> Judged:
    """Judge the steps that are in the tables of a place."""
    judged, judge, seen = Judged(), Judge("python", "kip-848"), set[str]()
    for depth in depths(place):
        for row in rows(place, depth):
            if row["step"] not in seen:  # a model with a log has a step once for each log
                seen.add(row["step"])
                judged.add(row, judge.judge(row), home)
        if judged.differ:
            break
    return judged


def depths(place: Path) -> list[int]:
    """The distances of the graph's states from an initial one."""
    return sorted(set(ds.dataset(place / "states").to_table(columns=["depth"])["depth"].to_pylist()))


def rows(place: Path, depth: int) -> Iterator[Row]:
    """The steps that call the target from states at this distance, those from the same state one after
    another."""
    steps = ds.dataset(place / "steps" / "graph", partitioning="hive")
    wanted = ds.field("operation").is_valid() & (ds.field("depth") == depth)
    batches = steps.to_batches(columns=list(USED), filter=wanted)
    yield from sorted((row for batch in batches for row in rows_of(batch)), key=itemgetter("source", "step"))


def main(place: str) -> None:
    """Judge and print."""
    home = str(Path(coordinator.__file__).parents[1])
    judged = judge_all(Path(place), home)
    notes = sys.modules.get("coordinator.called")
    print(json.dumps({"home": home, "called": sorted(getattr(notes, "CALLED", ())), **asdict(judged)}))


if __name__ == "__main__":
    main(sys.argv[1])
