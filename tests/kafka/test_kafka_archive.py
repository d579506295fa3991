"""Kafka's program starts from an archive of its classes, and without one that does not fit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from kafka_driver import VERSIONS, skip_without_jars

from harness.targets.kafka.archive import SESSION
from harness.targets.kafka.target import command


def started(words: list[str]) -> str:
    """The program's whole answer to hello."""
    request = json.dumps(SESSION[0]) + "\n"
    return subprocess.run(words, input=request, capture_output=True, text=True, timeout=120).stdout


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
    """The program says nothing of the archive where the line protocol is spoken."""
    skip_without_jars("4.2.1")
    words = command("4.2.1")
    (option,) = (word for word in words if word.startswith("-XX:SharedArchiveFile="))
    broken = tmp_path / "broken.jsa"
    broken.write_bytes(content)
    given = started([f"-XX:SharedArchiveFile={broken}" if word == option else word for word in words])
    assert json.loads(given)["ok"] is True
