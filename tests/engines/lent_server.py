"""Forks that run TLC on a server that is lent to them; each prints the server's process id.

    python tests/engines/lent_server.py FOLDER [endless | late]

FOLDER has Walk.tla. An endless run prints the server's id and the fork's before each line of TLC, and never
ends. With `late` the first of the forks has a run that is stopped after a moment.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from harness.engines import tlc, warm_tlc
from harness.engines.base import EngineError, Limits
from harness.engines.process import stop_on_signals
from harness.engines.tlc import run_tlc
from harness.engines.warm_tlc import WarmTlc
from harness.mutate.mutant import KILLED, Verdict
from harness.mutate.pool import run_all

SECONDS = 1.5


def main(folder: Path, mode: str) -> None:
    """Run TLC in three forks, or once without an end."""
    endless = mode == "endless"
    module, config, server = folder / "Walk.tla", folder / "Walk.cfg", WarmTlc()
    config.write_text("SPECIFICATION Counting\n", encoding="utf-8")

    def work(task: int) -> Verdict:
        assert server._server
        number = str(server._server.pid)
        if endless:
            shown = partial(print, number, os.getpid(), flush=True)
            tlc.runner = lambda command, **how: server.run(command, **how | {"on_line": shown})
        late = mode == "late" and task == 0
        walks = 1_000_000_000 if endless or late else 3
        options = ["-simulate", f"num={walks}", "-depth", "4", "-seed", "1", "-workers", "1"]
        limits = Limits("512m", SECONDS if late else None, brief=True)
        try:
            run_tlc(module, config, options, log=folder / "walk.log", limits=limits)
        except EngineError as error:
            return Verdict(KILLED, f"{number} {error.failure.value}")
        return Verdict(KILLED, number if server.runs else "elsewhere")

    stop_on_signals()
    if mode == "late":  # a run of so little time would have a program of its own
        vars(warm_tlc)["LEAST_S"] = SECONDS
    for done in run_all(range(1 if endless else 3), work, 1, 1000.0, helpers=[server]):
        assert done.verdict
        print(done.verdict.by)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "".join(sys.argv[2:]))
