"""States that a target cannot load, reached by their shortest path; and the shortest trace to a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.pipeline.judging import LEFT_OUT, NOT_JUDGED, PASS, Judge, judge_of
from harness.pipeline.parts import Batches, Row
from harness.pipeline.rows import StepRows
from harness.pipeline.run import Run
from harness.pipeline.store import file_system
from harness.pipeline.tables import VERDICTS
from harness.replay.signature import way
from harness.tlaparse import Reader

_SOURCES: Final = pa.schema([("source", pa.string())])
WAYS: Final = "ways"
"""The folder of a temporary table: of each state the one before it, and itself as TLC prints it."""
Via: TypeAlias = Mapping[str, tuple[str, str]]
"""State -> the state before it on a shortest path ("" for an initial one), and itself with the step into it,
as TLC prints it."""


def shortest_ways(run: Run) -> Via:
    """One shortest way to every state of the graph: of several the one whose step has the smallest key."""
    return {row["state"]: (row["source"], row["text"]) for row in _ways(run).collect()}


def _ways(run: Run) -> DataFrame:
    """The shortest ways to states, as rows."""
    states, steps = run.read("states"), run.read("steps", "graph").where("operation IS NOT NULL")
    ends = states.select(F.col("state").alias("after"), (F.col("depth") - 1).alias("depth"))
    last = F.min_by(F.struct("source", "state_after"), "step").alias("way")
    ways = steps.join(ends, ["after", "depth"]).groupBy("after").agg(last)
    later = ways.select(F.col("after").alias("state"), "way.source", F.col("way.state_after").alias("text"))
    initial = states.where("depth = 0").select("state", F.lit("").alias("source"), "text")
    return later.join(initial, "state", "left_anti").unionByName(initial)


def write_ways(run: Run) -> str:
    """Write them for workers, as a temporary table; its place."""
    place = run.store.table(WAYS)
    _ways(run).write.mode("overwrite").parquet(place)
    return place


def _read_ways(place: str) -> Via:
    files, path = file_system(place)
    rows = ds.dataset(path, filesystem=files, format="parquet").to_table().to_pylist()
    return {row["state"]: (row["source"], row["text"]) for row in rows}


def keys_to(via: Via, state: str) -> list[str]:
    """The keys of the states on a shortest path from an initial state to this one. ConformError (exit 2)
    where states that differ have one key, so that a way may lead in a circle."""
    path: list[str] = []
    while state:
        if len(path) == len(via):
            raise ConformError(
                "The model has states that differ in a variable which its kind of group does not keep, so "
                "that no way to a state can be told. Add it to `kept` of the kind in harness/kinds.",
                USAGE,
            )
        path.append(state)
        state, _ = via[state]
    return path[::-1]


def path_to(via: Via, state: str) -> list[str]:
    """The states on the shortest way to a state, as TLC prints them."""
    return [via[one][1] for one in keys_to(via, state)]


def enabled(run: Run, states: Iterable[str]) -> Mapping[str, list[str]]:
    """By the key of a state what the coordinator may be asked there: "Heartbeat/stable: m1, m2"."""
    wanted = run.rows([{"source": one} for one in sorted(set(states))], _SOURCES)
    steps = run.read("steps", "graph").where("operation IS NOT NULL")
    ways = steps.select("source", "action", "branch", "error", "member").distinct()
    found: dict[str, dict[str, list[str]]] = {}
    for row in ways.join(wanted, "source", "left_semi").collect():
        name = "/".join(filter(None, (row["action"], row["branch"])))
        error = "" if row["error"] in ("", "NONE") else f" {row['error']}"
        found.setdefault(row["source"], {}).setdefault(name + error, []).append(row["member"])
    return {
        state: [f"{name}: {', '.join(sorted(who))}".removesuffix(": ") for name, who in sorted(names.items())]
        for state, names in found.items()
    }


def trace_to(via: Via, source: str, after: str, meta: Mapping[str, object]) -> Trace:
    """The trace whose last step leads from the state `source` to `after` (as TLC prints it)."""
    reader = Reader()
    states = [reader.state(printed) for printed in (*path_to(via, source), after)]
    return Trace(dict(meta), tuple(sorted(states[0])), states)


def not_judged(run: Run, verdicts: DataFrame) -> DataFrame:
    """The rows of `steps` that have no verdict yet, with what was not as loaded."""
    missing = verdicts.where(F.col("verdict") == NOT_JUDGED).select("step", "not_loaded")
    return run.read("steps", "graph").join(missing.dropDuplicates(["step"]), "step")


def judging_by_path(
    name: str, dialect: str, program: str, ways: str, constants: Mapping[str, Any]
) -> Callable[[Batches], Batches]:
    """A function for `mapInArrow`: batches of `steps` to batches of `verdicts`, by way of shortest paths,
    which are at the place `ways`; the state graph is of a model with these `constants`."""
    meta = {"constants": dict(constants)}

    def judged(batches: Batches) -> Batches:
        judge, via = judge_of(name, dialect, program), _read_ways(ways)
        for batch in batches:
            rows = StepRows({})
            verdicts = [
                _judged(judge, rows, trace_to(via, row["source"], row["state_after"], meta), row)
                for row in batch.to_pylist()
            ]
            yield pa.RecordBatch.from_pylist(verdicts, VERDICTS)

    return judged


def _judged(judge: Judge, rows: StepRows, trace: Trace, row: Row) -> Row:
    verdict: Row = {}
    for one in rows.trace("a shortest path", trace, f"to {row['step']}"):
        verdict = judge.judge({**one, "part": row["part"], "configuration": row["configuration"]})
        if verdict["verdict"] == LEFT_OUT:
            break
        arrived = one["index"] == len(trace.states) - 1 and verdict["verdict"] != NOT_JUDGED
        verdict["reached"] = "path" if arrived else ""
        if verdict["verdict"] != PASS and not arrived:
            what = way(one["action"], one["branch"], one["error"])
            verdict["ended"] = f"step {one['index']} of {len(trace.states) - 1}, {what}"
            verdict["differences"] = verdict["differences"] or verdict["not_loaded"]
            verdict["verdict"] = NOT_JUDGED
            break
    own = ("step", "trace", "index", "source", "input", "depth", "action", "branch", "error", "not_loaded")
    return {**verdict, **{name: row[name] for name in own}}
