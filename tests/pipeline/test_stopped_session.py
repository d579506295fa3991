"""A user who stops a run does not wait for its current work, and reads one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lives import alive, wait_until

pytestmark = pytest.mark.sparks

PROGRAM = Path(__file__).with_name("stopped_session.py")
ROOT = Path(__file__).parents[2]


def start(folder: Path, **variables: str) -> subprocess.Popen[str]:
    """The program in a process group of its own, in which Spark's Java is, too."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    words = [sys.executable, str(PROGRAM), str(folder)]
    return subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(file: Path, run: subprocess.Popen[str]) -> None:
    while not file.is_file():
        assert run.poll() is None
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_session_that_is_stopped_cancels_what_runs(answer: signal.Signals, tmp_path: Path) -> None:
    """`kill` and Ctrl-C once waited for minutes until Spark's job was done, and could not be repeated."""
    worker = tmp_path / "worker"
    with start(tmp_path) as run:
        try:
            wait_for(worker, run)
            run.send_signal(answer)
            _, printed = run.communicate(timeout=120)
        finally:
            run.kill()
    assert (run.returncode, printed) == (128 + answer, f"conform: stopped by {answer.name}.\n")
    wait_until(lambda: not alive(int(worker.read_text())))


@pytest.mark.parametrize("until", ["spark.log", "worker"], ids=["Spark starts", "a job runs"])
def test_a_whole_group_that_is_stopped_prints_one_sentence(until: str, tmp_path: Path) -> None:
    """`timeout` does it: Java has the signal, too, and answers no more. The output once was 325 lines."""
    with start(tmp_path) as run:
        try:
            wait_for(tmp_path / until, run)
            os.killpg(run.pid, signal.SIGTERM)
            _, printed = run.communicate(timeout=120)
        finally:
            run.kill()
    assert (run.returncode, printed) == (128 + signal.SIGTERM, "conform: stopped by SIGTERM.\n")


LAUNCHER = """#!/bin/sh
trap '' TERM
echo $$ > {started}.new && mv {started}.new {started}
exec sleep 600
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux lists the children of a process")
def test_a_launcher_of_spark_that_the_signal_does_not_reach_ends_with_the_run(tmp_path: Path) -> None:
    """A signal between the fork of the launcher and its exec was lost, and Java stayed for ever."""
    program, started = tmp_path / "bin" / "spark-submit", tmp_path / "started"
    program.parent.mkdir()
    program.write_text(LAUNCHER.format(started=started))
    program.chmod(0o755)
    with start(tmp_path, SPARK_HOME=str(tmp_path)) as run:
        try:
            wait_for(started, run)
            os.killpg(run.pid, signal.SIGTERM)
            _, printed = run.communicate(timeout=120)
        finally:
            run.kill()
    assert (run.returncode, printed) == (128 + signal.SIGTERM, "conform: stopped by SIGTERM.\n")
    wait_until(lambda: not alive(int(started.read_text())))
