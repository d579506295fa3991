"""The stages that end with `steps`: of a model's whole state graph, of dumps, and of traces.

Everything that was read is either in the tables or in the quarantine; `harness.pipeline.exhaust` counts it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow.fs import LocalFileSystem, copy_files
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.engines.base import Limits, Model
from harness.engines.tlc import VERSION
from harness.engines.tlc_config import read_config
from harness.modules import config_beside
from harness.pipeline import decoding, sources, tables, tours
from harness.pipeline.dump import read_splits, splits
from harness.pipeline.run import Run, parts_of, struct
from harness.pipeline.store import file_system
from harness.pipeline.tables import STATES, STEPS, key
from harness.pipeline.version import code_key
from harness.replay.dialects import dialect_of
from harness.spechash import spec_hash
from harness.transitions import dump

SPLIT: Final = 8 << 20
"""Bytes of a dump that one task reads."""
GRAPH: Final = "graph"
TRACES: Final = "traces"
"""Where steps come from: folders of the tables `steps` and `verdicts`."""

Counts = Mapping[str, int]
_STALE: Final = ("graph", "states", f"steps/{GRAPH}", f"verdicts/{GRAPH}")
"""What is of another graph when a graph is read."""


def config_of(model: Model) -> Path:
    """The configuration of a model."""
    return model.config or config_beside(model.module)


def model_dialect(model: Model) -> str:
    """The name of the dialect that a model is of. ConformError for one that there is not."""
    return dialect_of(read_config(config_of(model)).constants(), f"The model {model.name}")


def read_model(run: Run, model: Model, limits: Limits, log: Path) -> tuple[str, Counts]:
    """The key and the counts of the transitions of a model's whole state graph."""
    config = config_of(model)
    depends = key(code_key(), model.name, spec_hash(model.module, config), VERSION)

    def work() -> Counts:
        with tempfile.TemporaryDirectory(prefix="conform-") as folder:
            dot = Path(folder) / "graph.dot"
            run.progress("TLC writes the state graph")

            def write() -> Counts:
                return {"distinct": dump(model, dot, limits=limits, log=log, progress=run.progress)}

            distinct = run.timed("tlc", write)["distinct"]
            shared = f"{run.store.root}/graph.dot"
            copy_files(
                str(dot), shared, source_filesystem=LocalFileSystem(), destination_filesystem=run.store.files
            )
        counts = _read_dumps(run, [run.store.table("graph.dot")])
        run.store.remove("graph.dot")
        return {**counts, "distinct": distinct}

    graph = run.unit("graph", depends, work, *_STALE)
    return depends, {**graph, **_decode_graph(run, depends, graph, read_config(config).constants())}


def read_dumps(run: Run, uris: Sequence[str]) -> tuple[str, Counts]:
    """The same of dumps that are there already."""
    depends = key(code_key(), *(_content(uri) for uri in uris))
    graph = run.unit("graph", depends, lambda: _read_dumps(run, uris), *_STALE)
    return depends, {**graph, **_decode_graph(run, depends, graph, {})}


def _content(uri: str) -> str:
    files, path = file_system(uri)
    info = files.get_file_info(path)
    return f"{uri} {info.size} {info.mtime_ns}"


def _read_dumps(run: Run, uris: Sequence[str]) -> Counts:
    """Lines to the table `graph`, in parallel."""
    run.progress("reading the state graph")
    pieces = [piece for uri in uris for piece in splits(uri, SPLIT)]
    schema = pa.schema([("uri", pa.string()), *((name, pa.int64()) for name in ("start", "end", "bytes"))])
    lines = run.rows(pieces, schema, len(pieces)).mapInArrow(read_splits, struct(tables.GRAPH))
    lines.write.mode("overwrite").partitionBy("kind").parquet(run.store.table("graph"))
    found = {row["kind"]: row["count"] for row in run.read("graph").groupBy("kind").count().collect()}
    counted = {kind: found.get(kind, 0) for kind in ("state", "step", "edge", "other", "bad")}
    return {**counted, "lines": sum(_lines(uri) for uri in uris)}


def _lines(uri: str) -> int:
    """The lines of a file, counted by no one who reads them."""
    files, path = file_system(uri)
    count, last = 0, b"\n"
    with files.open_input_stream(path) as stream:
        while data := stream.read(1 << 20):
            count, last = count + data.count(b"\n"), data[-1:]
    return count + (last != b"\n")


def _decode_graph(run: Run, depends: str, graph: Counts, constants: Mapping[str, Any]) -> Counts:
    """The tables `states` and, of the graph, `steps`."""
    text, node = F.col("text"), F.col("node")
    depth = F.regexp_extract(text, r"conformDepth = (\d+)", 1).try_cast("int").alias("depth")
    nodes = run.read("graph").where(F.col("kind").isin("state", "step"))
    beginnings = nodes.where("kind = 'state'").select(node.alias("from"), text.alias("source"), depth)
    wanted = nodes.where("kind = 'step'") if graph["step"] else nodes
    leaves = wanted.select(node.alias("to"), text.alias("leaf"))
    others = nodes.where("kind = 'state'").select(node.alias("to")).withColumn("known", F.lit(True))

    def states() -> Counts:
        run.progress("reading the states")
        made = beginnings.select("source", "depth").mapInArrow(decoding.states, struct(STATES))
        made.write.mode("overwrite").parquet(run.store.table("states"))
        return {"states": run.read("states").count()}

    def steps() -> Counts:
        run.progress("reading the transitions")
        edges = (
            run.read("graph").where("kind = 'edge'").select(node.alias("from"), F.col("target").alias("to"))
        )
        edges = edges.dropDuplicates().join(others, "to", "left")
        if graph["step"]:
            edges = edges.where("known IS NULL")
        parts = parts_of(graph["edge"] // 2 if graph["step"] else graph["edge"])
        # rows with a state are long: they are looked up, and not sorted for it
        after = edges.join(leaves, "to", "left")
        pairs = after.join(beginnings.hint("shuffle_hash"), "from", "left")
        transitions = edges.count()
        ordered = pairs.repartition(parts, "from").sortWithinPartitions("from", "to")
        made = ordered.select("source", "leaf", "depth").mapInArrow(
            decoding.transitions(constants), struct(STEPS)
        )
        return {**_write_steps(run, made, GRAPH), "transitions": transitions}

    return {
        **run.unit("states", depends, states, "states"),
        **run.unit(f"steps/{GRAPH}", depends, steps, f"steps/{GRAPH}", f"verdicts/{GRAPH}"),
    }


def make_tours(run: Run, model: Model, limits: Limits, log: Path) -> tuple[str, Counts]:
    """The key and the number of the tours of a closed model."""
    depends = key(code_key(), model.name, spec_hash(model.module, config_of(model)), VERSION)
    return depends, run.unit(tours.FOLDER, depends, lambda: tours.write_tours(run, model, limits, log))


def read_traces(run: Run, uris: Sequence[str], toured: str) -> tuple[str, Counts]:
    """The key and the counts of the steps of files (see `harness.pipeline.sources`), and of the tours that
    were made, whose key is `toured` ("" for none)."""
    depends = key(code_key(), toured, *(_content(uri) for uri in uris))

    def traces() -> Counts:
        run.progress(f"reading {len(uris)} files")
        rows = run.rows([{"uri": uri} for uri in uris], pa.schema([("uri", pa.string())]), len(uris))
        read = rows.mapInArrow(sources.read_files, struct(tables.TRACES))
        if toured:
            read = read.unionByName(run.spark.read.parquet(run.store.table(tours.FOLDER)))
        read.write.mode("overwrite").parquet(run.store.table("traces"))
        counted = run.read("traces")
        bad = counted.where("problem IS NOT NULL").count()
        return {"files": counted.count(), "bad_files": bad, "traces": _traces(run).count()}

    def steps() -> Counts:
        run.progress("reading the steps of the traces")
        every = _traces(run).repartition(parts_of(counts["traces"] * _STEPS_OF_A_TRACE), "trace")
        ordered = every.sortWithinPartitions("trace").select("trace", "uri", "itf")
        made = _write_steps(run, ordered.mapInArrow(decoding.traces, struct(STEPS)), TRACES)
        return {**made, "expected": _expected(run)}

    counts = run.unit("traces", depends, traces, "traces", f"steps/{TRACES}", f"verdicts/{TRACES}")
    made = run.unit(f"steps/{TRACES}", depends, steps, f"steps/{TRACES}", f"verdicts/{TRACES}")
    return depends, {**counts, **made}


_STEPS_OF_A_TRACE: Final = 50
"""About, for the number of parts."""


def _traces(run: Run) -> DataFrame:
    """Every trace once, however many files have it."""
    good = run.read("traces").where("itf IS NOT NULL")
    # the texts are large: they are looked up after the choice, and never sorted
    chosen = good.groupBy("trace").agg(F.min("uri").alias("uri"))
    return good.join(chosen, ["trace", "uri"], "left_semi").select("trace", "uri", "itf", "states")


def _expected(run: Run) -> int:
    """How many rows of steps the traces have: one a step, or the one that says why there is none."""
    bad = run.read("steps", TRACES).where("problem IS NOT NULL").select("trace", "problem")
    rows = F.when(F.col("problem").isNull(), F.col("states") - 1).otherwise(1)
    return int(_traces(run).join(bad, "trace", "left").agg(F.sum(rows)).collect()[0][0] or 0)


def _write_steps(run: Run, made: DataFrame, origin: str) -> Counts:
    place = run.store.table("steps", origin)
    made.withColumn("part", F.spark_partition_id()).write.mode("overwrite").partitionBy("part").parquet(place)
    bad = F.col("problem").isNotNull()
    calls = F.col("operation").isNotNull()
    found = run.read("steps", origin).agg(
        F.count("*").alias("rows"),
        F.count_if(bad).alias("problems"),
        F.count_if(calls).alias("steps"),
        F.count_if(~calls & ~bad).alias("no_call"),
        F.countDistinct("step").alias("distinct_steps"),
        F.countDistinct("input").alias("inputs"),
        F.countDistinct("source").alias("sources"),
    )
    return {name: int(count) for name, count in found.collect()[0].asDict().items()}
