"""The stages that end with `steps`: of a model's whole state graph, of dumps, and of traces.

Everything that was read is either in the tables or in the quarantine; `harness.pipeline.exhaust` counts it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow.fs import LocalFileSystem, copy_files
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.dialect_name import base_of
from harness.engines.base import Limits, Model
from harness.engines.tlc import VERSION
from harness.engines.tlc_config import read_config
from harness.errors import ConformError
from harness.kit import kit_path
from harness.pipeline import decoding, depths, lookup, sources, tables, tours
from harness.pipeline.dump import reading, splits
from harness.pipeline.parts import WRITTEN, Maker, writing
from harness.pipeline.run import Run, parts_of, struct
from harness.pipeline.session import parallelism
from harness.pipeline.store import file_system
from harness.pipeline.tables import STATES, key
from harness.pipeline.version import code_key
from harness.replay.dialects import TEXT, dialect_of
from harness.scenario.files import SPEC
from harness.spechash import file_hash, spec_hash
from harness.transitions import dump

SPLIT: Final = 8 << 20
"""Bytes of a dump that one task reads."""
GRAPH: Final = "graph"
TRACES: Final = "traces"
"""The origins of steps: folders of the tables `steps` and `verdicts`."""

Counts = Mapping[str, int]
_STALE: Final = ("graph", depths.FOLDER, "states", f"steps/{GRAPH}", f"verdicts/{GRAPH}")
"""Folders of an earlier graph, removed when a graph is read."""


def model_dialect(model: Model) -> str:
    """The name of a model's dialect. ConformError for an unknown one."""
    return dialect_of(read_config(model.configuration).constants(), f"The model {model.name}")


def read_model(run: Run, model: Model, limits: Limits, log: Path) -> tuple[str, Counts]:
    """The key and the counts of the transitions of a model's whole state graph."""
    config = model.configuration
    depends = key(code_key(), model.name, spec_hash(model.module, config), VERSION)

    def work() -> Counts:
        with tempfile.TemporaryDirectory(prefix="conform-") as folder:
            dot = Path(folder) / "graph.dot"
            run.progress("TLC writes the state graph")

            def write() -> Counts:
                return {
                    "distinct": dump(
                        model, dot, limits=limits, log=log, progress=run.progress, any_order=True
                    )
                }

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
    """Read the tables of dumps that exist already."""
    depends = key(code_key(), *(_content(uri) for uri in uris))
    graph = run.unit("graph", depends, lambda: _read_dumps(run, uris), *_STALE)
    return depends, {**graph, **_decode_graph(run, depends, graph, {})}


def _content(uri: str) -> str:
    """A file's name and the hash of its bytes: a file may be replaced within a tick of the clock, or have an
    old time."""
    files, path = file_system(uri)
    with files.open_input_stream(path) as stream:
        return f"{uri} {hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _rendered(uris: Iterable[str]) -> list[str]:
    """The specification and the version of TLC, if scenarios or logs are among the files: their expected
    answers are those of the specification."""
    if not {"scenario", "log"} & {sources.kind_of(uri) for uri in uris}:
        return []
    modules = sorted(kit_path(SPEC).glob("*.tla"))
    return [VERSION, *(f"{module.name} {file_hash(module)}" for module in modules)]


def _read_dumps(run: Run, uris: Sequence[str]) -> Counts:
    """Read lines into the table `graph`, in parallel."""
    run.progress("reading the state graph")
    pieces = [piece for uri in uris for piece in splits(uri, SPLIT)]
    run.store.remove("graph")
    written = reading(pieces, run.store.table("graph"))
    run.each(len(pieces)).mapInArrow(written, struct(WRITTEN)).collect()
    counts = {row["kind"]: row["count"] for row in run.read("graph").groupBy("kind").count().collect()}
    counted = {kind: counts.get(kind, 0) for kind in ("state", "step", "edge", "other", "bad")}
    return {**counted, "lines": sum(_lines(uri) for uri in uris)}


def _lines(uri: str) -> int:
    """The lines of a file, counted independently of its readers."""
    files, path = file_system(uri)
    count, last = 0, b"\n"
    with files.open_input_stream(path) as stream:
        while data := stream.read(1 << 20):
            count, last = count + data.count(b"\n"), data[-1:]
    return count + (last != b"\n")


def _decode_graph(run: Run, depends: str, graph: Counts, constants: Mapping[str, Any]) -> Counts:
    """The tables `depths`, `states` and, of the graph, `steps`."""
    run.progress("measuring the ways to the states")
    run.unit(depths.FOLDER, depends, lambda: depths.write_depths(run), depths.FOLDER)
    known = depths.depths_of(run)

    def states() -> Counts:
        run.progress("reading the states")
        (names, looked), decode = depths.states_of(run), decoding.states
        nodes = run.each(len(names)).coalesce(parallelism(run.spark))  # a task remembers parts of its states
        made = nodes.mapInArrow(lambda batches: decode(looked(batches)), struct(STATES))
        made.write.mode("overwrite").parquet(run.store.table("states"))
        return {"states": run.read("states").count()}

    def steps() -> Counts:
        run.progress("reading the transitions")
        decode = decoding.transitions(constants)
        if not graph["edge"]:
            return {**_write_steps(run, run.each(0), decode, GRAPH), "transitions": 0}
        leaf = "step" if graph["step"] else "state"
        leaves = run.read("graph").where(F.col("kind") == leaf).select("node", lookup.place().alias("leaf"))
        edges = run.read("graph").where("kind = 'edge'").select("node", "target").dropDuplicates()
        if graph["step"]:
            edges = edges.join(known.select(F.col("node").alias("target")), "target", "left_anti")
        after = edges.join(leaves.withColumnRenamed("node", "target"), "target", "left")
        pairs = after.join(known, "node", "left").select("source", "leaf", "depth")
        starts = lookup.write_pairs(run, pairs)
        looked = lookup.texts_of(run.store.table("graph"), leaf, run.store.table(lookup.PAIRS), starts)
        made = _write_steps(run, run.each(len(starts)), lambda batches: decode(looked(batches)), GRAPH)
        transitions = edges.count()
        run.store.remove(lookup.PAIRS)
        return {**made, "transitions": transitions}

    return {
        **run.unit("states", depends, states, "states"),
        **run.unit(f"steps/{GRAPH}", depends, steps, f"steps/{GRAPH}", f"verdicts/{GRAPH}"),
    }


def make_tours(run: Run, model: Model, limits: Limits, log: Path) -> tuple[str, Counts]:
    """The key and the number of the tours of a closed model."""
    depends = key(code_key(), model.name, spec_hash(model.module, model.configuration), VERSION)
    return depends, run.unit(
        tours.FOLDER, depends, lambda: tours.write_tours(run, model, limits, log), tours.FOLDER
    )


def read_traces(
    run: Run, uris: Sequence[str], by_spark: Mapping[str, str], toured: str
) -> tuple[str, Counts]:
    """The key and the counts of the steps of files (see `harness.pipeline.sources`), of those that Spark
    reads, with a sign of their version, and of the tours that were made, whose key is `toured` ("" for
    none)."""
    stamps = (f"{uri} {stamp}" for uri, stamp in by_spark.items())
    rendered = _rendered([*uris, *by_spark])
    depends = key(code_key(), toured, *(_content(uri) for uri in uris), *stamps, *rendered)

    def traces() -> Counts:
        run.progress(f"reading {len(uris) + len(by_spark)} files")
        rows = run.rows([{"uri": uri} for uri in uris], pa.schema([("uri", pa.string())]), len(uris))
        read = rows.mapInArrow(sources.read_files, struct(tables.TRACES))
        if by_spark:
            whole = sources.contents(run.spark, list(by_spark)).select(F.col("path").alias("uri"), "content")
            read = read.unionByName(whole.mapInArrow(sources.read_contents, struct(tables.TRACES)))
        read.write.mode("overwrite").parquet(run.store.table("traces"))
        if toured:
            tours.add_tours(run)
        counted = run.read("traces")
        bad = counted.where("problem IS NOT NULL").count()
        return {"files": counted.count(), "bad_files": bad, "traces": _traces(run).count()}

    def steps() -> Counts:
        run.progress("reading the steps of the traces")
        parts = parts_of(counts["traces"] * _STEPS_OF_A_TRACE)
        near = _traces(run).repartitionByRange(parts, "file", "row").sortWithinPartitions("file", "row")
        looked, decode = lookup.traces_of(run.store.table("traces")), decoding.traces
        chosen = near.select("trace", "uri", "file", "row")
        made = _write_steps(run, chosen, lambda batches: decode(looked(batches)), TRACES)
        return {**made, "expected": _expected(run)}

    counts = run.unit("traces", depends, traces, "traces", f"steps/{TRACES}", f"verdicts/{TRACES}")
    made = run.unit(f"steps/{TRACES}", depends, steps, f"steps/{TRACES}", f"verdicts/{TRACES}")
    return depends, {**counts, **made}


def check_dialects(run: Run, dialect: str) -> None:
    """Compare the dialects of the traces in the table, which Spark has read, with that of the target.
    ConformError (exit 2) for a trace of another one; KIP-848's text is for every target."""
    spoken = F.udf(_dialect, "string", useArrow=False)("itf").alias("dialect")
    given = run.read("traces").where("trace IS NOT NULL AND kind <> 'tour'")
    for row in given.groupBy(spoken).agg(F.min("uri").alias("uri")).orderBy("dialect").collect():
        if row["dialect"] not in ("", TEXT.name, base_of(dialect)):
            raise ConformError(
                f"The trace {row['uri']} is of the dialect {row['dialect']!r}, and the target is judged in "
                f"{dialect!r}: give --dialect {row['dialect']}, or judge the trace by itself."
            )


def _dialect(itf: str) -> str:
    """The dialect of a trace; "" for one that is not known, which decoding notes."""
    try:
        return dialect_of(json.loads(itf)["#meta"].get("constants"), "")
    except (ConformError, KeyError, AttributeError):
        return ""


_STEPS_OF_A_TRACE: Final = 50
"""About the number of steps of a trace, for the number of parts."""


def _traces(run: Run) -> DataFrame:
    """Every trace once, however many files have it: its key, one of its files, its number of states, and the
    place of its row in the table; the texts are looked up there when they are needed."""
    place = F.col("_metadata.file_name").alias("file"), F.col("_metadata.row_index").alias("row")
    good = (
        run.read("traces")
        .where("trace IS NOT NULL")
        .select("trace", F.struct("uri", "states", *place).alias("one"))
    )
    return good.groupBy("trace").agg(F.min("one").alias("one")).select("trace", "one.*")


def _expected(run: Run) -> int:
    """The number of rows of steps that the traces must have: one for each step, or one with the reason why
    there is none."""
    bad = run.read("steps", TRACES).where("problem IS NOT NULL").select("trace", "problem")
    rows = F.when(F.col("problem").isNull(), F.col("states") - 1).otherwise(1)
    return int(_traces(run).join(bad, "trace", "left").agg(F.sum(rows)).collect()[0][0] or 0)


def _write_steps(run: Run, given: DataFrame, make: Maker, origin: str) -> Counts:
    written = given.mapInArrow(writing(run.store.table("steps", origin), make), struct(WRITTEN))
    written.collect()  # counts the content of the files, and not the reported numbers
    bad = F.col("problem").isNotNull()
    calls = F.col("operation").isNotNull()
    counts = run.read("steps", origin).agg(
        F.count("*").alias("rows"),
        F.count_if(bad).alias("problems"),
        F.count_if(calls).alias("steps"),
        F.count_if(~calls & ~bad).alias("no_call"),
        F.countDistinct("step").alias("distinct_steps"),
        F.countDistinct("input").alias("inputs"),
        F.countDistinct("source").alias("sources"),
    )
    return {name: int(count) for name, count in counts.collect()[0].asDict().items()}
