"""`conform broker up|down`: a broker that outlives the command, and no file that outlives the broker."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from broker_bodies import FOO, START, join, send, topic
from needed_jars import needs_jars

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.broker import local
from harness.targets.broker.target import BrokerTarget
from harness.targets.kafka import jars

ROOT = Path(__file__).parents[2]


def conform(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `conform broker` with a state folder of its own."""
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.maven
def test_up_and_down(tmp_path: Path) -> None:
    """With 4.4.0, whose POM names a jar that Maven Central does not have."""
    needs_jars("4.4.0")
    folder, written = tmp_path / "broker", tmp_path / "up.json"
    up = ["broker", "up", "--version", "4.4.0", "--folder", str(folder)]
    started = conform(
        tmp_path, *up, "--json", str(written), "--set", "group.consumer.heartbeat.interval.ms=6000"
    )
    try:
        assert started.returncode == 0, started.stderr
        name = started.stdout.strip()
        assert json.loads(written.read_text())["target"] == name
        assert "group.consumer.assignment.interval.ms=0\n" in (folder / local.PROPERTIES).read_text()
        twice = conform(tmp_path, *up)
        assert twice.returncode == 2
        assert f"A broker of Kafka 4.4.0 runs already: {name}." in twice.stderr
        target = BrokerTarget(name.removeprefix("broker:"), "kafka-4.4", run="test")
        target.load([], [topic("foo", FOO, 1)], START)
        assert send(target, join("A"))["heartbeatIntervalMs"] == 6000
    finally:
        ended = conform(tmp_path, "broker", "down")
    assert (ended.returncode, ended.stdout) == (0, f"ended Kafka 4.4.0 ({name})\n")
    assert not folder.exists()
    # A killed broker gives one clear sentence, and so do the files that it left.
    with pytest.raises(ConformError) as failure:
        send(target, join("B"))
    assert failure.value.exit_code == ENGINE_FAILED
    assert failure.value.message.startswith(f"The {name.replace(':', ' ', 1)} closed the connection in ")
    with pytest.raises(ConformError, match=r"What may be left there: conform-test-1-g, conform-test-foo\."):
        target.close()


def test_down_with_none(tmp_path: Path) -> None:
    ended = conform(tmp_path, "broker", "down")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "No broker runs that `conform broker up` has started." in ended.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--version", "3.9.0"], "there are jars for 4.0.2, 4.1.2, 4.2.1, 4.3.1, 4.4.0."),
        (["--version", "4.2.1", "--set", "x"], "--set x is not a setting: write KEY=VALUE."),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, words: list[str], message: str) -> None:
    started = conform(tmp_path, "broker", "up", *words)
    assert started.returncode == 2
    assert message in started.stderr
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "conform"])


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    started = conform(tmp_path, "broker", "up", "--version", "4.2.1", "--folder", str(tmp_path))
    assert started.returncode == 2
    assert "is not empty" in started.stderr
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server((local.HOST, 0)) as taken:
        port = str(taken.getsockname()[1])
        started = conform(tmp_path, "broker", "up", "--version", "4.2.1", "--port", port)
    assert started.returncode == 2
    assert f"Nothing can listen on port {port} of 127.0.0.1" in started.stderr


@pytest.mark.maven
def test_a_broker_that_does_not_start_leaves_nothing(tmp_path: Path) -> None:
    needs_jars("4.2.1")
    folder = tmp_path / "broker"
    with pytest.raises(ConformError, match="heartbeat") as failure:
        local.start("4.2.1", None, folder, {"group.consumer.heartbeat.interval.ms": "soon"})
    assert failure.value.exit_code == ENGINE_FAILED
    assert not folder.exists()


def test_a_process_of_the_same_number_is_not_the_broker(tmp_path: Path) -> None:
    mine = local.LocalBroker("4.2.1", os.getpid(), 1, str(tmp_path / "broker"))
    assert not local.runs(mine)
    local.stop(mine)


@pytest.mark.maven
def test_a_jar_that_is_another_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_jars("4.2.1")
    (tmp_path / "slf4j-api-1.7.36.txt").write_text(f"{'0' * 64}  org.slf4j:slf4j-api:1.7.36\n")
    monkeypatch.setattr(jars, "PINS", tmp_path)
    with pytest.raises(
        ConformError, match=r"is not org\.slf4j:slf4j-api:1\.7\.36: its SHA-256 is "
    ) as failure:
        jars.jars("org.slf4j:slf4j-api", "1.7.36")
    assert failure.value.exit_code == ENGINE_FAILED


@pytest.mark.parametrize("version", local.versions())
def test_lists_of_jars(version: str) -> None:
    lines = (jars.PINS / f"kafka_2.13-{version}.txt").read_text().splitlines()
    digests, names = zip(*(line.split() for line in lines), strict=True)
    assert names[0] == f"{local.COORDINATE}:{version}"
    assert len(set(names)) == len(names) > 40
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)
