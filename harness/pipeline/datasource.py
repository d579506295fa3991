"""The kit's files as formats of Spark: `spark.read.format("itf")`, `"conform-log"` and `"tlc-dump"`.

`register(spark)` once in a session, then `.load(PLACE)` of a file or a folder that the driver and the workers
see. The comment in a column's metadata has the meaning of the column, beside the version of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from harness.errors import ConformError
from harness.itf import trace_from_json, value_to_json
from harness.pipeline.dump import lines, piece_rows, splits
from harness.pipeline.sources import DUMP, ITF, LOG, find_files
from harness.pipeline.store import file_system
from harness.pipeline.tables import SCHEMA_VERSION, key

_SPLIT: Final = 8 << 20
_TYPES: Final = {"text": StringType, "number": LongType, "index": IntegerType}


def _schema(**columns: tuple[str, str]) -> StructType:
    return StructType(
        [
            StructField(name, _TYPES[kind](), True, {"comment": meaning, "schema_version": SCHEMA_VERSION})
            for name, (kind, meaning) in columns.items()
        ]
    )


class _Source(DataSource):
    """A format: the end of its files' names, its columns, and the rows of a part of a file."""

    format = ""
    suffix = ""
    columns = _schema()

    @classmethod
    def name(cls) -> str:
        return cls.format

    def schema(self) -> StructType:
        return self.columns

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(self.options.get("path", ""), type(self))

    @classmethod
    def parts(cls, uri: str) -> list[dict[str, Any]]:
        """Parts of a file that tasks read independently."""
        return [{"uri": uri}]

    @classmethod
    def rows(cls, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The rows of a part, by the names of the columns."""
        raise NotImplementedError


class _Reader(DataSourceReader):
    def __init__(self, path: str, source: type[_Source]) -> None:
        self._path, self._source = path, source

    def partitions(self) -> list[InputPartition]:
        if not self._path:
            raise ConformError(f'Say what to read: spark.read.format("{self._source.format}").load(PLACE).')
        uris = [uri for uri in find_files([self._path]) if uri.endswith(self._source.suffix)]
        if not uris:
            raise ConformError(f"There is nothing to read in {self._path}: no {self._source.suffix}.")
        return [InputPartition(part) for uri in uris for part in self._source.parts(uri)]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        for row in self._source.rows(partition.value):
            yield tuple(row.get(name) for name in self._source.columns.names)


class ItfSource(_Source):
    """Traces, one row for each state; a file that cannot be read is one row with its problem."""

    format, suffix = "itf", ITF
    columns = _schema(
        uri=("text", "the file"),
        trace=("text", "a key of the file's content"),
        model=("text", "the model that the trace is of; empty if the file does not say"),
        index=("index", "which state of the trace, from 0"),
        action=("text", "the step into the state, as the specification calls it; empty at the start"),
        state=("text", "JSON: the variables of the specification, as ITF has them"),
        problem=("text", "why the file cannot be read; null if it can"),
    )

    @classmethod
    def rows(cls, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
        row = {"uri": part["uri"]}
        try:
            files, path = file_system(part["uri"])
            with files.open_input_stream(path) as stream:
                content = stream.read().decode()
            trace = trace_from_json(json.loads(content), f"The trace {part['uri']}")
        except (ConformError, ValueError, RecursionError) as error:
            yield {**row, "problem": error.message if isinstance(error, ConformError) else str(error)}
            return
        known = {**row, "trace": key(content), "model": str(trace.meta.get("model", ""))}
        for index, state in enumerate(trace.states):
            step: Any = state.get("step") or state.get("call") or state.get("classicStep") or {}
            action = step.get("action", "") if index and hasattr(step, "get") else ""
            values = {name: value_to_json(value) for name, value in state.items()}
            text = json.dumps(values, sort_keys=True, ensure_ascii=False)
            yield {**known, "index": index, "action": action, "state": text}


class LogSource(_Source):
    """Logs of the line protocol, one row for each line."""

    format, suffix = "conform-log", LOG
    columns = _schema(
        uri=("text", "the file"),
        line=("index", "the number of the line, from 1"),
        op=("text", "the operation of the line; null for an answer"),
        message=("text", "JSON: the line"),
        problem=("text", "why the line is not JSON; null if it is"),
    )

    @classmethod
    def rows(cls, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for number, (_, line) in enumerate(lines(part["uri"], 0, 1 << 62), start=1):
            if not line.strip():
                continue
            row = {"uri": part["uri"], "line": number, "message": line.decode(errors="replace").strip()}
            try:
                content = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield {**row, "problem": str(error)}
                continue
            yield {**row, "op": content.get("op") if isinstance(content, dict) else None}


class DumpSource(_Source):
    """State graphs that TLC dumps for `conform exhaust`, one row for each line; large files in pieces."""

    format, suffix = "tlc-dump", DUMP
    columns = _schema(
        kind=("text", "state, step or edge; other is dot's own, bad could not be read"),
        node=("number", "TLC's fingerprint of a state or step; of an edge the one that it leaves"),
        target=("number", "of an edge the fingerprint that it leads to"),
        text=("text", "the state as TLC prints it; of a bad line the reason"),
        uri=("text", "the file"),
        offset=("number", "the place of the line in the file, in bytes from its start"),
    )

    @classmethod
    def parts(cls, uri: str) -> list[dict[str, Any]]:
        return splits(uri, _SPLIT)

    @classmethod
    def rows(cls, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for row in piece_rows(part):
            yield {**row, "uri": part["uri"]}


def register(spark: SparkSession) -> None:
    """Register the formats in a session; a second time changes nothing."""
    for source in (ItfSource, LogSource, DumpSource):
        spark.dataSource.register(source)
