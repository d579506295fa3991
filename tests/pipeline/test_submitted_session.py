"""Under spark-submit the given settings count, and the pipeline sets the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from quick_java import quick_java

ROOT = Path(__file__).parents[2]
GIVEN = {"spark.sql.parquet.compression.codec": "snappy", "spark.sql.session.timeZone": "Asia/Tokyo"}
OWN = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.python.worker.reuse": "true"}


def test_settings_that_were_given_stay(tmp_path: Path) -> None:
    given = [word for name, value in GIVEN.items() for word in ("--conf", f"{name}={value}")]
    program = Path(__file__).with_name("submitted_session.py")
    words = [str(program), str(tmp_path / "spark.log"), *GIVEN, *OWN]
    ended = subprocess.run(
        [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]", *given, *words],
        env={**os.environ, **quick_java(), "PYTHONPATH": str(ROOT), "PYSPARK_DRIVER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    printed = dict(line.split("=", 1) for line in ended.stdout.splitlines() if line.startswith("spark."))
    assert printed == {**GIVEN, **OWN}
