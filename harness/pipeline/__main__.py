"""Commands that use Spark, one after the other in one process: Java starts once, and is warm then.

    python -m harness.pipeline '[{"arguments": ["exhaust", "MCTour"], "log": "build/stages/exhaust.log"}]'

Each is a command line of `conform`, as of a stage of `make`, whose output goes to its log. When it ends, a
line of JSON on standard output has its exit code and its seconds: {"code": 0, "seconds": 12.5}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypedDict

from harness.cli.main import app
from harness.engines.process import stop_on_signals
from harness.pipeline.session import Cluster, spark_session

_SIGNALLED: Final = 128
"""The exit codes above this one are of a process that a signal stopped: then no other stage begins."""


class Task(TypedDict):
    """A command line, and the file for its output."""

    arguments: list[str]
    log: str


def main(tasks: Sequence[Task]) -> None:
    """Do all tasks. After a task that fails the others are done all the same; a signal ends them."""
    log = Path(tasks[0]["log"]).with_name("spark.log")
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as report, spark_session(Cluster(), log):
        for task in tasks:
            began = time.monotonic()
            with _output_to(Path(task["log"])):
                code = _exit_code(task["arguments"])
            print(json.dumps({"code": code, "seconds": time.monotonic() - began}), file=report, flush=True)
            if code > _SIGNALLED:
                sys.exit(code)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        app(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Put a file in the place of standard output and error, also for processes that are started meanwhile."""
    before = [os.dup(number) for number in (1, 2)]
    with log.open("w", encoding="utf-8") as stream:
        _replace([stream.fileno()] * 2)
    try:
        yield
    finally:
        _replace(before)
        for number in before:
            os.close(number)


def _replace(files: Sequence[int]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for number, file in zip((1, 2), files, strict=True):
        os.dup2(file, number)


if __name__ == "__main__":
    stop_on_signals()
    main(json.loads(sys.argv[1]))
