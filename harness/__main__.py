"""`python -m harness` is `conform`. A signal while modules are imported ends both with one sentence."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def _stopped(number: int, _frame: FrameType | None) -> None:
    """End at once: nothing has been started yet, and an exception would appear in the middle of an import."""
    print(f"conform: stopped by {signal.Signals(number).name}.", file=sys.stderr, flush=True)
    os._exit(128 + number)


def main() -> None:
    """Import the command line, then run it."""
    known = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    heard = {one: handler for one, handler in known.items() if handler is not signal.SIG_IGN}
    for one in heard:
        signal.signal(one, _stopped)
    from harness.cli.main import main as run

    for one, handler in heard.items():
        signal.signal(one, handler)
    run()


if __name__ == "__main__":
    main()
