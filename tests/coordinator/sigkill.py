"""Kills a real coordinator at random moments and checks what its successor finds (P3).

    python tests/coordinator/sigkill.py --kills 1000 --seed 848 --evidence spec/evidence/Sigkill.json
    python tests/coordinator/sigkill.py --verify spec/evidence/Sigkill.json

Each process finds the log that the one before left, is asked what it has, is sent a stream of operations
without waiting for answers, and is killed: after a random number of answers and a moment, or after a random
number of bytes, or while it starts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from crash_schedule import LOOK, Json, Model, durable, next_operation  # noqa: E402

from harness import sources  # noqa: E402

STREAM: Final = 40
"""How many operations a process is sent, at the most."""
KILLS_A_FILE: Final = 20
PROGRAMS: Final = ("tests/coordinator/sigkill.py", "coordinator/__main__.py")
SOURCES: Final = (
    "coordinator/**/*.py",
    "tests/coordinator/sigkill.py",
    "tests/coordinator/crash_schedule.py",
)
"""The sources of a result: the coordinator, and what sends operations and judges. Those that are imported
count."""
NOT_RUN: Final = ("coordinator.serve.command",)
"""Another command of the same program: a run does not reach its import."""


class Lost(AssertionError):
    """A successor did not find what it must."""


@dataclass
class Tally:
    """Counts of a run: they show that the kills hit something."""

    counts: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> Json:
        return dict(sorted(self.counts.items()))


class Victim:
    """One process on a log."""

    def __init__(self, log: Path) -> None:
        command = [sys.executable, "-m", "coordinator", "--stdio", "--log", str(log)]
        buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=buffered,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def write(self, content: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(content)
        self._process.stdin.flush()

    def answer(self) -> Json:
        assert self._process.stdout and self._process.stderr
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise Lost(f"the coordinator ended by itself: {self._process.stderr.read().decode()}")
        answer: Json = json.loads(line)
        return answer

    def kill(self) -> tuple[list[Json], bool]:
        """The answers that had left before and are not read yet; whether one was cut off."""
        self._process.send_signal(signal.SIGKILL)
        with self._process:
            assert self._process.stdout
            *lines, rest = self._process.stdout.read().split(b"\n")
        return [json.loads(line) for line in lines], bool(rest)


@dataclass
class Expected:
    """The durable state that a successor may find, and the model of that successor."""

    durable: Json
    successor: Model

    @staticmethod
    def of(model: Model) -> Expected:
        return Expected(model.durable(), model.successor())


def kill_again_and_again(kills: int, seed: int, folder: Path) -> Tally:
    """Kill coordinators on logs in the folder, a number of times. Raises Lost with what a coordinator did not
    find."""
    tally = Tally()
    for first in range(0, kills, KILLS_A_FILE):
        rng = random.Random(f"{seed} {first}")
        _kill_on_one_file(rng, min(KILLS_A_FILE, kills - first), folder / f"{seed}-{first}.db", tally)
    return tally


def _kill_on_one_file(rng: random.Random, kills: int, log: Path, tally: Tally) -> None:
    expected = [Expected.of(Model())]
    for life in range(kills + 1):
        where = f"{log.name}, life {life}"
        victim = Victim(log)
        if life < kills and rng.random() < 0.1:
            time.sleep(rng.random() * 0.2)
            victim.kill()
            tally.counts["killed while starting"] += 1
            continue
        victim.write(b"".join(map(_line, LOOK)))
        views_now = durable([victim.answer() for _ in LOOK])
        model = _matching(views_now, expected, where, tally)
        if life == kills:
            victim.kill()
        else:
            expected = _stream(rng, victim, model, where, tally)


def _matching(views_now: Json, expected: Sequence[Expected], where: str, tally: Tally) -> Model:
    """The model that the log leaves: after the operations that were answered, or after one more."""
    views = [one.durable for one in expected]
    if views_now not in views:
        differing = sorted(name for name in views_now if views_now[name] != views[0][name])
        raise Lost(
            f"{where}: neither what was acknowledged nor one operation more, see {', '.join(differing)}"
        )
    if len(views) > 1 and views[0] != views[1]:
        tally.counts["unanswered operation was " + ("lost" if views_now == views[0] else "kept")] += 1
    return expected[views.index(views_now)].successor


def _stream(rng: random.Random, victim: Victim, model: Model, where: str, tally: Tally) -> list[Expected]:
    """Send operations and kill; what the successor may find, after k or k + 1 of them."""
    ahead, operations = model.successor(), []
    for _ in range(rng.randint(1, STREAM)):
        operations.append(next_operation(rng, ahead))
        ahead.ask(operations[-1])
    content = b"".join(map(_line, operations))
    sent = len(content) if rng.random() < 0.7 else rng.randrange(len(content))
    victim.write(content[:sent])
    whole = content[:sent].count(b"\n")
    read = [victim.answer() for _ in range(rng.randint(0, whole))] if rng.random() < 0.8 else []
    time.sleep(rng.random() * 0.004)
    unread, cut_off = victim.kill()
    answers = read + unread
    for operation, answer in zip(operations, answers, strict=False):
        known = model.ask(operation)
        if answer != known:
            raise Lost(f"{where}: {operation} was answered {answer} instead of {known}")
    under_way = len(answers) < whole
    tally.counts["killed with operations under way" if under_way else "killed when idle"] += 1
    tally.counts["operations answered"] += len(answers)
    tally.counts["answers cut off"] += cut_off
    expected = [Expected.of(model)]
    if under_way:
        model.ask(operations[len(answers)])
        expected.append(Expected.of(model))
    return expected


def _line(operation: Json) -> bytes:
    return json.dumps(operation).encode() + b"\n"


def hashes() -> dict[str, str]:
    """`code_hash` of every source that a result depends on."""
    return sources.hashes(ROOT, SOURCES, *PROGRAMS, never=NOT_RUN)


def evidence(kills: int, seed: int, tally: Tally, seconds: float) -> Json:
    """The evidence of a run: what was done, with which versions, on which sources."""
    versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    return {
        "what": "a coordinator killed with SIGKILL at random moments: nothing acknowledged was lost, "
        "nothing unacknowledged half applied",
        "kills": kills,
        "seed": seed,
        "counts": tally.to_json(),
        "versions": versions,
        "files": hashes(),
        "seconds": round(seconds, 1),
    }


def main() -> int:
    """Exit code 0, or 11 with what was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=848)
    parser.add_argument("--evidence", type=Path, help="write the result to this file, if nothing was lost")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    if options.verify:
        return sources.verify(options.verify, hashes())
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tally = kill_again_and_again(options.kills, options.seed, Path(folder))
        except Lost as lost:
            print(f"seed {options.seed}: {lost}", file=sys.stderr)
            return 11
    result = evidence(options.kills, options.seed, tally, time.monotonic() - started)
    counts = ", ".join(f"{name} {count:,}" for name, count in result["counts"].items())
    print(f"{options.kills:,} kills in {result['seconds']} s, nothing was lost: {counts}")
    if options.evidence:
        options.evidence.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
