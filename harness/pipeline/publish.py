"""The tables that people ask, written by Spark's own writer to a place that Spark knows.

A run that is done again writes each table anew: the same rows, not twice.
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
"""Formats, and what a session must have for each."""
PUBLISHED: Final = tuple(MEANINGS)


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


def explained(frame: DataFrame, table: str) -> DataFrame:
    """A published table whose columns say in their metadata what they mean (`comment`), beside the version of
    the schema (`schema_version`)."""
    version = {"schema_version": SCHEMA_VERSION}
    meanings = {name: {"comment": text, **version} for name, text in MEANINGS[table].items()}
    return frame.select(*(F.col(name).alias(name, metadata=meanings[name]) for name in frame.columns))


def publish(frames: Mapping[str, DataFrame], place: str, name: str) -> list[str]:
    """Write tables; their names or URIs. Those of Iceberg are in a namespace: CATALOG.NAMESPACE.

    Iceberg keeps the comments of columns alone, so the version of the schema is a property of its tables.
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
        except Exception as error:  # Java's own, too: a package that is for another version of Spark
            reason = reason_of(error)
            raise ConformError(f"Spark cannot write the table {whole}: {reason}.", ENGINE_FAILED) from None
        written.append(whole)
    return written
