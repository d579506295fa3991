"""A client of Spark Connect: readers and the pipeline in a session of another process: connected.py FOLDER.

Prints JSON of the session, of what the readers read, and of a run's result. `viewfs://kit/` is a file system
of the server alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pipeline_runs import LIMITS, ROOT, faulty, one_member
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from harness.pipeline.datasource import register
from harness.pipeline.exhaust import Job, exhaust
from harness.pipeline.session import Cluster, spark_session

GOLDEN = ROOT / "traces" / "golden"


def context(spark: SparkSession) -> str:
    """The name of the error with which a session says that it has no context."""
    try:
        return str(spark.sparkContext)
    except PySparkException as error:
        return str(error.getCondition())


def main(folder: Path) -> None:
    (folder / "spec").mkdir()
    (folder / "in" / "basic.itf.json").write_bytes((GOLDEN / "basic.itf.json").read_bytes())
    log = folder / "in" / "run.jsonl"
    log.write_text('{"op": "hello"}\n{"ok": true}\n')
    job = Job(
        faulty("wrong"),
        "kip-848",
        str(folder / "out"),
        model=one_member(folder / "spec"),
        files=["viewfs://kit/in/basic.itf.json"],
        page=True,
        tables="viewfs://kit/tables",
    )
    with spark_session(Cluster(), folder / "spark.log") as spark:
        register(spark)
        answer: dict[str, Any] = {
            "session": type(spark).__module__,
            "context": context(spark),
            "itf": spark.read.format("itf").load(str(GOLDEN / "basic.itf.json")).count(),
            "log": [row["op"] for row in spark.read.format("conform-log").load(str(log)).collect()],
            "result": exhaust(job, LIMITS, folder).to_json(),
            "rows": spark.read.parquet("viewfs://kit/tables/verdicts").count(),
        }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
