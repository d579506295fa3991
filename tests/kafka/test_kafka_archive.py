"""The archive of the program's classes: made once for each JVM, used where it fits, and never needed."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kafka_driver import VERSIONS, skip_without_jars

from harness.targets.kafka.archive import SESSION, archive_options
from harness.targets.kafka.target import command

WORDS = ("-cp", "program.jar", "Main")
MAKES = """
import pathlib, sys, time
log = pathlib.Path(sys.argv[0]).with_suffix(".log")
log.open("a").write("asked\\n")
(made,) = (word.partition("=")[2] for word in sys.argv if word.startswith("-XX:ArchiveClassesAtExit="))
assert len(sys.stdin.readlines()) > 10
with open(made, "w") as archive:
    archive.write("half")
    archive.flush()
    time.sleep(0.2)
    archive.write(" and half")
"""
FAILS = MAKES + "sys.exit(1)\n"


def jvm(folder: Path, code: str, name: str = "java") -> Path:
    """A program that stands for a JVM, in a home of its own."""
    program = folder / name / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}{code}", encoding="utf-8")
    program.chmod(0o755)
    return program


def asked(program: Path) -> int:
    return len(program.with_suffix(".log").read_text(encoding="utf-8").splitlines())


def archives(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_it_is_made_once(tmp_path: Path) -> None:
    java, folder = jvm(tmp_path, MAKES), tmp_path / "program"
    folder.mkdir()
    first = archive_options(java, WORDS, folder)
    assert archive_options(java, WORDS, folder) == first
    assert asked(java) == 1
    ((name, content),) = archives(folder).items()
    assert content == "half and half"
    assert first[0] == f"-XX:SharedArchiveFile={folder / name}"


def test_another_jvm_and_other_options_have_another_one(tmp_path: Path) -> None:
    java, other, folder = jvm(tmp_path, MAKES), jvm(tmp_path, MAKES, "other"), tmp_path / "program"
    folder.mkdir()
    for program, words in ((java, WORDS), (other, WORDS), (java, ("-Xmx1g", *WORDS))):
        assert archive_options(program, words, folder)
    assert len(archives(folder)) == 3
    java.write_text(java.read_text(encoding="utf-8") + "# a new version\n", encoding="utf-8")
    assert archive_options(java, WORDS, folder)
    assert len(archives(folder)) == 4


def test_two_at_once_leave_one_whole_archive(tmp_path: Path) -> None:
    java, folder = jvm(tmp_path, MAKES), tmp_path / "program"
    folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: archive_options(java, WORDS, folder), range(2))
    assert first == second != []
    assert list(archives(folder).values()) == ["half and half"]


def test_one_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    """A JVM would die of a part of an archive."""
    java, folder = jvm(tmp_path, MAKES), tmp_path / "program"
    folder.mkdir()
    first = archive_options(java, WORDS, folder)
    (file,) = folder.iterdir()
    file.write_text("half", encoding="utf-8")
    assert archive_options(java, WORDS, folder) == first
    assert asked(java) == 2
    assert list(archives(folder).values()) == ["half and half"]


def test_a_jvm_that_cannot_make_one_is_asked_once(tmp_path: Path) -> None:
    java, folder = jvm(tmp_path, FAILS), tmp_path / "program"
    folder.mkdir()
    assert [archive_options(java, WORDS, folder) for _ in range(2)] == [[], []]
    assert asked(java) == 1
    assert list(archives(folder).values()) == [""]


@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_a_folder_that_cannot_be_written_to_is_no_hindrance(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    assert archive_options(jvm(tmp_path, MAKES), WORDS, tmp_path / folder) == []


def test_a_jvm_that_is_not_there_is_no_hindrance(tmp_path: Path) -> None:
    assert archive_options(tmp_path / "bin" / "java", WORDS, tmp_path) == []


def started(words: list[str]) -> str:
    """All that the program says when it is asked who it is."""
    asked = json.dumps(SESSION[0]) + "\n"
    return subprocess.run(words, input=asked, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.maven
@pytest.mark.parametrize("version", VERSIONS)
def test_kafkas_program_starts_from_it(version: str) -> None:
    """-Xshare:on ends a JVM that cannot use its archive."""
    skip_without_jars(version)
    words = command(version)
    assert any(word.startswith("-XX:SharedArchiveFile=") for word in words)
    only = ["-Xshare:on" if word == "-Xshare:auto" else word for word in words]
    assert json.loads(started(only))["name"] == f"Apache Kafka {version}"


@pytest.mark.maven
@pytest.mark.parametrize("content", [b"", b"nonsense"], ids=["empty", "nonsense"])
def test_kafkas_program_starts_without_one_that_does_not_fit(tmp_path: Path, content: bytes) -> None:
    """And says nothing of it where the line protocol is spoken."""
    skip_without_jars("4.2.1")
    words = command("4.2.1")
    (option,) = (word for word in words if word.startswith("-XX:SharedArchiveFile="))
    broken = tmp_path / "broken.jsa"
    broken.write_bytes(content)
    said = started([f"-XX:SharedArchiveFile={broken}" if word == option else word for word in words])
    assert json.loads(said)["ok"] is True
