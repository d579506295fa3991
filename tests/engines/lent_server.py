"""Forks that run TLC on a server that is lent to them; each prints the server's process id.

    python tests/engines/lent_server.py FOLDER [endless]

FOLDER has Walk.tla. An endless run prints the server's id and the fork's before each line of TLC, and never
ends.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from harness.engines import tlc
from harness.engines.base import Limits
from harness.engines.process import stop_on_sigterm
from harness.engines.tlc import run_tlc
from harness.engines.warm_tlc import WarmTlc
from harness.mutate.mutant import KILLED, Verdict
from harness.mutate.pool import run_all


def main(folder: Path, endless: bool) -> None:
    """Run TLC in three forks, or once without an end."""
    module, config, server = folder / "Walk.tla", folder / "Walk.cfg", WarmTlc()
    walks = 1_000_000_000 if endless else 3
    config.write_text("SPECIFICATION Counting\n", encoding="utf-8")

    def work(_task: int) -> Verdict:
        assert server._server
        number = str(server._server.pid)
        if endless:
            shown = partial(print, number, os.getpid(), flush=True)
            tlc.runner = lambda command, **how: server.run(command, **how | {"on_line": shown})
        options = ["-simulate", f"num={walks}", "-depth", "4", "-seed", "1", "-workers", "1"]
        limits = Limits("512m", brief=True)
        run_tlc(module, config, options, log=folder / "walk.log", limits=limits)
        return Verdict(KILLED, number if server.runs else "elsewhere")

    stop_on_sigterm()
    for done in run_all(range(1 if endless else 3), work, 1, 1000.0, helpers=[server]):
        assert done.verdict
        print(done.verdict.by)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["endless"])
