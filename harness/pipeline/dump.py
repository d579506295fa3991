"""The dump of a whole state graph (see `harness.transitions`), its lines read in parallel."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from harness.pipeline.parts import WRITTEN, Batches, Maker, PartWriter, Row
from harness.pipeline.store import file_system
from harness.pipeline.tables import GRAPH
from harness.stategraph import unescape

_EDGE: Final = re.compile(rb"(-?\d+) -> (-?\d+)(?: \[|;)")
_NODE: Final = re.compile(rb'(-?\d+) \[label="([^"\\]*(?:\\.[^"\\]*)*)"(?:,style = filled)?\];?$')
_OTHER: Final = re.compile(
    rb"strict digraph|subgraph |nodesep=|color=|graph\[|node\[|label ?=|style ?=|\{rank = same;|\}|fontsize|$"
)
_COLUMNS: Final = pa.schema([field for field in GRAPH if field.name != "kind"])
_NOTHING: Final[dict[str, Any]] = {"node": None, "target": None, "text": None}


def splits(uri: str, size: int) -> list[dict[str, Any]]:
    """A file in pieces of about `size` bytes: rows of uri, start, end, and the `bytes` of the file."""
    files, path = file_system(uri)
    length = files.get_file_info(path).size or 0
    return [
        {"uri": uri, "start": at, "end": min(at + size, length), "bytes": length}
        for at in range(0, length, size)
    ]


def reading(pieces: Sequence[Row], place: str) -> Maker:
    """A function for `mapInArrow` that writes the table `graph` at a `place`, from indices of pieces of
    dumps; it returns rows of `WRITTEN`. A file has the rows of one kind and piece, in the order of the
    dump."""

    def written(batches: Batches) -> Batches:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                with _Files(place, file_name(index)) as files:
                    for row in piece_rows(pieces[index]):
                        files.add(row)
                yield pa.RecordBatch.from_pylist([{"part": index, "rows": files.count}], WRITTEN)

    return written


def file_name(piece: int) -> str:
    """The name of the files of a piece; `piece_of` in SQL gives the piece of a file."""
    return f"{piece:08d}.parquet"


PIECE_OF: Final = "int(substring(_metadata.file_name, 1, 8))"
"""SQL: the number of the piece that a row of the table is in."""
ROW_GROUP: Final = 1_000
"""The least number of rows of a file that are read at a time."""


class _Files:
    """The files of one piece, one for each kind."""

    def __init__(self, place: str, name: str) -> None:
        self._place, self._name = place, name
        self._rows: dict[str, list[Row]] = {}
        self._writers: dict[str, PartWriter] = {}
        self.count = 0

    def add(self, row: Row) -> None:
        """Add a row, which is written later with others."""
        self.count += 1
        rows = self._rows.setdefault(row["kind"], [])
        rows.append(row)
        if len(rows) == ROW_GROUP:
            self._flush(row["kind"])

    def _flush(self, kind: str) -> None:
        rows = self._rows[kind]
        if kind not in self._writers:
            self._writers[kind] = PartWriter(f"{self._place}/kind={kind}", self._name, _COLUMNS)
        columns = [
            pa.array([row.get(name) for row in rows], _COLUMNS.field(name).type) for name in _COLUMNS.names
        ]
        self._writers[kind].write(pa.RecordBatch.from_arrays(columns, schema=_COLUMNS))
        rows.clear()

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if error is None:
            for name in [name for name, rows in self._rows.items() if rows]:
                self._flush(name)
        for writer in self._writers.values():
            writer.close(whole=error is None)


def piece_rows(piece: Row) -> Iterator[Row]:
    """The rows of a piece."""
    for offset, line in lines(piece["uri"], piece["start"], piece["end"]):
        row = _row(offset, line)
        if offset + len(line) == piece["bytes"] and line.strip() != b"}":
            row |= {**_NOTHING, "kind": "bad", "text": "the dump is cut off here: TLC ends it with }"}
        yield {**row, "uri": piece["uri"]} if row["kind"] == "bad" else row


def lines(uri: str, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that begin in [start, end), with their places."""
    files, path = file_system(uri)
    with files.open_input_file(path) as opened:
        stream = io.BufferedReader(opened, 1 << 20)
        offset = max(start - 1, 0)
        stream.seek(offset)
        if start:
            offset += len(stream.readline())
        while offset < end and (line := stream.readline()):
            yield offset, line
            offset += len(line)


def _row(offset: int, line: bytes) -> dict[str, Any]:
    row = {**_NOTHING, "kind": "other", "offset": offset}
    stripped = line.rstrip(b"\r\n")
    if edge := _EDGE.match(stripped):
        return {**row, "kind": "edge", "node": int(edge[1]), "target": int(edge[2])}
    if node := _NODE.match(stripped):
        try:
            text = unescape(node[2].decode())
        except UnicodeDecodeError as error:
            return {**row, "kind": "bad", "text": f"byte {error.start} of the state is not UTF-8"}
        kind = "step" if "conformLeaf = TRUE" in text else "state"
        return {**row, "kind": kind, "node": int(node[1]), "text": text}
    if _OTHER.match(stripped.lstrip()):
        return row
    return {**row, "kind": "bad", "text": "the line is neither a node nor an edge nor dot's own"}
