"""The whole state graph of a model as TLC dumps it, with every step exact, and its lines read in parallel.

A state graph has one node a state, and `step`, which says how a state was reached, must not make states. But
an edge of TLC's dump has no more than the name of an action. So TLC is given a specification in which every
step may also end in a leaf: a state that keeps `step`, from which nothing goes on. The leaves are the
distinct pairs of a step and the state after it; an edge into a leaf is a transition.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from harness.engines.base import Limits, Model, Progress, silent
from harness.engines.tlc import run_tlc, variant
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, Config, read_config
from harness.engines.tlc_output import read_report
from harness.errors import ConformError
from harness.files import read_text
from harness.modules import config_beside, declared_variables, dependencies, strip_comments
from harness.pipeline.store import file_system
from harness.pipeline.tables import GRAPH
from harness.stategraph import HIDDEN, unescape

_MODULE: Final = "ConformTransitions"
_EDGE: Final = re.compile(rb"(-?\d+) -> (-?\d+)(?: \[|;)")
_NODE: Final = re.compile(rb'(-?\d+) \[label="((?:[^"\\]|\\.)*)"(?:,style = filled)?\];?$')
_OTHER: Final = re.compile(
    rb"strict digraph|subgraph |nodesep=|color=|graph\[|node\[|label ?=|style ?=|\{rank = same;|\}|fontsize|$"
)
_NOTHING: Final[dict[str, Any]] = {"node": None, "target": None, "text": None}


def dump(model: Model, dot: Path, *, limits: Limits, log: Path, progress: Progress = silent) -> int:
    """Write the state graph of a model of the group protocol to `dot` (see the module); how many nodes TLC
    says that it has.

    ConformError if it has no variable `step`, or no initial predicate and next-state relation by name.
    """
    config = read_config(model.config or config_beside(model.module))
    variables = declared_variables(model.module)
    if "step" not in variables:
        raise ConformError(
            f"{model.module.name} has no variable `step` that names the last step, so its transitions "
            "cannot be told apart."
        )
    init, following = _behaviour(model, config)
    dropped = (*CHECKS, *UNKNOWN_TO_TLC, "SYMMETRY", "VIEW", "SPECIFICATION", "INIT", "NEXT")
    plain = config.without(dropped).having("VIEW", "ConformView").having("SPECIFICATION", "ConformSpec")
    with tempfile.TemporaryDirectory(prefix="conform-") as folder, variant(plain) as path:
        module = Path(folder) / f"{_MODULE}.tla"
        module.write_text(_module(model.module.stem, variables, init, following), encoding="utf-8")
        libraries = (model.module.parent, *model.libraries)
        options = ["-deadlock", "-workers", "1", "-seed", "0", "-dump", "dot", str(dot)]
        ended = run_tlc(module, path, options, log=log, limits=limits, progress=progress, libraries=libraries)
    return read_report(ended.lines).distinct_states or 0


def _module(extended: str, variables: list[str], init: str, following: str) -> str:
    others = ", ".join(name for name in variables if name not in HIDDEN)
    every = ", ".join(variables)
    return f"""---- MODULE {_MODULE} ----
EXTENDS {extended}, Naturals
VARIABLES conformLeaf, conformDepth
ConformInit == {init} /\\ conformLeaf = FALSE /\\ conformDepth = 0
ConformNext ==
  /\\ ~conformLeaf
  /\\ {following}
  /\\ conformLeaf' \\in BOOLEAN
  /\\ conformDepth' = conformDepth + 1
ConformSpec == ConformInit /\\ [][ConformNext]_<<{every}, conformLeaf, conformDepth>>
ConformView == IF conformLeaf THEN <<{every}>> ELSE <<{others}>>
====
"""


def _behaviour(model: Model, config: Config) -> tuple[str, str]:
    """The names of the initial predicate and the next-state relation."""
    if config.names("INIT") and config.names("NEXT"):
        return config.names("INIT")[0], config.names("NEXT")[0]
    for specification in config.names("SPECIFICATION"):
        definition = re.compile(rf"^{specification} ==\s*(\w+)\s*/\\\s*\[\]\[(\w+)\]_", re.MULTILINE)
        for path in dependencies(model.module):
            if match := definition.search(strip_comments(read_text(path, "The module"))):
                return match[1], match[2]
    raise ConformError(
        f"The specification of {model.name} must be written as `Spec == Init /\\ [][Next]_vars`, with names "
        "for both, for its transitions to be listed."
    )


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
