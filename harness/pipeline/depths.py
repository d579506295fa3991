"""Depths of the states of a dump: the steps of the shortest way from an initial state.

TLC notes the length of the way by which it reached a state first. With several workers this way is not always
a shortest one: of these notes 0 marks the initial states, and the others are for states of a damaged dump to
which no way leads any more. The edges between states are held whole, by numbers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.pipeline import lookup
from harness.pipeline.run import Run

FOLDER: Final = "depths"
"""The table of each state's node, `source` (its place in the table `graph`) and depth."""
_EDGES: Final = 10_000
"""The number of edges that become objects of Python at a time."""
_DEPTHS: Final = pa.schema([("node", pa.int64()), ("depth", pa.int32())])


def write_depths(run: Run) -> Mapping[str, int]:
    """Write the depths of the states of the table `graph`; their number. A dump that has no notes has no
    depths."""
    graph = run.read("graph")
    place = lookup.place() if run.store.has("graph") else F.lit(None).cast("bigint")  # of an empty dump
    note = F.regexp_extract("text", r"conformDepth = (\d+)", 1).try_cast("int").alias("note")
    states = graph.where("kind = 'state'").select("node", place.alias("source"), note)
    ends = states.select(F.col("node").alias("target"))
    between = graph.where("kind = 'edge'").join(ends, "target", "left_semi").select("node", "target")
    following = defaultdict[int, list[int]](list)
    for batch in between.dropDuplicates().toArrow().to_batches(_EDGES):
        for node, target in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            following[node].append(target)
    depths = _depths(following, (row["node"] for row in states.where("note = 0").collect()))
    known = run.rows([{"node": node, "depth": depth} for node, depth in depths.items()], _DEPTHS)
    depth = F.coalesce("depth", "note").alias("depth")
    written = states.join(known, "node", "left").select("node", "source", depth)
    written.write.mode("overwrite").parquet(run.store.table(FOLDER))
    return {"states": depths_of(run).count()}


def depths_of(run: Run) -> DataFrame:
    """The rows of node, source and depth that `write_depths` wrote."""
    return run.spark.read.parquet(run.store.table(FOLDER))


def _depths(following: Mapping[int, Iterable[int]], initial: Iterable[int]) -> dict[int, int]:
    depths = dict.fromkeys(initial, 0)
    nodes = deque(depths)
    while nodes:
        node = nodes.popleft()
        for after in following.get(node, ()):
            if after not in depths:
                depths[after] = depths[node] + 1
                nodes.append(after)
    return depths
