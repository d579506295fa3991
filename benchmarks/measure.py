"""Seconds and megabytes of a piece of work, and the machine that did it."""

from __future__ import annotations

import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ENGINE_FAILED, ConformError

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_ROOT = Path(__file__).parent.parent
"""The checkout: an installed package does not have the benchmarks."""


@dataclass(frozen=True)
class Measured:
    """The fastest run in seconds, and the process's memory in megabytes of 10^6 bytes."""

    cpu_s: float
    """Processor seconds: the figure to compare on a machine that has other work, too."""
    wall_s: float
    before_mb: float
    """Resident before the work: the interpreter and the input."""
    peak_mb: float
    """The most resident memory during the work, input included."""


def measure(runs: Sequence[Callable[[], object]]) -> Measured:
    """Do the same work once for each run (a factory of one-shot work makes a new one for each run)."""
    gc.collect()
    with suppress(OSError):  # Linux: reset the peak of the work before
        _CLEAR.write_text("5")
    before = _resident_mb("VmRSS")
    cpu, wall = [], []
    for run in runs:
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        run()
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    return Measured(min(cpu), min(wall), before, _resident_mb("VmHWM"))


def _resident_mb(field: str) -> float:
    """VmRSS (now) or VmHWM (peak) of this process; where there is no /proc, the peak since it started."""
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def in_fresh_process(case: str, **arguments: Any) -> Measured:
    """Measure a case of `benchmarks.cases.CASES` in a new process with no other work."""
    command = [sys.executable, "-m", "benchmarks.case", case, json.dumps(arguments)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConformError(f"The benchmark {case} of {arguments} failed:\n{done.stderr}", ENGINE_FAILED)
    return Measured(**json.loads(done.stdout))


def machine() -> dict[str, Any]:
    """Facts on which figures depend besides the code. The load average shows if the machine had other
    work."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
