"""The archive of classes with which Spark's Java starts: made once, whole, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.pipeline import archive
from harness.pipeline.archive import Archive, archive_of

PROGRAM = Path(__file__).with_name("archived_session.py")
ROOT = Path(__file__).parents[2]


def run(folder: Path) -> str:
    """A whole session whose caches are in the folder; the archive of its Java."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder)}
    words = [sys.executable, str(PROGRAM), str(folder / "spark.log")]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="which files Java has mapped is read from /proc")
def test_the_next_session_uses_it(tmp_path: Path) -> None:
    assert run(tmp_path) == ""
    (made,) = (tmp_path / "conform").iterdir()
    assert run(tmp_path) == made.name


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A Java and the jars of a Spark, in the parts on which the name of an archive depends."""
    java, jars = tmp_path / "java", tmp_path / "spark" / "jars"
    java.mkdir()
    jars.mkdir(parents=True)
    (java / "release").write_text('JAVA_VERSION="17.0.1"\n')
    (jars / "a.jar").write_text("a")
    return java, jars


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "conform"


def test_it_is_another_one_for_another_java_spark_or_options(tmp_path: Path, place: Path) -> None:
    java, jars = folders(tmp_path)
    names = [archive_of(java, jars, "-Xint"), archive_of(java, jars, "")]
    (java / "release").write_text('JAVA_VERSION="17.0.2"\n')
    names.append(archive_of(java, jars, ""))
    (jars / "a.jar").write_text("ab")
    names.append(archive_of(java, jars, ""))
    assert None not in names and len(set(names)) == 4
    assert archive_of(java, jars, "") == names[-1]


def test_there_is_none_where_java_takes_none_or_nothing_can_be_written(tmp_path: Path, place: Path) -> None:
    java, jars = folders(tmp_path)
    place.parent.write_text("no folder")
    assert archive_of(java, jars, "") is None
    place.parent.unlink()
    assert archive_of(tmp_path / "no java", jars, "") is None
    conf = jars.parent / "conf"
    conf.mkdir()
    assert archive_of(java, jars, "") is not None
    (conf / "spark-defaults.conf").write_text("")
    assert archive_of(java, jars, "") is None


def test_it_is_seen_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight sessions make it at once, and some of them fail on the way."""
    made = Archive(tmp_path, "spark-a")
    made.make(None, archive.WORTH_S - 1)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())

    def dump(session: Any, place: Path) -> None:
        with place.open("w") as stream:
            for _ in range(10):
                stream.write("classes ")
                stream.flush()
                time.sleep(0.001)
                result = made.find()
                assert result is None or result.read_text() == "classes " * 10
            if session % 2:
                raise OSError("the disk is full")

    monkeypatch.setattr(archive, "_dump", dump)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda one: made.make(one, archive.WORTH_S), range(8)))
    assert [one.name for one in tmp_path.iterdir()] == ["spark-a-80.jsa"]


def test_one_that_was_cut_off_is_not_used(tmp_path: Path) -> None:
    """Java dies of it."""
    made = Archive(tmp_path, "spark-a")
    (tmp_path / "spark-a-80.jsa").write_text("classes " * 10)
    (tmp_path / "spark-b-80.jsa").write_text("classes " * 10)
    assert f"-XX:SharedArchiveFile={tmp_path}/spark-a-80.jsa" in made.options
    (tmp_path / "spark-a-80.jsa").write_text("classes")
    assert made.find() is None and "SharedArchiveFile" not in made.options


@pytest.mark.parametrize(
    ("queues", "wait"),
    [
        ("Current compiles: \n\nC1 compile queue:\nEmpty\n\nC2 compile queue:\nEmpty\n\n", False),
        ("Current compiles: \n\nC1 compile queue:\n7143       1       a.B::c (8 bytes)\n\n", True),
        (
            "Current compiles: \nC1 CompilerThread0  7143  1  a.B::c (8 bytes)\n\nC1 compile queue:\nEmpty\n",
            True,
        ),
    ],
)
def test_methods_that_wait_for_the_compiler_are_seen(queues: str, wait: bool) -> None:
    """The outputs are those of OpenJDK 17. With a method that waits the archive is not written."""
    assert archive.methods_wait(queues) is wait
