"""The pipeline inside a session that another program made, with Spark's own settings: guest.py FOLDER.

Prints JSON of the session's state before and after, and of the findings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from harness.engines.base import Limits
from harness.errors import ConformError
from harness.pipeline.exhaust import Job, exhaust
from harness.pipeline.session import Cluster

ROOT = Path(__file__).parents[2]
ASKED = "spark.sql.shuffle.partitions"


def session(folder: Path) -> SparkSession:
    """A notebook's session; `viewfs://kit/` is a file system that Spark alone knows."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("in", "tables"):
        (folder / name).mkdir()
        builder = builder.config(
            f"spark.hadoop.fs.viewfs.mounttable.kit.link./{name}", f"file://{folder}/{name}"
        )
    made: SparkSession = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    return made


def judged(folder: Path, **request: Any) -> dict[str, Any]:
    """The result of a run of the pipeline, or the sentence that ends it."""
    cluster = Cluster(settings=request.pop("settings", {ASKED: "3"}))
    job = Job("python", "kip-848", str(folder / "out"), cluster=cluster, **request)
    try:
        return exhaust(job, Limits("512m"), folder).to_json()
    except ConformError as error:
        return {"error": error.message, "exit_code": error.exit_code}


def main(folder: Path) -> None:
    spark = session(folder)
    golden = ROOT / "traces" / "golden" / "basic.itf.json"
    (folder / "in" / "deep").mkdir()
    for name in ("basic.itf.json", "basic.yaml"):
        (folder / "in" / "deep" / name).write_bytes(golden.with_name(name).read_bytes())
    (folder / "in" / "cut.itf.json").write_text('{"#meta')
    before = spark.conf.get(ASKED)
    request: dict[str, Any] = {"files": ["viewfs://kit/in"], "tables": "viewfs://kit/tables"}
    runs = [judged(folder, **request), judged(folder, **request)]
    given = {
        "nothing": judged(folder, files=["viewfs://kit/nothing"]),
        "delta": judged(folder, **request, format="delta"),
        "static": judged(folder, **request, settings={"spark.sql.warehouse.dir": "x"}),
    }
    rows = spark.read.parquet("viewfs://kit/tables/verdicts").count()
    fields = spark.read.parquet("viewfs://kit/tables/findings").schema.fields
    alive = spark.range(3).count()
    print(
        json.dumps(
            {
                "runs": runs,
                "said": given,
                "rows": rows,
                "columns": {field.name: dict(field.metadata) for field in fields},
                "alive": alive,
                "settings": [before, spark.conf.get(ASKED)],
            }
        )
    )
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
