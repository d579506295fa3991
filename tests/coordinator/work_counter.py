"""Work counted in instructions of Python, which are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def instructions(act: Callable[[], object]) -> int:
    """The instructions of Python that a call runs; C code that it calls is not counted."""
    counted = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal counted
        frame.f_trace_opcodes = True
        counted += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return counted
