"""Getting Kafka's coordinator to run: its jars, the program around it, and the sentences of failures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kafka_driver import VERSIONS, skip_without_jars

from harness.errors import ConformError
from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.run import Replayer
from harness.targets import open_target
from harness.targets.kafka import build
from harness.targets.kafka.jars import jars
from harness.targets.kafka.target import COORDINATOR

ROOT = Path(__file__).parents[2]


def test_an_unknown_version_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(
        ConformError, match=r"'3\.9\.0'; there are jars for 4\.0\.2, 4\.1\.2, 4\.2\.1, 4\.3\.1, 4\.4\.0\."
    ) as caught:
        open_target("kafka:3.9.0", "kafka-4.2")
    assert caught.value.exit_code == 2


def test_a_cache_that_cannot_be_written_to_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConformError, match=r"cannot be written to: .*XDG_CACHE_HOME") as caught:
        open_target("kafka:4.2.1", "kafka-4.2")
    assert caught.value.exit_code == 2


def test_the_sources_of_every_version_are_there() -> None:
    for version in VERSIONS:
        line = version.rpartition(".")[0]
        assert list((build.SOURCES / line).rglob("Version.java")), version
    for path in build.SOURCES.rglob("*.java"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path


def test_without_a_jdk_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(
        ConformError, match=r"needs a JDK >= 17 once, .* no javac of one is in JAVA_HOME"
    ) as caught:
        build.program("4.2.1", [])
    assert caught.value.exit_code == 3
    assert not list(tmp_path.rglob("kafka-4.2.1-*"))


@pytest.mark.skipif(shutil.which("javac") is None, reason="no javac is in PATH")
def test_a_program_that_does_not_compile_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ConformError, match=r"does not compile with .*javac: .*error: ") as caught:
        build.program("4.2.1", [])
    assert caught.value.exit_code == 3
    assert list(tmp_path.rglob("*.class")) == []


@pytest.mark.maven
def test_two_processes_at_once_make_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_jars("4.3.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = "from harness.targets.kafka.target import command; print(command('4.3.1'))"
    words = [sys.executable, "-c", code]
    both = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    output = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert output[0] == output[1]
    (classes,) = (path for path in (tmp_path / "conform").iterdir() if path.is_dir())
    assert str(classes) in output[0]
    assert (classes / "conform" / "kafka" / "LineProtocol.class").is_file()


@pytest.mark.maven
def test_other_sources_are_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "java"
    shutil.copytree(build.SOURCES, sources)
    skip_without_jars("4.3.1")
    results = jars(COORDINATOR, "4.3.1")
    before = build.program("4.3.1", results)
    monkeypatch.setattr(build, "SOURCES", sources)
    assert build.program("4.3.1", results) == before
    (sources / "4.3" / "More.java").write_text("final class More { }\n", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    after = build.program("4.3.1", results)
    assert after.name != before.name
    assert (after / "More.class").is_file()


@pytest.mark.maven
def test_a_trace_of_the_text_finds_kafkas_departure() -> None:
    """R5: Kafka does not send an assignment again that the member has not acknowledged."""
    skip_without_jars("4.2.1")
    path = ROOT / "traces" / "golden" / "basic.itf.json"
    target = open_target("kafka:4.2.1", "kafka-4.2")
    try:
        replayer = Replayer(target, 100)
        replayer.replay(Decoder().decode(read_trace(path), path.name))
    finally:
        target.close()
    _, failure, *_ = replayer.result.failures
    assert (failure.index, failure.action, failure.branch) == (2, "Heartbeat", "stable")
    named, assigned = failure.differences  # MemberIdAnswered and AssignmentSent
    assert (named.path, assigned.path) == ("response.memberId", "response.assignment")
    assert (named.expected, assigned.got) == (None, None)
