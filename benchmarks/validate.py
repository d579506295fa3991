"""The time of `conform validate` on the log of a whole group under faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.scale import Table
from harness.errors import ENGINE_FAILED, ConformError

SEED: Final = 7
EVENTS: Final = 3_000
"""The number of events: the log then has 522 steps, with 42 members and 85 partitions over its time."""


def recorded_runs(progress: Callable[[str], None], events: int = EVENTS) -> Table:
    """The command as a user starts it: processor seconds are those of Python and TLC."""
    table = Table(["conform validate", "steps", "processor s", "s"])
    progress(f"a log of {events} events")
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        log, result = Path(folder) / "log.jsonl", Path(folder) / "result.json"
        schedule = ["--seed", str(SEED), "--events", str(events)]
        _conform("simulate", *schedule, "--out", folder, "--record", str(log))
        cpu_s, wall_s = _conform("validate", str(log), "--json", str(result))
        steps = json.loads(result.read_text())["steps"]
    name = f"seed {SEED}, {events:,} events"
    table.rows.append([name, f"{steps:,}", f"{cpu_s:.1f}", f"{wall_s:.1f}"])
    table.data.append({"log": name, "steps": steps, "cpu_s": cpu_s, "seconds": wall_s})
    return table


def _conform(*words: str) -> tuple[float, float]:
    """Seconds of the processor, of all processes of the command, and of the clock."""
    command = [sys.executable, "-m", "harness", *words]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall_s, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise ConformError(f"`{' '.join(command)}` failed:\n{done.stderr}", ENGINE_FAILED)
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu_s, wall_s
