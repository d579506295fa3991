"""The archive of the program's classes: made once for each JVM, used where it fits, and never needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.class_archive import Work
from harness.class_archive import archive_options as options_for
from harness.engines.java import find_java
from harness.engines.tlc import BRIEF, find_jar
from harness.engines.tlc_archive import archive_of_tlc

ROOT = Path(__file__).parents[2]
WORDS = ("-cp", "program.jar", "Main")
MAKES = """
import pathlib, sys, time
log = pathlib.Path(sys.argv[0]).with_suffix(".log")
log.open("a").write("asked\\n")
(made,) = (word.partition("=")[2] for word in sys.argv if word.startswith("-XX:ArchiveClassesAtExit="))
assert len(sys.stdin.readlines()) == 2
with open(made, "w") as archive:
    archive.write("half")
    archive.flush()
    time.sleep(0.2)
    archive.write(" and half")
"""
WORK = Work(lines=b"first\nsecond\n")
FAILS = MAKES + "sys.exit(1)\n"


def archive_options(java: Path, words: Sequence[str], folder: Path) -> list[str]:
    return options_for(java, words, folder, WORK)


def jvm(folder: Path, code: str, name: str = "java") -> Path:
    """A program that stands for a JVM, in a home of its own."""
    program = folder / name / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}{code}", encoding="utf-8")
    program.chmod(0o755)
    return program


def count_of_starts(program: Path) -> int:
    return len(program.with_suffix(".log").read_text(encoding="utf-8").splitlines())


def archives(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_it_is_made_once(tmp_path: Path) -> None:
    java, folder = jvm(tmp_path, MAKES), tmp_path / "program"
    folder.mkdir()
    first = archive_options(java, WORDS, folder)
    assert archive_options(java, WORDS, folder) == first
    assert count_of_starts(java) == 1
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
    """A JVM would crash on a part of an archive."""
    java, folder = jvm(tmp_path, MAKES), tmp_path / "program"
    folder.mkdir()
    first = archive_options(java, WORDS, folder)
    (file,) = folder.iterdir()
    file.write_text("half", encoding="utf-8")
    assert archive_options(java, WORDS, folder) == first
    assert count_of_starts(java) == 2
    assert list(archives(folder).values()) == ["half and half"]


def test_a_jvm_without_class_archives_is_tried_once(tmp_path: Path) -> None:
    java, folder = jvm(tmp_path, FAILS), tmp_path / "program"
    folder.mkdir()
    assert [archive_options(java, WORDS, folder) for _ in range(2)] == [[], []]
    assert count_of_starts(java) == 1
    assert list(archives(folder).values()) == [""]


@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_a_folder_that_cannot_be_written_to_is_no_hindrance(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    assert archive_options(jvm(tmp_path, MAKES), WORDS, tmp_path / folder) == []


def test_a_jvm_that_is_not_there_is_no_hindrance(tmp_path: Path) -> None:
    assert archive_options(tmp_path / "bin" / "java", WORDS, tmp_path) == []


def test_tlc_starts_from_an_archive_that_the_first_run_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """-Xshare:on ends a JVM that cannot use its archive."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    java, jar = find_java(), find_jar()
    options = archive_of_tlc(java, jar)
    assert options[0].startswith(f"-XX:SharedArchiveFile={tmp_path / 'conform'}")
    for collector in ("-XX:+UseSerialGC", "-XX:+UseParallelGC"):
        words = [str(java), "-Xshare:on", collector, *options, "-cp", str(jar), "tlc2.TLC", "-help"]
        ended = subprocess.run(words, capture_output=True, text=True)
        assert "SYNOPSIS" in ended.stdout and ended.stderr == ""


def test_methods_are_compiled_with_an_archive_that_a_busy_jvm_has_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JVM that makes the archive is told to compile every method by its slow compiler, so that many wait
    when it ends. A method that waits in the archive would be interpreted in each run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:-TieredCompilation -XX:CompileThreshold=20")
    java, jar = find_java(), find_jar()
    options = archive_of_tlc(java, jar)
    monkeypatch.delenv("JDK_JAVA_OPTIONS")
    words = [str(java), *BRIEF, *options, "-XX:+PrintCompilation", "-cp", str(jar), "tlc2.TLC"]
    model = ["-metadir", str(tmp_path / "states"), "-deadlock", "-config", "MCTour.cfg", "MCTour.tla"]
    ended = subprocess.run([*words, *model], cwd=ROOT / "spec", capture_output=True, text=True)
    assert "312 distinct states found" in ended.stdout
    for method in ("tlc2.tool.impl.Tool::evalImpl", "tlc2.tool.impl.Spec::lookup"):
        assert method in ended.stdout


def test_tlc_runs_where_the_folder_of_caches_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert archive_of_tlc(find_java(), find_jar()) == []
