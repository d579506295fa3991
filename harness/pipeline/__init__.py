"""Traces and state graphs in, verdicts and coverage out, on Spark: one machine or a cluster, the same code.

    sources -> traces, graph -> steps, states -> verdicts -> coverage, findings

Each arrow is a stage (`harness.pipeline.run`), each name a table in Parquet (`harness.pipeline.tables`). The
content of a row does not depend on the number of processes that computed it. `conform exhaust` is the
command.
"""

from importlib import import_module

from harness.errors import ENGINE_FAILED, ConformError


def need_spark(what: str) -> None:
    """ConformError (exit 3) where packages are missing that `what` needs."""
    for name in ("pyspark", "pyarrow", "pandas"):
        try:
            import_module(name)
        except ImportError:
            raise ConformError(
                f"{what} needs Spark, and {name} is not installed: pip install 'group-conformance[spark]'.",
                ENGINE_FAILED,
            ) from None
