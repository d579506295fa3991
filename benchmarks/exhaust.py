"""The speed of judging whole state graphs, on one core and on two, and the memory at growing sizes.

Each run is a process of its own, as a user starts it; the memory is that of the whole tree of processes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.scale import Table
from harness.engines.tlc_config import Config, read_config
from harness.errors import ENGINE_FAILED, ConformError

SPEC: Final = Path("spec")
MODEL: Final = "MCOpen"
SIZES: Final[tuple[Mapping[str, str], ...]] = (
    {"MaxEpoch": "= 3"},
    {"MaxEpoch": "= 4"},
    {"MaxEpoch": "= 5", "RequestEpochs": "= {1, 2, 3, 4}"},
)
"""Constants of MCOpen that give about 0.2, 1.3 and 3.9 million steps."""
_SAMPLE_S: Final = 1.0


@dataclass(frozen=True)
class Speed:
    """One run; seconds of wall clock, megabytes of 10^6 bytes."""

    size: str
    master: str
    steps: int
    states: int
    differences: int
    spark_s: float
    tables_s: float
    """From the model to the table of steps: TLC's dump, reading it, decoding."""
    judged_s: float
    peak_mb: float

    @property
    def steps_per_s(self) -> float:
        """Judged steps a second, without the start of Spark and the making of tables."""
        return self.steps / self.judged_s


def exhaustive(progress: Callable[[str], None], sizes: Sequence[Mapping[str, str]] = SIZES) -> Table:
    """Every size on two cores; the first two on one core as well, on the same tables."""
    speeds = []
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as name:
        for number, constants in enumerate(sizes):
            folder = Path(name) / str(number)
            folder.mkdir()
            config = folder / f"{MODEL}.cfg"
            config.write_text(_having(read_config(SPEC / f"{MODEL}.cfg"), constants).text())
            for master in ("local[2]", "local[1]") if number < 2 else ("local[2]",):
                size = ", ".join(f"{constant} {value}" for constant, value in constants.items())
                progress(f"{MODEL} with {size} on {master}")
                speeds.append(_run(size, master, config, folder))
            shutil.rmtree(folder)
    columns = ["exhaust", "on", "steps", "states", "Spark s", "tables s", "judged s", "steps/s", "peak MB"]
    return Table(
        columns,
        [_row(speed) for speed in speeds],
        [{**asdict(speed), "steps_per_s": speed.steps_per_s} for speed in speeds],
    )


def _row(speed: Speed) -> list[str]:
    seconds = (speed.spark_s, speed.tables_s, speed.judged_s)
    counts = [f"{speed.steps:,}", f"{speed.states:,}"]
    shown = [f"{one:.0f}" for one in seconds]
    return [speed.size, speed.master, *counts, *shown, f"{speed.steps_per_s:,.0f}", f"{speed.peak_mb:,.0f}"]


def _having(config: Config, constants: Mapping[str, str]) -> Config:
    """The configuration with other values of some constants, and without the sections of its checks."""
    sections = []
    for keyword, text in config.sections:
        lines = text.splitlines()
        if keyword == "CONSTANT":
            named = [(line.split()[0], line) for line in lines if line.strip()]
            lines = [f"{one} {constants[one]}" if one in constants else line for one, line in named]
        sections.append((keyword, "\n".join(lines)))
    return Config(tuple(sections))


def _run(size: str, master: str, config: Path, folder: Path) -> Speed:
    """Judge the model; where its tables exist already, only the verdicts are made anew."""
    output, result = folder / "tables", folder / "result.json"
    for entry in (output / "ledger").glob("verdicts*"):
        entry.unlink()
    options = ["--config", str(config), "--master", master, "--out", str(output), "--json", str(result)]
    command = [sys.executable, "-m", "harness", "exhaust", str(SPEC / f"{MODEL}.tla"), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        memory = _Memory(process.pid)
        _, printed = process.communicate()
        peak = memory.stop()
    if process.returncode:
        raise ConformError(f"`{' '.join(command)}` failed:\n{printed}", ENGINE_FAILED)
    data = json.loads(result.read_text())
    seconds = {stage: 0.0 for stage in ("spark", "graph", "states", "steps", "verdicts")}
    for timing in data["timings"]:
        seconds[timing["stage"]] = seconds.get(timing["stage"], 0.0) + timing["seconds"]
    tables = seconds["graph"] + seconds["states"] + seconds["steps"]
    counts = (data["transitions"], data["states"], data["differences"])
    return Speed(size, master, *counts, seconds["spark"], tables, seconds["verdicts"], peak / 1e6)


class _Memory:
    """Watches the memory of a process and its children: pages that several share count once."""

    def __init__(self, pid: int) -> None:
        self._peak = 0
        self._ended = threading.Event()
        self._root = psutil.Process(pid)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """The most memory in use at a time, in bytes."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._ended.wait(_SAMPLE_S):
            with suppress(psutil.Error):
                processes = [self._root, *self._root.children(recursive=True)]
                self._peak = max(self._peak, sum(_used(process) for process in processes))


def _used(process: Any) -> int:
    """Bytes of a process; 0 if it has ended meanwhile."""
    with suppress(psutil.Error):
        used = process.memory_full_info()
        return int(getattr(used, "pss", used.rss))
    return 0
