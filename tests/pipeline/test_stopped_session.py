"""Whoever stops a run does not wait for what it is at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.sparks

PROGRAM = Path(__file__).with_name("stopped_session.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_session_that_is_stopped_cancels_what_runs(told: signal.Signals, tmp_path: Path) -> None:
    """`kill` and Ctrl-C once waited until Spark's job was done, in minutes, and could not be repeated."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    worker = tmp_path / "worker"
    with subprocess.Popen([sys.executable, str(PROGRAM), str(tmp_path)], env=environment) as run:
        try:
            while not worker.is_file():
                assert run.poll() is None
                time.sleep(0.1)
            run.send_signal(told)
            assert run.wait(timeout=120)
        finally:
            run.kill()
    number = worker.read_text()
    end = time.monotonic() + 60
    while subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True).stdout.strip():
        assert time.monotonic() < end
        time.sleep(0.1)
