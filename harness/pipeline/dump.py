"""The dump of a whole state graph (see `harness.transitions`), its lines read in parallel."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from harness.pipeline.store import file_system
from harness.pipeline.tables import GRAPH
from harness.stategraph import unescape

_EDGE: Final = re.compile(rb"(-?\d+) -> (-?\d+)(?: \[|;)")
_NODE: Final = re.compile(rb'(-?\d+) \[label="([^"\\]*(?:\\.[^"\\]*)*)"(?:,style = filled)?\];?$')
_OTHER: Final = re.compile(
    rb"strict digraph|subgraph |nodesep=|color=|graph\[|node\[|label ?=|style ?=|\{rank = same;|\}|fontsize|$"
)
_NOTHING: Final[dict[str, Any]] = {"node": None, "target": None, "text": None}


def splits(uri: str, size: int) -> list[dict[str, Any]]:
    """A file in pieces of about `size` bytes: rows of uri, start, end, and the `bytes` of the file."""
    files, path = file_system(uri)
    length = files.get_file_info(path).size or 0
    return [
        {"uri": uri, "start": at, "end": min(at + size, length), "bytes": length}
        for at in range(0, length, size)
    ]


def read_splits(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From pieces of dumps to rows of the table `graph`."""
    for batch in batches:
        for piece in batch.to_pylist():
            rows: list[dict[str, Any]] = []
            for offset, line in lines(piece["uri"], piece["start"], piece["end"]):
                row = _row(offset, line)
                if offset + len(line) == piece["bytes"] and line.strip() != b"}":
                    row |= {**_NOTHING, "kind": "bad", "text": "the dump is cut off here: TLC ends it with }"}
                rows.append({**row, "uri": piece["uri"]} if row["kind"] == "bad" else row)
                if len(rows) == 2000:
                    yield pa.RecordBatch.from_pylist(rows, GRAPH)
                    rows = []
            if rows:
                yield pa.RecordBatch.from_pylist(rows, GRAPH)


def lines(uri: str, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that begin in [start, end), with where they begin."""
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
