"""Waits of tests for other processes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable


def alive(number: int) -> bool:
    """Tell if a process runs; one that no parent has waited for does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait a minute for a condition; AssertionError where the condition does not hold by then."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
