"""The tables for users, written by Spark's own writer to a place that Spark knows.

A repeated run writes each table anew: the same rows, not twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.errors import ENGINE_FAILED, ConformError
from harness.pipeline.reasons import reason_of
from harness.pipeline.tables import MEANINGS, SCHEMA_VERSION

FORMATS: Final[Mapping[str, str]] = {"parquet": "", "delta": "Delta Lake", "iceberg": "Apache Iceberg"}
"""Formats, and the packages that a session needs for each."""
PUBLISHED: Final = tuple(MEANINGS)


def check_format(name: str, place: str) -> None:
    """ConformError for an unknown format, or one without a place."""
    if name not in FORMATS:
        raise ConformError(f"There is no format {name!r} of tables: choose {', '.join(FORMATS)}.")
    if FORMATS[name] and not place:
        raise ConformError(f"Say with --tables where tables in the format {name} go.")


def check_session(spark: SparkSession, name: str) -> None:
    """ConformError (exit 3) if a session lacks a package of a format; called before the work, not after
    it."""
    try:
        spark.read.format(name).load("/nowhere")
    except Exception as error:  # Java's own errors, which PySpark does not always wrap
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            raise ConformError(
                f"This Spark session has no {FORMATS[name]}: give its package and settings with --conf, "
                "as docs/spark.md shows, or leave out --format.",
                ENGINE_FAILED,
            ) from None


def explained(frame: DataFrame, table: str) -> DataFrame:
    """A published table whose columns have their meanings in their metadata (`comment`), beside the version
    of the schema (`schema_version`)."""
    version = {"schema_version": SCHEMA_VERSION}
    meanings = {name: {"comment": text, **version} for name, text in MEANINGS[table].items()}
    return frame.select(*(F.col(name).alias(name, metadata=meanings[name]) for name in frame.columns))


def publish(frames: Mapping[str, DataFrame], place: str, name: str) -> list[str]:
    """Publish tables; their names or URIs. Those of Iceberg are in a namespace: CATALOG.NAMESPACE.

    Iceberg keeps only the comments of columns, so the version of the schema is a property of its tables.
    """
    written = []
    for table, plain in frames.items():
        frame = explained(plain, table)
        whole = f"{place}.{table}" if name == "iceberg" else f"{place.rstrip('/')}/{table}"
        try:
            if name == "iceberg":
                writer = frame.writeTo(whole).using(name)
                writer.tableProperty("schema_version", str(SCHEMA_VERSION)).createOrReplace()
            else:
                # Delta would keep the columns' metadata of the table that was there before.
                frame.write.format(name).mode("overwrite").option("overwriteSchema", "true").save(whole)
        except Exception as error:  # Java's own, too: a package for another version of Spark
            reason = reason_of(error)
            raise ConformError(f"Spark cannot write the table {whole}: {reason}.", ENGINE_FAILED) from None
        written.append(whole)
    return written
