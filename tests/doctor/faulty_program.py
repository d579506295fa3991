"""A program that speaks the line protocol, with one fault.

    python faulty_program.py FAULT

The faults are in `faults.py` and `control_faults.py`.
"""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from typing import Any

import control_faults  # noqa: F401  (registers them)
from faults import FAULTS

from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
from coordinator.stdio import LineProtocol

Json = dict[str, Any]


class Program:
    """A coordinator behind lines, with a fault."""

    def __init__(self, fault: str) -> None:
        self.coordinator = Coordinator(clock=SimulatedClock())
        self.protocol = LineProtocol(self.coordinator)
        self.fault = FAULTS.get(fault, Program.right)
        self.asked = 0
        self.scripts: list[Json] = []

    def right(self, operation: Json) -> Json:
        """The answer without a fault."""
        return deepcopy(self.protocol.answer(operation))

    def line(self, line: str) -> str:
        """The answer to a line."""
        try:
            operation = json.loads(line)
        except ValueError:
            return self.protocol.handle(line)
        if not isinstance(operation, dict) or not isinstance(operation.get("op"), str):
            return self.protocol.handle(line)
        return json.dumps(self.fault(self, operation))


def main(fault: str) -> None:
    """Serve standard input."""
    program = Program(fault)
    for line in sys.stdin:
        print(program.line(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
