"""Input files to rows of the table `traces`: ITF, scenarios, logs of live runs.

A log has the lines of the line protocol that a coordinator was sent (`{"op": …}`), written down beside it;
the log becomes a scenario, and the specification gives the expected answers.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType

from harness.errors import ConformError
from harness.itf import Trace, read_meta, trace_from_json, trace_to_text
from harness.kinds.scenarios import scenario_from_ops
from harness.kit import kit_path
from harness.pipeline.reasons import reason_of
from harness.pipeline.store import absolute, file_system, scheme_of
from harness.pipeline.tables import TRACES, key
from harness.replay.dialects import TEXT, dialect_of
from harness.scenario.files import trace_beside, trace_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ITF: Final = ".itf.json"
SCENARIO: Final = ".yaml"
LOG: Final = ".jsonl"
DUMP: Final = ".dot"
KINDS: Final = {ITF: "itf", SCENARIO: "scenario", LOG: "log", DUMP: "dump"}


def find_files(places: Sequence[str]) -> list[str]:
    """The URIs of all files of a known kind in and below the places, in a fixed order; a file itself under
    any name, and a place like `traces/golden` from the installed package where there is none here. A place
    that Spark reads is given back unchanged. ConformError for a place that does not exist or has no such
    file."""
    paths: dict[str, None] = {}
    for place in places:
        if by_spark(place):
            paths[place] = None
            continue
        if not scheme_of(place):
            place = str(kit_path(Path(place)))
        files, path = file_system(place)
        info = files.get_file_info(path)
        if info.type == FileType.NotFound:
            raise ConformError(f"The input {place} does not exist.")
        if info.type == FileType.File:
            paths[_uri(place, path, path)] = None
            continue
        inside = sorted(one.path for one in files.get_file_info(FileSelector(path, recursive=True)))
        known = [one for one in inside if kind_of(one) and not _has_trace(files, one)]
        if not known:
            raise ConformError(f"There is nothing to read in {place}: no {', '.join(KINDS)}.")
        paths.update(dict.fromkeys(_uri(place, path, one) for one in known))
    return list(paths)


def by_spark(place: str) -> bool:
    """Tell if Spark's own file systems read a place: all that are not this machine's."""
    return scheme_of(place) not in ("", "file")


def spark_files(spark: SparkSession, places: Sequence[str]) -> dict[str, str]:
    """All files of a known kind in and below places that Spark reads: the URI, and the hash of the content.

    ConformError for a place that does not exist or has no such file.
    """
    from pyspark.sql import functions as F

    files, hashed = dict[str, str](), F.sha2("content", 256)
    for place in places:
        try:
            listed = contents(spark, [place]).select("path", hashed.alias("hash")).collect()
        except Exception as error:  # Java's own errors, too, as for a file system that Spark does not know
            raise ConformError(f"Spark cannot read the input {place}: {reason_of(error)}.") from None
        here = {row["path"]: row["hash"] for row in sorted(listed)}
        known = {
            uri: stamp
            for uri, stamp in here.items()
            if kind_of(uri) and not (uri.endswith(SCENARIO) and str(_beside(uri)) in here)
        }
        if not known:
            raise ConformError(f"There is nothing to read in {place}: no {', '.join(KINDS)}.")
        if dumps := [uri for uri in known if kind_of(uri) == "dump"]:
            raise ConformError(f"The dump {dumps[0]} is read piece by piece: copy it to this machine.")
        files |= known
    return files


def dialects_of(files: Sequence[str]) -> dict[str, str]:
    """The traces of files that this machine reads -> their dialect: all of them, or the first one of each
    dialect. Damaged files have none: their problem is that in the table."""
    first: dict[str, str] = {}
    for uri in files:
        kind, path = kind_of(uri) or "itf", file_system(uri)[1]
        if kind in ("scenario", "log"):
            first.setdefault(TEXT.name, path)
        elif kind == "itf":
            with suppress(ConformError):
                if meta := read_meta(Path(path)):
                    first.setdefault(dialect_of(meta.get("constants"), ""), path)
    if len(first) == 1:
        return {"Every trace": next(iter(first))}
    return {f"The trace {path}": dialect for dialect, path in first.items()}


def contents(spark: SparkSession, places: Sequence[str]) -> DataFrame:
    """Files as Spark reads them whole: path, content and others."""
    return spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(places))


def _beside(uri: str) -> str:
    folder, _, name = uri.rpartition("/")
    return f"{folder}/{trace_beside(Path(name))}"


def kind_of(path: str) -> str:
    """Kind of a file, by the end of its name; "" if that is unknown."""
    return next((kind for suffix, kind in KINDS.items() if path.endswith(suffix)), "")


def _has_trace(files: FileSystem, path: str) -> bool:
    """Tell if a scenario's trace stands beside it, which is then read in its place."""
    beside = str(trace_beside(Path(path)))
    return path.endswith(SCENARIO) and bool(files.get_file_info(beside).type == FileType.File)


def _uri(place: str, root: str, path: str) -> str:
    return absolute(place) + path[len(root.rstrip("/")) :]


def read_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From rows with a `uri` to rows of `traces`."""
    for batch in batches:
        rows = [_row(uri) for uri in batch.column("uri").to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, TRACES)


def read_contents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read sources from rows with a `uri` and a `content` that Spark has read."""
    for batch in batches:
        rows = [_row(one["uri"], one["content"]) for one in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, TRACES)


def _row(uri: str, content: bytes | None = None) -> dict[str, Any]:
    kind = kind_of(uri) or "itf"
    row: dict[str, Any] = {"uri": uri, "kind": kind}
    try:
        path = uri.rpartition("/")[2]
        if content is None:
            files, path = file_system(uri)
            with files.open_input_stream(path) as stream:
                content = stream.read()
        row["bytes"] = len(content)
        trace, left_out = _READ[kind](content, uri, path)
    except _Unreadable as problem:
        return {**row, "problem": problem.reason, "offset": problem.offset}
    except ConformError as error:
        return {**row, "problem": error.message, "offset": 0}
    except Exception as error:  # whatever a damaged file does to its reader, the other files go on
        return {**row, "problem": f"it cannot be read: {type(error).__name__}: {error}", "offset": 0}
    itf = trace_to_text(trace)
    model = str(trace.meta.get("model", ""))
    read = {"trace": key(itf), "model": model, "states": len(trace.states), "itf": itf}
    return {**row, **read, "problem": left_out or None}


class _Unreadable(Exception):
    """The reason why a file cannot be read, and the place (bytes from its start)."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


def _json(content: bytes, before: int = 0) -> Any:
    """JSON of bytes that are `before` bytes from the start of their file."""
    try:
        text = content.decode()
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise _Unreadable("it is not UTF-8 text", before + error.start) from None
    except json.JSONDecodeError as error:
        offset = before + len(text[: error.pos].encode())
        raise _Unreadable(f"it is not JSON or is cut off: {error.msg}", offset) from None


def _read_itf(content: bytes, uri: str, path: str) -> tuple[Trace, str]:
    """The trace, and the parts of the file that are not in it."""
    return trace_from_json(_json(content), f"The trace {uri}"), ""


def _read_scenario(content: bytes, uri: str, path: str) -> tuple[Trace, str]:
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        copy = Path(folder) / Path(path).name
        copy.write_bytes(content)
        return trace_of(copy), ""


def _read_log(content: bytes, uri: str, path: str) -> tuple[Trace, str]:
    operations, offset = [], 0
    for line in content.splitlines(keepends=True):
        if line.strip():
            operation = _json(line, offset)
            if not isinstance(operation, dict) or "op" not in operation:
                raise _Unreadable('a line of a log must be an operation, {"op": …}', offset)
            operations.append(operation)
        offset += len(line)
    scenario = scenario_from_ops(operations, name=Path(path).stem)
    left_out = "; ".join(_LEFT_OUT.findall(scenario))
    try:
        trace, _ = _read_scenario(scenario.encode(), uri, f"{Path(path).stem}{SCENARIO}")
    except ConformError as error:
        raise _Unreadable(f"left out: {left_out}" if left_out else error.message, 0) from None
    return trace, left_out and f"left out: {left_out}"


_LEFT_OUT: Final = re.compile(r"^# left out: (.*)$", re.MULTILINE)
"""A comment of `scenario_from_ops` that names an operation which a scenario cannot express."""


_READ: Final = {"itf": _read_itf, "scenario": _read_scenario, "log": _read_log}
