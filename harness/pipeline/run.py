"""One run of the pipeline: the place where it computes, the place of its tables, and each unit of work done
once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from harness.engines.base import Progress, silent
from harness.pipeline.store import Store
from harness.pipeline.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

PART: Final = 25_000
"""About the number of steps of a part: the most that each process loses when a run is killed."""


@dataclass
class Run:
    """A session, a store, and the times of the units; `progress` gets the present work."""

    spark: SparkSession
    store: Store
    progress: Progress = silent
    timings: list[dict[str, Any]] = field(default_factory=list)

    def unit(
        self, name: str, depends: str, work: Callable[[], Mapping[str, int]], *stale: str
    ) -> Mapping[str, int]:
        """The counts of a unit of work, which is done unless the ledger has the unit with the key `depends`.

        Before it is done anew, the folders `stale` and the units of these names and below are removed.
        """
        known = self.store.done(name, depends)
        if known is not None:
            return known
        for folder in stale:
            self.store.forget(folder)
            self.store.remove(folder)
        counts = self.timed(name, work)
        self.store.enter(name, depends, counts)
        return counts

    def timed(self, unit: str, work: Callable[[], Mapping[str, int]]) -> Mapping[str, int]:
        """Do a piece of work and note its time, for as many rows as the largest of its counts."""
        begin = time.perf_counter()
        counts = work()
        self.note(unit, time.perf_counter() - begin, max(counts.values(), default=0))
        return counts

    @contextmanager
    def part(self, unit: str) -> Iterator[None]:
        """Note the time of a part that every run does."""
        begin = time.perf_counter()
        yield
        self.note(unit, time.perf_counter() - begin)

    def note(self, unit: str, seconds: float, rows: int = 0) -> None:
        """Note the time of a unit."""
        self.timings.append({"stage": unit.partition("/")[0], "unit": unit, "rows": rows, "seconds": seconds})

    def seconds(self) -> float:
        """All noted times; TLC runs within another unit."""
        return float(sum(one["seconds"] for one in self.timings if one["unit"] != "tlc"))

    def read(self, table: str, *below: str) -> DataFrame:
        """A table, or a folder of it; without rows if nothing was written."""
        schema = struct(TABLES[table])
        if not self.store.has(table, *below):
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).parquet(self.store.table(table, *below))

    def rows(self, rows: list[dict[str, Any]], schema: pa.Schema, partitions: int = 1) -> DataFrame:
        """Rows that the driver has, spread over so many tasks."""
        if not rows:  # Spark Connect makes no frame of an empty table of Arrow
            return self.spark.createDataFrame([], struct(schema))
        frame = self.spark.createDataFrame(pa.Table.from_pylist(rows, schema))
        return frame.repartition(partitions) if partitions > 1 else frame

    def each(self, count: int) -> DataFrame:
        """The numbers from 0 to below `count`, one for each task."""
        return self.spark.range(0, count, 1, max(1, count))


def struct(schema: pa.Schema) -> StructType:
    """A schema in Spark's form."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def parts_of(steps: int) -> int:
    """The number of parts of so many steps; it depends on the steps, not on the machines that compute."""
    return max(1, -(-steps // PART))
