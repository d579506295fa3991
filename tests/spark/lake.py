"""Two runs of `conform exhaust` into tables of a format, and what Spark reads there: lake.py FOLDER FORMAT.

docs/spark.md has the options of the format. Prints JSON of the runs, and of each table's rows and columns.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline_runs import GOLDEN, MUTANT, ROOT, mutated
from pyspark.sql import DataFrame, SparkSession

from harness.pipeline.session import settings_of


def options(folder: Path, name: str) -> list[str]:
    """The options that docs/spark.md gives for a format."""
    page = (ROOT / "docs" / "spark.md").read_text()
    block = re.search(rf"```text\n(--tables \S+ --format {name}\n.*?)```", page, re.DOTALL)
    assert block, f"docs/spark.md has no options of the format {name}"
    return block[1].replace("FOLDER", str(folder / "lake")).split()


def run(folder: Path, target: str, given: list[str]) -> dict[str, Any]:
    """The JSON of a run; each run judges anew, since its own folder is new."""
    folder.mkdir()
    result = folder / "result.json"
    words = ["exhaust", "--target", target, "--dialect", "kip-848", "--input", str(GOLDEN)]
    words += ["--out", str(folder / "out"), "--json", str(result), *given]
    ended = subprocess.run(
        [sys.executable, "-m", "harness", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 11, ended.stderr
    read: dict[str, Any] = json.loads(result.read_text())
    return read


def session(given: list[str]) -> SparkSession:
    """A session with the settings of the options."""
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    settings = [value for option, value in pairwise(given) if option == "--conf"]
    for key, value in settings_of(settings).items():
        builder = builder.config(key, value)
    made: SparkSession = builder.getOrCreate()
    return made


def content(frame: DataFrame) -> dict[str, Any]:
    """The rows of a table as sorted JSON, and what its columns say."""
    rows = sorted(json.dumps(row.asDict(recursive=True), sort_keys=True) for row in frame.collect())
    return {"rows": rows, "columns": {one.name: dict(one.metadata) for one in frame.schema.fields}}


def main(folder: Path, name: str) -> None:
    given = options(folder, name)
    target = mutated(folder, MUTANT)
    results = [run(folder / "first", target, given)]
    spark = session(given)
    read = spark.table if name == "iceberg" else spark.read.format(name).load
    first = {table: content(read(table)) for table in results[0]["tables"]}
    # The tables of an earlier kit: columns without their meanings, and one that is no longer there.
    old = read(results[0]["tables"][0]).selectExpr("finding", "`count`", "'x' AS former").limit(1)
    place = results[0]["tables"][0]
    if name == "iceberg":
        old.writeTo(place).using(name).createOrReplace()
    else:
        old.write.format(name).mode("overwrite").option("overwriteSchema", "true").save(place)
    spark.stop()
    results.append(run(folder / "second", target, given))
    spark = session(given)
    read = spark.table if name == "iceberg" else spark.read.format(name).load
    second = {table: content(read(table)) for table in results[1]["tables"]}
    version = ""
    if name == "iceberg":
        shown = spark.sql(f"SHOW TBLPROPERTIES {place} ('schema_version')").collect()
        version = shown[0]["value"]
    spark.stop()
    print(json.dumps({"results": results, "first": first, "second": second, "version": version}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
