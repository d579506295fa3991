"""Parts of tables with long rows, as files that Spark's workers write and read themselves.

Java would take each text of each row apart and put it together again. Here a text that many rows of a part
have is kept once, in memory and on disk: columns of text are dictionaries. The files stand where Spark writes
those of a table that is partitioned by `part`, and Spark reads them like its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from harness.pipeline.store import file_system

Row = dict[str, Any]
Batches = Iterator[pa.RecordBatch]
Maker = Callable[[Batches], Batches]

WRITTEN: Final = pa.schema([("part", pa.int32()), ("rows", pa.int64())])
"""The columns that `writing` and `rewriting` return for each part."""
ROWS: Final = 4_000
"""About the number of rows that a worker has in memory, and that share a dictionary."""
_PART: Final = "part"
_FILE: Final = "rows.parquet"


def batch_of(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as a batch, without the column `part`, which is in the folder's name; missing values are null."""
    kinds = {name: kind for name, kind in zip(schema.names, schema.types, strict=True) if name != _PART}
    columns = [column_of([row.get(name) for row in rows], kind) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(columns, list(kinds))


def column_of(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A column; texts are a dictionary."""
    if kind != pa.string():
        return pa.array(values, kind)
    known: dict[str, int] = {}
    numbers = [None if value is None else known.setdefault(value, len(known)) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(list(known), pa.string()))


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    """The rows of a batch; those with the same text in a column share it."""
    columns = [values_of(column) for column in batch.columns]
    names = batch.schema.names
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column; equal texts are one."""
    if not pa.types.is_dictionary(column.type):
        values: list[Any] = column.to_pylist()
        return values
    texts = column.dictionary.to_pylist()
    return [None if number is None else texts[number] for number in column.indices.to_pylist()]


def writing(place: str, make: Maker) -> Maker:
    """A function for `mapInArrow` that writes the parts that `make` makes, one in each task; it returns rows
    of `WRITTEN`."""

    def written(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield _counted(_write(place, context.partitionId(), make(batches)))

    return written


def rewriting(place: str, numbers: Sequence[int], columns: Sequence[str], to: str, make: Maker) -> Maker:
    """A function for `mapInArrow` that makes parts of another table, `to`, from those at a `place` with these
    numbers, from indices of the numbers; it returns rows of `WRITTEN`.

    Rows that call no target are left out.
    """

    def written(batches: Batches) -> Batches:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                part = numbers[index]
                yield _counted(_write(to, part, make(_calling(place, part, columns))))

    return written


def _calling(place: str, part: int, columns: Sequence[str]) -> Batches:
    files, path = file_system(place)
    file = posixpath.join(path, f"{_PART}={part}", _FILE)
    wanted = [name for name in columns if name != _PART]
    with files.open_input_file(file) as stream:
        read = pq.ParquetFile(stream, read_dictionary=wanted)
        for batch in read.iter_batches(ROWS, columns=wanted):
            calls = batch.filter(batch.column("operation").is_valid())
            if calls.num_rows:
                yield calls.append_column(_PART, pa.array([part] * calls.num_rows, pa.int32()))


def _write(place: str, part: int, batches: Batches) -> tuple[int, int]:
    """Write a part; it replaces the same part of a task that was lost."""
    writer, count = None, 0
    for batch in batches:
        writer = writer or PartWriter(f"{place}/{_PART}={part}", _FILE, batch.schema)
        writer.write(batch)
        count += batch.num_rows
    if writer is not None:
        writer.close()
    return part, count


class PartWriter:
    """A writer of a file that becomes visible whole, when it is closed."""

    def __init__(self, folder: str, name: str, schema: pa.Schema) -> None:
        self._files, path = file_system(folder)
        self._files.create_dir(path, recursive=True)
        self._new, self._place = f"{path}/.{name}.new", f"{path}/{name}"
        self._stream = self._files.open_output_stream(self._new)
        self._writer = pq.ParquetWriter(self._stream, schema, compression="zstd")

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows, which can be read without the others."""
        self._writer.write_batch(batch)

    def close(self, whole: bool = True) -> None:
        """End the file; a file that is not `whole` never becomes visible."""
        self._writer.close()
        self._stream.close()
        if whole:
            self._files.move(self._new, self._place)
        else:
            self._files.delete_file(self._new)


def _counted(written: tuple[int, int]) -> pa.RecordBatch:
    part, rows = written
    return pa.RecordBatch.from_pylist([{_PART: part, "rows": rows}], WRITTEN)
