"""A run that is stopped leaves no process behind that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lives import alive, wait_until

PROGRAM = Path(__file__).with_name("stopped_pool.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("answer", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("everybody", [False, True], ids=["it alone", "its process group"])
def test_processes_of_a_stopped_run_end_with_it(
    answer: signal.Signals, everybody: bool, tmp_path: Path
) -> None:
    """`kill` signals one process, a terminal and `timeout` its process group; here some of it twice."""
    with a_run(tmp_path) as (run, numbers):
        if everybody:
            os.killpg(run.pid, answer)
        os.kill(run.pid, answer)
        _, output = run.communicate(timeout=30)
        assert run.returncode
        ends = answer in (signal.SIGTERM, signal.SIGHUP)
        assert output.count(b"stopped by SIG") == ends, "its processes print nothing"
    wait_until(lambda: not any(map(alive, numbers)))


def test_a_second_ctrl_c_while_it_stops_leaves_nothing_either(tmp_path: Path) -> None:
    """The run once left without telling the forks that came next, and waited for them, as they did for it."""
    with a_run(tmp_path) as (run, numbers):
        os.kill(run.pid, signal.SIGINT)
        wait_until((tmp_path / "stopping").is_file)
        os.kill(run.pid, signal.SIGINT)
        run.communicate(timeout=30)
        assert run.returncode
    wait_until(lambda: not any(map(alive, numbers)))


@contextmanager
def a_run(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A run, and the ids of the processes that it started; none of them outlives the test."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAM), str(folder)]
    started = [folder / "engine", folder / "tests", folder / "helper"]
    with subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.PIPE) as run:
        try:
            begun = [*started, folder / "slow"]
            wait_until(lambda: all(one.is_file() for one in begun) or run.poll() is not None)
            numbers = [int(one.read_text()) for one in started]
            assert all(map(alive, numbers))
            yield run, numbers
        finally:
            run.kill()
