"""Processor time of a command and of all processes that it starts, also of those that nobody waits for.

Spark's Java, for one, outlives the program that starts it, so that neither `time` nor getrusage sees it. A
program between adopts what is left over and waits for it (Linux; elsewhere what is left over does not count).

    python -m benchmarks.account FILE COMMAND [WORD ...]     runs it, and writes JSON to FILE
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.engines.process import adopt_orphans, processor_s


@dataclass(frozen=True)
class Taken:
    """The seconds of a command with all processes that it starts, and its exit code."""

    cpu_s: float
    clock_s: float
    exit_code: int


def account(command: Sequence[str], log: Path, folder: Path | None = None) -> Taken:
    """Run a command in `folder`; its output goes to `log`."""
    with tempfile.NamedTemporaryFile(prefix="conform-account-") as file, log.open("w") as output:
        words = [sys.executable, __file__, file.name, *command]
        subprocess.run(words, cwd=folder, stdout=output, stderr=subprocess.STDOUT, check=False)
        return Taken(**json.loads(Path(file.name).read_text()))


def main(file: Path, command: Sequence[str]) -> None:
    """Run the command, and wait for it and for all processes that outlive it."""
    adopt_orphans()
    began = time.perf_counter()
    code = subprocess.run(command, check=False).returncode
    clock_s = time.perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()
    file.write_text(json.dumps(asdict(Taken(processor_s(), clock_s, code))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
