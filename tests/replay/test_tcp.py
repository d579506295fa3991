"""`tcp:HOST:PORT`: the line protocol on a connection, from a server that has a coordinator for each."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import ENGINE_FAILED, HOLDS, USAGE, ConformError
from harness.replay.files import replay_files, trace_files
from harness.targets import open_target
from harness.targets.broker.local import free_port

ROOT = Path(__file__).parents[2]
COORDINATOR = [sys.executable, "-m", "coordinator", "--stdio"]


def served(command: list[str]) -> Iterator[str]:
    """A server on a free port that starts the command for each connection, which is its input and output."""
    listening = socket.create_server(("127.0.0.1", 0))
    started: list[subprocess.Popen[bytes]] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                started.append(subprocess.Popen(command, stdin=connection, stdout=connection, cwd=ROOT))

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"tcp:127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()
    for process in started:
        assert process.wait(20) is not None, "the end of the connection ends it"


@pytest.fixture
def coordinator() -> Iterator[str]:
    yield from served(COORDINATOR)


def test_a_server_is_judged_as_a_program_is(coordinator: str) -> None:
    result = replay_files(trace_files([ROOT / "traces/golden"])[:6], coordinator)
    assert (result.differences, result.ended_early, result.judged > 20) == (0, [], True)


def test_the_doctor_examines_it(coordinator: str) -> None:
    ended = CliRunner().invoke(app, ["doctor", "--target", coordinator])
    assert (ended.exit_code, "level: loadable" in ended.output) == (HOLDS, True), ended.output


def test_a_server_that_hangs_up_is_named() -> None:
    for target in served([sys.executable, "-c", "input()"]):
        with pytest.raises(ConformError, match="closed the connection before it answered hello") as failed:
            open_target(target)
        assert failed.value.exit_code == ENGINE_FAILED


@pytest.mark.parametrize(
    ("address", "says", "exit_code"),
    [
        ("9092", "write tcp:HOST:PORT", USAGE),
        ("127.0.0.1:0", "write tcp:HOST:PORT", USAGE),
        ("127.0.0.1:" + "9" * 5000, "write tcp:HOST:PORT", USAGE),
        ("127.0.0.1:FREE", "cannot be reached", ENGINE_FAILED),
    ],
)
def test_an_address_without_a_listener(address: str, says: str, exit_code: int) -> None:
    with pytest.raises(ConformError, match=says) as failed:
        open_target(f"tcp:{address.replace('FREE', str(free_port()))}")
    assert failed.value.exit_code == exit_code
