"""Long texts stay in their files: Spark joins numbers, and its workers look texts up in the files of a table.

A node of a state graph is known by its place in the table `graph`: the number of its piece of the dump, and
its row in that piece's file. A trace is known by its file and row in the table `traces`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.pipeline import run as runs
from harness.pipeline.dump import PIECE_OF, file_name
from harness.pipeline.parts import Batches, column_of, values_of
from harness.pipeline.run import Run
from harness.pipeline.store import file_system

PAIRS: Final = "pairs"
"""The folder of a temporary table, in the order of its rows: places of both ends of an edge, and the depth of
the first; -1 is the place of a missing node."""
_NOWHERE: Final = -1
_ROWS: Final = 1 << 32
"""A number larger than the rows of a piece."""
_BATCH: Final = 1_000


def place() -> Column:
    """The place of a node, in a row of `graph`."""
    return F.expr(PIECE_OF).cast("bigint") * _ROWS + F.col("_metadata.row_index")


def write_pairs(run: Run, pairs: DataFrame) -> list[int]:
    """Write the temporary table, and the beginnings of parts of about `PART` rows: each part has all edges
    from some states that are near to each other in the dump."""
    known = [F.coalesce(F.col(name), F.lit(_NOWHERE)).alias(name) for name in ("source", "leaf")]
    table = run.store.table(PAIRS)
    pairs.select(*known, "depth").orderBy("source", "leaf").write.mode("overwrite").parquet(table)
    starts, before, number = list[int](), 0, -1
    for source, count in sorted(run.spark.read.parquet(table).groupBy("source").count().collect()):
        if before // runs.PART != number:
            starts.append(source)
            number = before // runs.PART
        before += count
    return starts


def texts_of(graph: str, kind: str, pairs: str, starts: Sequence[int]) -> Callable[[Batches], Batches]:
    """From numbers of parts to batches of texts of both ends of an edge, the second of which is of a `kind`,
    and the depth of the first."""

    def looked(batches: Batches) -> Batches:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                yield from _part(graph, kind, pairs, starts[part : part + 2])

    return looked


def _part(graph: str, kind: str, pairs: str, bounds: Sequence[int]) -> Batches:
    files, path = file_system(pairs)
    chosen = ds.field("source") >= bounds[0]
    if len(bounds) > 1:
        chosen &= ds.field("source") < bounds[1]
    table = ds.dataset(path, filesystem=files, format="parquet").to_table(filter=chosen)
    table = table.sort_by([("source", "ascending"), ("leaf", "ascending")])
    sources, leaves, depths = (table[name].to_pylist() for name in ("source", "leaf", "depth"))
    begins, ends = _texts(graph, "state", sources), _texts(graph, kind, leaves)
    for at in range(0, len(sources), _BATCH):
        columns = [
            column_of([begins.get(one) for one in sources[at : at + _BATCH]], pa.string()),
            column_of([ends.get(one) for one in leaves[at : at + _BATCH]], pa.string()),
            pa.array(depths[at : at + _BATCH], pa.int32()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["source", "leaf", "depth"])


def traces_of(place: str) -> Callable[[Batches], Batches]:
    """From rows of trace, uri and the trace's place in the table, to trace, uri and itf."""

    def looked(batches: Batches) -> Batches:
        for batch in batches:
            traces, uris, names, rows = map(values_of, batch.columns)
            texts_of: dict[tuple[str, int], str] = {}
            for name in sorted(set(names)):
                wanted = [row for one, row in zip(names, rows, strict=True) if one == name]
                texts = _read(f"{place}/{name}", "itf", sorted(wanted))
                texts_of |= {(name, row): text for row, text in texts.items()}
            itf = [texts_of[one] for one in zip(names, rows, strict=True)]
            columns = [pa.array(values, pa.string()) for values in (traces, uris, itf)]
            yield pa.RecordBatch.from_arrays(columns, ["trace", "uri", "itf"])

    return looked


def _texts(graph: str, kind: str, places: Iterable[int]) -> dict[int, str]:
    """The texts of nodes by their places."""
    by_row: dict[int, str] = {}
    wanted = sorted({one for one in places if one != _NOWHERE})
    for piece, several in groupby(wanted, lambda one: one // _ROWS):
        file = f"{graph}/kind={kind}/{file_name(piece)}"
        texts = _read(file, "text", [one % _ROWS for one in several])
        by_row |= {piece * _ROWS + row: text for row, text in texts.items()}
    return by_row


def _read(uri: str, column: str, rows: Sequence[int]) -> dict[int, str]:
    """The texts in some rows of a file, which are in order; groups of rows without any of them are not
    read."""
    by_row: dict[int, str] = {}
    files, path = file_system(uri)
    with files.open_input_file(path) as stream, pq.ParquetFile(stream) as file:
        begin = 0
        for group in range(file.num_row_groups):
            end = begin + file.metadata.row_group(group).num_rows
            here = rows[bisect_left(rows, begin) : bisect_left(rows, end)]
            if here:
                texts = file.read_row_group(group, columns=[column])[column]
                taken = texts.take(pa.array([row - begin for row in here]))
                by_row |= zip(here, taken.to_pylist(), strict=True)
            begin = end
    return by_row
