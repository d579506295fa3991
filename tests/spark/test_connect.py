"""The pipeline as a client of a real Spark Connect server: PySpark's own jars, in another process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyspark
import pytest
from quick_java import quick_java

from harness.engines.java import find_java

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings of a server that is small; for a hundred rows Spark else compiles most of the time."""
STARTED = re.compile(r"Spark Connect server started at: \S*:(\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """The address of a server that starts in a folder of its own."""
    try:
        import_module("pyspark.sql.connect.session")
    except ImportError as error:
        pytest.skip(f"the client of Spark Connect is not installed: {str(error).splitlines()[0]}")
    home = Path(pyspark.__path__[0])
    words = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "800m"]
    for name in ("in", "tables", "server"):
        (folder / name).mkdir()
        words += ["--conf", f"spark.hadoop.fs.viewfs.mounttable.kit.link./{name}=file://{folder}/{name}"]
    words += [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = {
        **os.environ,
        **quick_java(),
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "JAVA_HOME": str(find_java().resolve().parents[1]),
    }
    log = folder / "server.log"
    with (
        log.open("wb") as out,
        subprocess.Popen(words, stdout=out, stderr=out, cwd=folder / "server", env=environment) as process,
    ):
        try:
            while not (started := STARTED.search(log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield f"sc://127.0.0.1:{started[1]}"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def client_output(server: str, folder: Path) -> Any:
    """The output of connected.py, which is a client of the server."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "pipeline")])
    words = [sys.executable, str(Path(__file__).with_name("connected.py")), str(folder)]
    environment = {**os.environ, "SPARK_REMOTE": server, "PYTHONPATH": path}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def rows(folder: Path, *table: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = (
        ds.dataset(folder.joinpath(*table), partitioning="hive").to_table().to_pylist()
    )
    return results


@pytest.mark.sparks
def test_the_session_is_the_servers(client_output: Any) -> None:
    assert client_output["session"] == "pyspark.sql.connect.session"
    assert client_output["context"] == "JVM_ATTRIBUTE_NOT_SUPPORTED"


@pytest.mark.sparks
def test_the_formats_of_the_kit_are_read_on_the_server(client_output: Any) -> None:
    assert client_output["itf"] == 13 and client_output["log"] == ["hello", None]


@pytest.mark.sparks
def test_each_step_of_a_model_and_of_a_trace_is_judged(client_output: Any, folder: Path) -> None:
    """The target has a wrong group epoch when a member leaves."""
    result, steps = client_output["result"], rows(folder, "out", "steps", "graph")
    judged = [row for row in steps if row["operation"]]
    leaves = [row for row in judged if '"memberEpoch":-1' in row["operation"]]
    assert 0 < len(leaves) < len(judged)
    assert (result["transitions"], result["trace_steps"]) == (len(judged), 12)
    wrong = {row["step"] for row in rows(folder, "out", "verdicts", "graph") if row["verdict"] == "fail"}
    assert wrong == {row["step"] for row in leaves} and result["failed"] >= len(wrong)
    assert (result["not_judged"], result["quarantined"]) == (0, 0)


@pytest.mark.sparks
def test_findings_page_and_tables_are_written(client_output: Any, folder: Path) -> None:
    """The tables are where the server alone can reach them by that name."""
    out, result = folder / "out", client_output["result"]
    assert result["findings"]
    examples = {f"{one['finding']}.itf.json" for one in result["findings"]}
    assert examples <= {path.name for path in (out / "examples").iterdir()}
    assert "Tested are the transitions" in (out / "graph.html").read_text()
    assert result["tables"][0] == "viewfs://kit/tables/findings"
    assert client_output["rows"] == result["transitions"] + result["trace_steps"]
    written = [row["finding"] for row in rows(folder, "tables", "findings")]
    assert sorted(written) == sorted(one["finding"] for one in result["findings"])
