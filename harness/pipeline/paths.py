"""States that a target cannot load, reached by their shortest path; and the shortest trace to a finding.

The links between states are held whole, by keys of 32 characters. The texts of states, which are a hundred
times as long, are looked up for the states of a path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.pipeline.judging import LEFT_OUT, NOT_JUDGED, PASS, TARGET_FAILED, Judge, judge_of
from harness.pipeline.parts import Batches, Row
from harness.pipeline.rows import StepRows
from harness.pipeline.run import Run
from harness.pipeline.store import file_system
from harness.pipeline.tables import VERDICTS
from harness.replay.signature import way
from harness.tlaparse import Reader

_SOURCES: Final = pa.schema([("source", pa.string())])
_STATES: Final = pa.schema([("state", pa.string())])
WAYS: Final = "ways"
"""The folder of a temporary table: for each state the one before it, and its own text in TLC's form."""
Links: TypeAlias = Mapping[str, str]
"""State -> the state before it on a shortest path; "" for an initial one."""
Texts: TypeAlias = Mapping[str, str]
"""State -> its text with the step into it, in TLC's form; only requested states."""


@dataclass(frozen=True)
class Examples:
    """Shortest ways to some steps: for each step the state after it, in TLC's form, and the keys of the
    states before it, from an initial one; and the texts of these states."""

    after: Mapping[str, str]
    keys: Mapping[str, list[str]]
    texts: Texts


def ways_to(run: Run, steps: Collection[str]) -> Examples:
    """The shortest ways to steps of the state graph, by their keys: of several ways the one whose steps have
    the smallest keys."""
    if not steps:
        return Examples({}, {}, {})
    chosen = run.read("steps", "graph").where(F.col("step").isin(list(steps)))
    rows = chosen.select("step", "source", "state_after").dropDuplicates(["step"]).collect()
    links = {row["state"]: row["source"] for row in _ways(run).select("state", "source").collect()}
    keys = {row["step"]: keys_to(links, row["source"]) for row in rows}
    states = {key for path in keys.values() for key in path}
    wanted = run.rows([{"state": one} for one in sorted(states)], _STATES)
    known = _ways(run).join(wanted, "state", "left_semi").select("state", "text").collect()
    texts = {row["state"]: row["text"] for row in known}
    return Examples({row["step"]: row["state_after"] for row in rows}, keys, texts)


def _ways(run: Run) -> DataFrame:
    """The shortest ways to states, as rows.

    A closed model has states that differ only in its clients, which have one key here: of their distances
    the shortest counts. With any other a step that stays in a state would lead to it.
    """
    states, steps = run.read("states"), run.read("steps", "graph").where("operation IS NOT NULL")
    ends = states.groupBy(F.col("state").alias("after")).agg((F.min("depth") - 1).alias("depth"))
    last = [F.min_by(name, "step").alias(to) for name, to in (("source", "source"), ("state_after", "text"))]
    ways = steps.join(ends, ["after", "depth"]).groupBy(F.col("after").alias("state")).agg(*last)
    initial = states.where("depth = 0").select("state", F.lit("").alias("source"), "text")
    return ways.join(initial, "state", "left_anti").unionByName(initial)


def write_ways(run: Run) -> str:
    """Write the ways for workers, as a temporary table; its place."""
    place = run.store.table(WAYS)
    _ways(run).write.mode("overwrite").parquet(place)
    return place


class WaysOfWorker:
    """The table of `write_ways` in a worker: the links of all states, and texts when they are needed."""

    def __init__(self, place: str) -> None:
        files, path = file_system(place)
        self._table = ds.dataset(path, filesystem=files, format="parquet")
        self.links: Links = self._pairs("source")

    def texts(self, states: Collection[str]) -> Texts:
        """The texts of these states."""
        return self._pairs("text", ds.field("state").isin(list(states)))

    def _pairs(self, column: str, only: Any = None) -> dict[str, str]:
        table = self._table.to_table(columns=["state", column], filter=only)
        return dict(zip(table["state"].to_pylist(), table[column].to_pylist(), strict=True))


def keys_to(links: Links, state: str) -> list[str]:
    """The keys of the states on a shortest path from an initial state to this one. ConformError (exit 2)
    where different states have one key, so that a way may lead in a circle."""
    path: list[str] = []
    while state:
        if len(path) == len(links):
            raise ConformError(
                "The model has states that differ in a variable which its kind of group does not keep, so "
                "that no way to a state can be told. Add it to `kept` of the kind in harness/kinds.",
                USAGE,
            )
        path.append(state)
        state = links[state]
    return path[::-1]


def enabled(run: Run, states: Iterable[str]) -> Mapping[str, list[str]]:
    """By the key of a state the requests that are possible there: "Heartbeat/stable: m1, m2"."""
    wanted = run.rows([{"source": one} for one in sorted(set(states))], _SOURCES)
    steps = run.read("steps", "graph").where("operation IS NOT NULL")
    ways = steps.select("source", "action", "branch", "error", "member").distinct()
    by_state: dict[str, dict[str, list[str]]] = {}
    for row in ways.join(wanted, "source", "left_semi").collect():
        name = "/".join(filter(None, (row["action"], row["branch"])))
        error = "" if row["error"] in ("", "NONE") else f" {row['error']}"
        by_state.setdefault(row["source"], {}).setdefault(name + error, []).append(row["member"])
    return {
        state: [f"{name}: {', '.join(sorted(who))}".removesuffix(": ") for name, who in sorted(names.items())]
        for state, names in by_state.items()
    }


def trace_to(texts: Texts, path: Sequence[str], after: str, meta: Mapping[str, object]) -> Trace:
    """The trace along the keys of `path`, whose last step leads to `after` (in TLC's form)."""
    reader = Reader()
    states = [reader.state(printed) for printed in (*(texts[one] for one in path), after)]
    return Trace(dict(meta), tuple(sorted(states[0])), states)


def not_judged(run: Run, verdicts: DataFrame) -> DataFrame:
    """The rows of `steps` that have no verdict yet, with the differences after `load`."""
    missing = verdicts.where(F.col("verdict") == NOT_JUDGED).select("step", "not_loaded")
    return run.read("steps", "graph").join(missing.dropDuplicates(["step"]), "step")


def judging_by_path(
    name: str, dialect: str, program: str, ways: str, constants: Mapping[str, Any]
) -> Callable[[Batches], Batches]:
    """A function for `mapInArrow`: batches of `steps` to batches of `verdicts`, by way of shortest paths,
    which are at the place `ways`; the state graph is of a model with these `constants`."""
    meta = {"constants": dict(constants)}

    def judged(batches: Batches) -> Batches:
        judge, via = judge_of(name, dialect, program), WaysOfWorker(ways)
        for batch in batches:
            rows, given = StepRows({}), batch.to_pylist()
            path = {row["source"]: keys_to(via.links, row["source"]) for row in given}
            texts = via.texts({key for keys in path.values() for key in keys})
            verdicts = [
                _judged(judge, rows, trace_to(texts, path[row["source"]], row["state_after"], meta), row)
                for row in given
            ]
            yield pa.RecordBatch.from_pylist(verdicts, VERDICTS)

    return judged


def _judged(judge: Judge, rows: StepRows, trace: Trace, row: Row) -> Row:
    verdict: Row = {}
    for one in rows.trace("a shortest path", trace, f"to {row['step']}"):
        verdict = judge.judge({**one, "part": row["part"], "configuration": row["configuration"]})
        if verdict["verdict"] == LEFT_OUT:
            break
        failed = verdict["verdict"] == TARGET_FAILED
        arrived = one["index"] == len(trace.states) - 1 and verdict["verdict"] != NOT_JUDGED and not failed
        verdict["reached"] = "path" if arrived else ""
        if verdict["verdict"] != PASS and not arrived:
            what = way(one["action"], one["branch"], one["error"])
            verdict["ended"] = f"step {one['index']} of {len(trace.states) - 1}, {what}"
            verdict["differences"] = verdict["differences"] or verdict["not_loaded"]
            verdict["verdict"] = TARGET_FAILED if failed else NOT_JUDGED
            break
    own = ("step", "trace", "index", "source", "input", "depth", "action", "branch", "error", "not_loaded")
    return {**verdict, **{name: row[name] for name in own}}
