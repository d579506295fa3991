"""The time of a replay from the files to the verdict: the command as a user types it, reading included."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.scale import Progress, Table
from harness.errors import ENGINE_FAILED, ConformError

MODEL: Final = "MCSimulate"
GENERATE: Final = ("generate", MODEL, "--simulate", "200", "--depth", "60", "--seed", "848")
"""200 random behaviours, 12,000 steps; about half of them call the coordinator."""
ROUNDS: Final = 3


class Taken(NamedTuple):
    """Seconds of a command with all processes that it starts."""

    cpu_s: float
    clock_s: float


def replays(
    progress: Progress,
    generate: Sequence[str] = GENERATE,
    jobs: Sequence[int] = (1, 2),
    rounds: int = ROUNDS,
) -> Table:
    """The fastest of `rounds`. Steps a second of processor time leave out the start of Python, which is shown
    apart: it is the time of `conform replay --help`. Steps a second on the clock leave out nothing."""
    table = Table(
        [
            *("replay from file to verdict", "steps", "of target", "start s", "processor s"),
            *("steps/s", "of target/s", "clock s", "steps/s on the clock"),
        ]
    )
    start = min(_taken("replay", "--help") for _ in range(rounds)).cpu_s
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder:
        traces, result = Path(folder) / "traces", Path(folder) / "result.json"
        progress(f"traces of {MODEL}")
        _taken(*generate, "--out", str(traces))
        for number in jobs:
            progress(f"replaying them with --jobs {number}")
            words = ("replay", str(traces), "--target", "python", "--jobs", str(number))
            taken = [_taken(*words, "--json", str(result)) for _ in range(rounds)]
            data = json.loads(result.read_text())
            steps, judged = data["steps"], data["target_steps"]
            cpu, clock = min(one.cpu_s for one in taken), min(one.clock_s for one in taken)
            speeds = {
                "steps_per_cpu_s": _speed(steps, cpu - start),
                "target_steps_per_cpu_s": _speed(judged, cpu - start),
                "steps_per_clock_s": steps / clock,
            }
            all_s, target_s, clock_s = ("" if one is None else f"{one:,.0f}" for one in speeds.values())
            table.rows.append(
                [
                    *(f"python, --jobs {number}", f"{steps:,}", f"{judged:,}", f"{start:.2f}", f"{cpu:.2f}"),
                    *(all_s, target_s, f"{clock:.2f}", clock_s),
                ]
            )
            figures = {"jobs": number, "traces": data["traces"], "steps": steps, "target_steps": judged}
            seconds = {"start_cpu_s": start, "cpu_s": cpu, "clock_s": clock}
            table.data.append({**figures, **seconds, **speeds})
    return table


def _speed(steps: int, seconds: float) -> float | None:
    """Steps a second; None for a run that is too short beside the start of Python."""
    return steps / seconds if seconds > 0 else None


def _taken(*words: str) -> Taken:
    """Run `conform` with these words. ConformError where the command fails, also because the coordinator
    differs."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "harness", *words], capture_output=True, text=True)
    clock_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ConformError(f"`conform {' '.join(words)}` failed:\n{done.stderr}", ENGINE_FAILED)
    return Taken(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock_s)
