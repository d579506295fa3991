"""Events of whole groups that are played and checked in a second, on one core and on two."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.scale import Table
from harness.errors import ENGINE_FAILED, ConformError

SEEDS: Final = 200
"""The number of seeds, of 5,000 events each: a million."""


def whole_groups(progress: Callable[[str], None], seeds: int = SEEDS) -> Table:
    """The command as a user starts it; seconds include the start of Spark."""
    table = Table(["whole groups simulated on", "seeds", "events", "s", "events/s"])
    for master in ("local[2]", "local[1]"):
        progress(f"{seeds} seeds on {master}")
        with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
            result = Path(folder) / "result.json"
            words = [
                "simulate",
                "--seeds",
                str(seeds),
                "--master",
                master,
                "--out",
                folder,
                "--json",
                str(result),
            ]
            command = [sys.executable, "-m", "harness", *words]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise ConformError(f"`{' '.join(command)}` failed:\n{done.stderr}", ENGINE_FAILED)
            data = json.loads(result.read_text())
        events, seconds = data["events"], data["seconds"]
        speed = events / seconds
        table.rows.append([master, f"{seeds:,}", f"{events:,}", f"{seconds:.1f}", f"{speed:,.0f}"])
        figures = {"events": events, "seconds": seconds, "events_per_s": speed}
        table.data.append({"master": master, "seeds": seeds, **figures})
    return table
