"""The stage `verdicts`: every step on the target, part by part."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from harness.pipeline.inputs import GRAPH
from harness.pipeline.judging import COPIED, TARGET_FAILED, USED, judging
from harness.pipeline.parts import WRITTEN, rewriting
from harness.pipeline.paths import WAYS, judging_by_path, not_judged, write_ways
from harness.pipeline.run import Run, struct
from harness.pipeline.session import parallelism
from harness.pipeline.store import Store
from harness.pipeline.tables import VERDICTS, key
from harness.pipeline.version import KNOWN_WHOLE, judging_key, target_key

_WAVE: Final = 4
"""The number of parts of one job for each process."""
_BITS: Final = 62
"""The size of a run's number: no two runs have the same."""


_UNFINISHED: Final = "unfinished"
"""The entry of the ledger that lasts until a run is finished: its number, and the key of the target."""


@dataclass(frozen=True)
class Tested:
    """A target in a dialect, and the `program` on which its verdicts depend: a key (see `begun`)."""

    target: str
    dialect: str
    program: str

    def named(self) -> tuple[str, str, str]:
        """The target, its dialect and the key of its program and of the judging code."""
        return self.target, self.dialect, self.program


def begun(store: Store, target: str, dialect: str) -> Tested:
    """The target at the beginning of a run, which `finished` ends.

    The sources of `python` are known whole, and its verdicts are kept. Another target may change without a
    sign: a server, a script that runs a program, a module that is imported. Its verdicts are those of one
    run, by a number that the ledger keeps until the run is finished, so that a killed run goes on.
    """
    program = key(target, dialect, target_key(target), judging_key())
    if target != KNOWN_WHOLE:
        known = store.done(_UNFINISHED, program)
        if known is None:
            known = {"run": secrets.randbits(_BITS)}
            store.enter(_UNFINISHED, program, known)
        program = key(program, str(known["run"]))
    return Tested(target, dialect, program)


def finished(store: Store) -> None:
    """End a run: the next one judges anew what may have changed."""
    store.forget(_UNFINISHED)


def judge_steps(run: Run, tested: Tested, origin: str, depends: str, steps: int) -> int:
    """Judge all steps of one origin, except the parts that are in the ledger; the number of steps in these
    parts."""
    depends = key(depends, *tested.named())
    every = run.read("steps", origin).where("operation IS NOT NULL")
    sizes = {row["part"]: row["count"] for row in every.groupBy("part").count().collect()}
    known = {part: run.store.done(_unit(origin, part), depends) for part in sizes}
    waiting = sorted(part for part in sizes if known[part] is None)
    if len(waiting) == len(sizes):
        run.store.forget(f"verdicts/{origin}")
        run.store.remove(f"verdicts/{origin}")
    earlier: int = sum(sizes.values()) - sum(sizes[part] for part in waiting)
    judged = earlier
    wave = max(1, parallelism(run.spark) * _WAVE)
    for first in range(0, len(waiting), wave):
        run.progress(f"{judged:,} of {steps:,} steps of {origin} judged on {tested.target}")
        parts = {part: sizes[part] for part in waiting[first : first + wave]}
        _judge_parts(run, tested, origin, parts, depends)
        judged += sum(parts.values())
    return earlier


def _unit(origin: str, part: int) -> str:
    return f"verdicts/{origin}/part={part}"


def _judge_parts(run: Run, tested: Tested, origin: str, parts: Mapping[int, int], depends: str) -> None:
    size = sum(parts.values())
    steps, place = run.store.table("steps", origin), run.store.table("verdicts", origin)

    def work() -> dict[str, int]:
        judged = rewriting(steps, list(parts), USED, place, judging(*tested.named()))
        run.each(len(parts)).mapInArrow(judged, struct(WRITTEN)).collect()
        return {"verdicts": size}

    run.timed(f"verdicts/{origin}", work)
    written = run.read("verdicts", origin).where(F.col("part").isin(list(parts)))
    counts = written.groupBy("part").agg(F.count("*").alias("count"), _failures())
    for row in counts.collect():
        # if rows are missing the run fails, and must not trust the part again; nor if the target failed
        if row["count"] == parts[row["part"]] and not row["failures"]:
            run.store.enter(_unit(origin, row["part"]), depends, {"verdicts": row["count"]})


def judge_by_path(run: Run, tested: Tested, depends: str, constants: Mapping[str, Any]) -> int:
    """Judge the transitions from states that the target cannot load, by way of their shortest paths; their
    number. `constants` are those of the model."""
    missing = not_judged(run, run.read("verdicts", GRAPH))
    count = missing.count()
    if not count:
        run.store.forget("verdicts/paths")
        run.store.remove("verdicts/paths")
        return 0
    unit, depends = "verdicts/paths", key(depends, *tested.named(), "paths")

    def work() -> dict[str, int]:
        run.progress(f"{count:,} steps by way of their shortest paths on {tested.target}")
        by_path = judging_by_path(*tested.named(), write_ways(run), constants)
        chosen = missing.select("part", "configuration", "state_after", "not_loaded", *COPIED[1:])
        judged = chosen.repartition(_tasks(count), "source").mapInArrow(by_path, struct(VERDICTS))
        judged.write.mode("overwrite").parquet(run.store.table("verdicts", "paths"))
        run.store.remove(WAYS)
        return {"verdicts": count}

    if run.store.done(unit, depends) is None:
        run.store.forget(unit)
        run.store.remove(unit)
        counts = run.timed(unit, work)
        if not run.read("verdicts", "paths").agg(_failures()).collect()[0]["failures"]:
            run.store.enter(unit, depends, counts)
    return run.read("verdicts", "paths").where(F.col("reached") == "path").count()


def _failures() -> Column:
    """The number of steps in which the target failed, as the column `failures`."""
    return F.count_if(F.col("verdict") == TARGET_FAILED).alias("failures")


def _tasks(steps: int) -> int:
    return max(1, -(-steps // 2000))
