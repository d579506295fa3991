"""Two tasks that never end, each with a program, as mutants of spec/ and of coordinator/ have, and a program
that is lent to the tasks; the process ids go into files of a folder. Before them a task that takes a second
to stop, and reports that it has begun, and the beginning of its end.

    python tests/mutate/stopped_pool.py FOLDER
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from harness.engines.process import run_program, stop_on_signals
from harness.mutate.mutant import KILLED, Verdict
from harness.mutate.pool import run_all


class Lent:
    """A program that ends with its standard input."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program: subprocess.Popen[bytes] | None = None

    def ready(self) -> None:
        """Start the program."""
        self.program = subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True)
        (self.folder / "helper").write_text(str(self.program.pid))

    def lend(self) -> None:
        """Do nothing: the tasks do not use the program."""

    def stop(self) -> None:
        """End the program."""
        if self.program:
            self.program.kill()
            self.program.wait()


def main(folder: Path) -> None:
    """Until it is told to stop."""

    def work(task: str) -> Verdict:
        if task == "slow":
            return slow()
        script = f"sleep 1000 & echo $! > {folder}/{task}.new; mv {folder}/{task}.new {folder}/{task}; wait"
        command = ["sh", "-c", script]
        if task == "engine":
            run_program(command, name="sh", log=folder / "log", folder=folder, timeout=None)
        else:
            subprocess.run(command, check=False)
        return Verdict(KILLED, "")

    def slow() -> Verdict:
        try:
            (folder / "slow").touch()
            time.sleep(1000)
        finally:
            (folder / "stopping").touch()
            time.sleep(1)
        return Verdict(KILLED, "")

    stop_on_signals()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent of this process may ignore it
    list(run_all(["slow", "engine", "tests"], work, 3, 1000.0, helpers=[Lent(folder)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
