"""The tables that people ask, written by Spark's own writer to a place that Spark knows.

A run that is done again writes each table anew: the same rows, not twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.reasons import reason_of

FORMATS: Final[Mapping[str, str]] = {"parquet": "", "delta": "Delta Lake", "iceberg": "Apache Iceberg"}
"""Formats, and what a session must have for each."""
PUBLISHED: Final = ("findings", "coverage", "verdicts", "quarantine")


def check_format(name: str, place: str) -> None:
    """ConformError for a format that there is not, or one without a place."""
    if name not in FORMATS:
        raise ConformError(f"There is no format {name!r} of tables: choose {', '.join(FORMATS)}.")
    if FORMATS[name] and not place:
        raise ConformError(f"Say with --tables where tables in the format {name} go.")


def check_session(spark: SparkSession, name: str) -> None:
    """ConformError (exit 3) if a session lacks what a format needs; before the work, not after it."""
    try:
        spark.read.format(name).load("/nowhere")
    except Exception as error:  # Java's own, which PySpark does not always make one of its
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            raise ConformError(
                f"This Spark session has no {FORMATS[name]}: give its package and settings with --conf, "
                "as docs/spark.md shows, or leave out --format.",
                ENGINE_FAILED,
            ) from None


def publish(frames: Mapping[str, DataFrame], place: str, name: str) -> list[str]:
    """Write tables; their names or URIs. Those of Iceberg are in a namespace: CATALOG.NAMESPACE."""
    written = []
    for table, frame in frames.items():
        whole = f"{place}.{table}" if name == "iceberg" else f"{place.rstrip('/')}/{table}"
        try:
            if name == "iceberg":
                frame.writeTo(whole).using(name).createOrReplace()
            else:
                frame.write.format(name).mode("overwrite").save(whole)
        except Exception as error:  # Java's own, too: a package that is for another version of Spark
            said = reason_of(error)
            raise ConformError(f"Spark cannot write the table {whole}: {said}.", ENGINE_FAILED) from None
        written.append(whole)
    return written
