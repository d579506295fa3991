"""This repository's coordinator behind the line protocol, with a bug: one constant of its dialect is another.

python seeded_target.py kafka-4.2 RevocationAsked '"always"'
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from typing import Any

from coordinator import Coordinator, Dialect, SimulatedClock
from coordinator.stdio import serve


def target(dialect: str, constant: str, value: Any) -> str:
    """The name of such a target."""
    words = [sys.executable, __file__, dialect, constant, json.dumps(value)]
    return f"stdio:{shlex.join(words)}"


def main(dialect: str, constant: str, value: str) -> None:
    """Serve standard input."""
    changed = {constant: json.loads(value)}
    wrong = dataclasses.replace(Dialect.named(dialect), **changed)
    for answer in serve(Coordinator(dialect=wrong, clock=SimulatedClock()), sys.stdin.buffer):
        print(answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
