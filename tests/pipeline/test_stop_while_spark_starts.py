"""A signal that arrives while Spark starts ends the run, also where a library catches the exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import logging, os, signal
from harness.engines.process import stop_on_signals
from harness.pipeline.session import _Stopping

stop_on_signals()
with _Stopping() as stopping:
    try:
        os.kill(os.getpid(), signal.SIGTERM)  # a library that starts Spark, and catches everything
    except SystemExit:
        logging.error("py4j says something of a connection")
    stopping.handle_signals(None)
    print("Spark runs")
"""


def test_an_exit_that_was_caught_is_not_forgotten() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (143, "")
    assert ended.stderr == "conform: stopped by SIGTERM.\n"
