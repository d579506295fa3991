"""Results of the verdicts: coverage, findings, the quarantine, and the steps that were left out or not
judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.pipeline.judging import FAIL, LEFT_OUT, NOT_JUDGED, TARGET_FAILED, WITHOUT
from harness.pipeline.run import Run
from harness.pipeline.tables import key, value_of
from harness.replay.judge import OPERATION
from harness.replay.signature import place, signature
from harness.requirements import broken, requirements
from harness.waivers import Waivers

_SHAPE: Final = ["action", "branch", "error"]
Shape = tuple[str, str, str]


def coverage(verdicts: DataFrame, waived: Mapping[Shape, int]) -> list[dict[str, Any]]:
    """The rows of `coverage`; a `waived` step (see below) has not failed."""
    failed = F.count_if(F.col("verdict") == FAIL).alias("failed")
    judged = verdicts.where(~F.col("verdict").isin(*WITHOUT))
    counted = judged.groupBy(*_SHAPE, "dialect").agg(F.count("*").alias("tested"), failed)
    rows = [
        {"requirement": requirement, **row.asDict(), "failed": row["failed"] - waived.get(_shape(row), 0)}
        for row in counted.collect()
        for requirement in requirements(row["action"], row["branch"], row["error"])
    ]
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in ("requirement", *_SHAPE)))


def findings(verdicts: DataFrame) -> list[dict[str, Any]]:
    """The rows of `findings`, the most frequent first; of a difference only its `place` counts. Each row of
    `verdicts` counts, also where several states of the model have the same step."""
    places = F.udf(_places, "array<string>", useArrow=False)
    steps = verdicts.where(F.col("verdict") == FAIL).withColumn("paths", places("differences"))
    order = F.struct("depth", "step", "trace", "index")
    example = F.min_by(F.struct("step", "trace", "index", "depth", "differences"), order).alias("example")
    grouped = steps.groupBy(*_SHAPE, "paths").agg(F.count("*").alias("count"), example)
    rows = []
    for row in grouped.orderBy(F.desc("count"), *_SHAPE, "paths").collect():
        shape = {name: row[name] for name in _SHAPE}
        paths, example_row = list(row["paths"]), row["example"].asDict(recursive=True)
        rows.append(
            {
                "finding": key(*shape.values(), *paths),
                "requirement": broken(row["action"], row["branch"], row["error"], paths),
                **shape,
                "paths": paths,
                "signatures": [signature(*_shape(row), path) for path in paths],
                "count": row["count"],
                "steps": example_row.pop("depth") + 1,
                **example_row,
            }
        )
    return rows


def _places(differences: Sequence[Mapping[str, str]]) -> list[str]:
    """The places of a step's differences, each once."""
    return sorted({place(one["path"], one["expected"], one["got"]) for one in differences})


def waive(findings: list[dict[str, Any]], waivers: Waivers) -> tuple[list[dict[str, Any]], Counter[Shape]]:
    """The remaining findings, and for each shape the number of steps with only accepted differences.

    A finding of which only some differences are accepted stays.
    """
    left, waived = [], Counter[Shape]()
    for one in findings:
        names = one["signatures"]
        if all([waivers.covers(name, one["count"]) for name in names]):  # a list: each of its items counts
            waived[_shape(one)] += one["count"]
        else:
            left.append(one)
    return left, waived


def _shape(row: Any) -> Shape:
    return row["action"], row["branch"], row["error"]


def left_out(verdicts: DataFrame) -> dict[str, int]:
    """Feature that the target lacks -> number of steps that were left out for it."""
    rows = verdicts.where(F.col("verdict") == LEFT_OUT).groupBy("lacks").count().collect()
    return {row["lacks"]: row["count"] for row in sorted(rows)}


def kept(verdicts: DataFrame) -> dict[str, int]:
    """Counts of the state graph without the steps that were left out: transitions; distinct steps, inputs and
    states."""
    graph = verdicts.where((F.col("trace") == "") & (F.col("verdict") != LEFT_OUT))
    distinct = {"steps": "step", "inputs": "input", "states": "source"}
    counts = [F.countDistinct(column).alias(name) for name, column in distinct.items()]
    counted = graph.agg(F.count("*").alias("transitions"), *counts).collect()[0]
    return {name: int(count) for name, count in counted.asDict().items()}


def not_loaded(verdicts: DataFrame) -> dict[str, dict[str, Any]]:
    """The states that the target described differently after `load`, as `wrong`, and those whose load it
    refused, as `refused`: their number (`states`), and for the one nearest to an initial state its key, its
    distance (`depth`) and its differences."""
    lacking = verdicts.where(F.size("not_loaded") > 0)
    by_refusal = F.exists("not_loaded", lambda one: one["path"].startswith(OPERATION))
    order = F.struct("depth", "step", "trace", "index")
    states = lacking.groupBy("source", by_refusal.alias("refused")).agg(
        F.min("depth").alias("depth"), F.min_by("not_loaded", order).alias("differences")
    )
    first = F.min_by(F.struct("source", "depth", "differences"), F.struct("depth", "source")).alias("first")
    rows = states.groupBy("refused").agg(F.count("*").alias("states"), first).collect()
    refused = {}
    for row in rows:
        one = row["first"].asDict(recursive=True)
        how = "refused" if row["refused"] else "wrong"
        refused[how] = {"states": row["states"], "state": one.pop("source"), **one}
    return refused


def first_not_judged(verdicts: DataFrame) -> dict[str, Any]:
    """The nearest step to an initial state that could not be judged: the end of its shortest path, and the
    differences there; without a path, the differences after `load`, or `failure`, the sentence about a target
    that failed. A step at which the target failed goes before others."""
    missing = verdicts.where(F.col("verdict").isin(NOT_JUDGED, TARGET_FAILED))
    row = missing.orderBy(F.col("verdict") != TARGET_FAILED, "depth", "step", "trace", "index").first()
    assert row is not None
    one = row.asDict(recursive=True)
    names = ("step", "trace", "index", "depth", *_SHAPE, "ended")
    failure = value_of(one["differences"][0]["got"]) if one["verdict"] == TARGET_FAILED else ""
    differences = [] if failure else one["differences"] or one["not_loaded"]
    return {name: one[name] for name in names} | {"failure": failure, "differences": differences}


def quarantine(run: Run, origins: Mapping[str, bool]) -> DataFrame:
    """The rows of `quarantine`: of files, of lines of a dump, and of steps."""
    excerpt = F.lit(None).cast("string").alias("excerpt")
    none = F.lit(None).cast("bigint").alias("offset")
    rows = []
    if origins.get("traces"):
        files = run.read("traces").where("problem IS NOT NULL")
        rows.append(files.select("uri", "offset", F.col("problem").alias("reason"), excerpt))
        bad = run.read("steps", "traces").where("problem IS NOT NULL")
        named = bad.join(run.read("traces").select("trace", "uri"), "trace", "left")
        rows.append(named.select("uri", none, F.col("problem").alias("reason"), excerpt))
    if origins.get("graph"):
        graph = F.lit("the state graph").alias("uri")
        lines = run.read("graph").where("kind = 'bad'")
        rows.append(lines.select("uri", "offset", F.col("text").alias("reason"), excerpt))
        bad = run.read("steps", "graph").where("problem IS NOT NULL")
        shown = F.col("state_after").alias("excerpt")
        rows.append(bad.select(graph, none, F.col("problem").alias("reason"), shown))
    result = rows[0]
    for more in rows[1:]:
        result = result.unionByName(more)
    return result
