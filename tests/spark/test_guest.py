"""The pipeline as a guest: in a session that it did not make, on file systems that only Spark knows."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from quick_java import quick_java

from harness import kit
from harness.engines.java import find_java
from harness.errors import ConformError
from harness.pipeline.connect import connected, remote_of
from harness.pipeline.publish import check_format
from harness.pipeline.reasons import reason_of
from harness.pipeline.session import settings_of
from harness.pipeline.sources import by_spark, find_files
from harness.pipeline.store import Store, file_system
from harness.pipeline.tables import MEANINGS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def guest_output(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The output of guest.py; a process of its own, since a process has one session."""
    folder = tmp_path_factory.mktemp("guest")
    ended = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("guest.py")), str(folder)],
        env={
            **os.environ,
            **quick_java(),
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "JAVA_HOME": str(find_java().resolve().parents[1]),
        },
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.sparks
def test_a_session_that_others_made_is_used_and_left_as_it_was(guest_output: Any) -> None:
    first, again = guest_output["runs"]
    assert (first["trace_steps"], first["failed"], first["traces"]) == (12, 0, 1)
    units = {row["unit"] for row in again["timings"]}  # a summary is made of the tables in each run
    assert {unit for unit in units if not unit.startswith("summary/")} <= {"start"}
    assert guest_output["alive"] == 3 and guest_output["settings"] == ["200", "200"]


@pytest.mark.sparks
def test_files_and_tables_are_where_only_spark_can_reach_them(guest_output: Any) -> None:
    """A scenario whose trace is beside it is not read twice; a file that is cut off is in the quarantine."""
    first, again = guest_output["runs"]
    assert first["quarantined"] == 1
    assert first["tables"][0] == "viewfs://kit/tables/findings" and len(first["tables"]) == 4
    assert guest_output["rows"] == again["trace_steps"] == 12  # after two runs


@pytest.mark.sparks
def test_columns_of_published_tables_say_what_they_mean(guest_output: Any) -> None:
    meanings = {name: {"comment": text, "schema_version": 1} for name, text in MEANINGS["findings"].items()}
    assert guest_output["columns"] == meanings


@pytest.mark.sparks
def test_an_error_of_spark_is_reported(guest_output: Any) -> None:
    sentence = guest_output["said"]
    assert sentence["nothing"]["error"].startswith("Spark cannot read the input viewfs://kit/nothing: ")
    assert sentence["delta"]["error"].startswith("This Spark session has no Delta Lake: give its package")
    assert sentence["delta"]["exit_code"] == 3
    assert "does not change spark.sql.warehouse.dir: leave out that --conf" in sentence["static"]["error"]


def test_settings_are_pairs() -> None:
    assert settings_of(["a.b=c=d", "e=", "a.b=f"]) == {"a.b": "f", "e": ""}
    for wrong in ("a.b", "=c"):
        with pytest.raises(ConformError, match=f"KEY=VALUE, .*; not '{wrong}'"):
            settings_of([wrong])


def test_a_format_is_known_and_has_a_place() -> None:
    check_format("iceberg", "catalog.conform")
    check_format("parquet", "")
    with pytest.raises(ConformError, match="no format 'orc' of tables: choose parquet, delta, iceberg"):
        check_format("orc", "x")
    with pytest.raises(ConformError, match="Say with --tables where"):
        check_format("delta", "")


def test_an_error_of_java_or_grpc_is_reported_by_its_reason() -> None:
    """Delta for another version of Spark fails so."""
    sentence = (
        "An error occurred while calling o559.save.\n: java.lang.NoSuchMethodError: 'void x()'\n\tat y\n"
    )
    assert reason_of(ValueError(sentence)) == "java.lang.NoSuchMethodError: 'void x()'"
    assert reason_of(ValueError("[PATH_EXISTS] It is there.\n\nMore")) == "[PATH_EXISTS] It is there"
    assert reason_of(ValueError()) == "ValueError"
    answer = '<_Rendezvous of RPC:\n\tstatus = 12\n\tdetails = "no such service."\n\tx = ""\n>'
    assert reason_of(ValueError(answer)) == "no such service"


def test_a_place_with_a_scheme_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`dbfs:/x` once made a folder `dbfs:` here."""
    monkeypatch.chdir(tmp_path)
    for place in ("dbfs:/tables", "unknown://there/tables"):
        with pytest.raises(ConformError, match=f"own files cannot be at {place}"):
            Store(place)
    assert list(tmp_path.iterdir()) == []
    assert find_files(["dbfs:/in", "s3a://bucket/in"]) == ["dbfs:/in", "s3a://bucket/in"]
    assert all(map(by_spark, ("hdfs://h/x", "dbfs:/x")))
    assert not any(map(by_spark, ("file:///x", "x", "C:/x")))


def test_traces_of_the_package_are_chosen_by_their_name_in_the_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder is empty; a file of that name there goes first."""
    carried, here = tmp_path / "carried", tmp_path / "here"
    golden = carried / "traces" / "golden"
    shutil.copytree(ROOT / "traces" / "golden", golden)
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(kit, "_CARRIED", carried)
    results = find_files(["traces/golden"])
    assert f"{golden.as_uri()}/basic.itf.json" in results and len(results) > 5
    assert find_files(["traces/golden/basic.itf.json"]) == [f"{golden.as_uri()}/basic.itf.json"]
    with pytest.raises(ConformError, match=r"The input traces/none does not exist\."):
        find_files(["traces/none"])
    (here / "traces" / "golden").mkdir(parents=True)
    (here / "traces" / "golden" / "basic.itf.json").touch()
    assert find_files(["traces/golden"]) == [f"{here.as_uri()}/traces/golden/basic.itf.json"]


def test_a_uri_of_hadoop_is_pyarrows_too(tmp_path: Path) -> None:
    s3, path = file_system("s3a://bucket/tables?region=us-east-1")
    assert (s3.type_name, path) == ("s3", "bucket/tables")
    (tmp_path / "a.itf.json").write_text("{}")
    assert find_files([f"file:{tmp_path}"]) == [f"file:{tmp_path}/a.itf.json"]
    assert Store(f"file:{tmp_path}/out").root == f"{tmp_path}/out"


def test_an_unusable_server_of_spark_connect_is_an_error(tmp_path: Path) -> None:
    """Port 1 has no server."""
    words = [
        sys.executable,
        "-m",
        "harness",
        "exhaust",
        "--input",
        str(ROOT / "traces/golden/basic.itf.json"),
        "--out",
        str(tmp_path),
    ]
    environment = {**os.environ, "SPARK_REMOTE": "sc://127.0.0.1:1"}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert ended.returncode == 3, ended.stderr
    output = ended.stderr.splitlines()[-1]
    assert output == (
        "conform: The Spark Connect server sc://127.0.0.1:1, which SPARK_REMOTE names, cannot be reached at "
        "127.0.0.1:1: Connection refused. Start it (sbin/start-connect-server.sh of Spark), name another "
        "one, or leave out SPARK_REMOTE, and Spark runs on this machine."
    )


def test_the_address_of_a_server_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://one")
    assert remote_of({}) == ("sc://one", "SPARK_REMOTE")
    assert remote_of({"spark.remote": "sc://two"}) == ("sc://two", "--conf spark.remote")
    with pytest.raises(
        ConformError, match=r"sc://h:x, which S names, is no address .* is sc://HOST:PORT\."
    ) as no:
        connected("sc://h:x", "S")
    assert no.value.exit_code == 2
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"sc://127.0.0.1:{server.getsockname()[1]}/;token=x"
    with pytest.raises(ConformError, match=rf"{place}, which S names, cannot be reached .* leave out S,"):
        connected(place, "S")  # nobody listens there any more
