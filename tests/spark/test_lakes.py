"""The tables for queries, in Delta Lake and Apache Iceberg, with the options of docs/spark.md.

`make lakes` runs these in an environment of their own: the packages are for one version of Spark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from harness.engines.java import find_java
from harness.pipeline.tables import MEANINGS, SCHEMA_VERSION

ROOT = Path(__file__).parents[2]
VERSION = "4.1."


@pytest.mark.lakes
@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_a_second_run_writes_the_same_rows_and_meanings_of_columns(name: str, tmp_path: Path) -> None:
    """A table that an earlier kit left there, with other columns, does not stop the second run."""
    assert pyspark.__version__.startswith(VERSION), f"pyspark {pyspark.__version__}: use `make lakes`"
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lake.py")), str(tmp_path), name],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "pipeline"))),
            "PYSPARK_PYTHON": sys.executable,
            "JAVA_HOME": str(find_java().resolve().parents[1]),
        },
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    output = json.loads(ended.stdout.splitlines()[-1])
    first, second = output["first"], output["second"]
    assert first == second
    names = [place.replace("/", ".").split(".")[-1] for place in first]
    assert names == list(MEANINGS)
    for table, content in zip(names, second.values(), strict=True):
        comments = {column: known["comment"] for column, known in content["columns"].items()}
        assert comments == MEANINGS[table]
        if name == "delta":
            assert {known["schema_version"] for known in content["columns"].values()} == {SCHEMA_VERSION}
    assert output["version"] == (str(SCHEMA_VERSION) if name == "iceberg" else "")
    rows = {table: len(content["rows"]) for table, content in zip(names, second.values(), strict=True)}
    result = output["results"][1]
    assert rows["findings"] == len(result["findings"]) > 0
    assert rows["verdicts"] == result["trace_steps"] > 0
    assert rows["coverage"] > 0 and rows["quarantine"] == 0
