"""Findings of a differential simulation, as JSON and in words."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.replay.compare import Difference
from harness.replay.report import shown, shown_at
from harness.simulate.run import Divergence, RunFailed, Simulated
from harness.simulate.schedule import Schedule, action
from harness.targets.base import Json
from harness.waivers import Waivers

BEFORE = 12
"""The number of operations before a difference that are shown."""


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """The options of a run: two targets, their dialects, the seed and the number of steps."""

    target: str
    against: str
    dialect: str
    against_dialect: str
    seed: int
    steps: int
    length: int

    def command(self) -> str:
        """The command that does the same run again."""
        return f"{self._targets()} --steps {self.steps} --length {self.length} --seed {self.seed}"

    def replay(self, path: Path) -> str:
        """The command that repeats a schedule."""
        return f"{self._targets()} --replay {shlex.quote(str(path))}"

    def _targets(self) -> str:
        words = ["conform", "compare", "--target", self.target, "--against", self.against]
        if self.dialect != "kip-848":
            words += ["--dialect", self.dialect]
        if self.against_dialect != self.dialect:
            words += ["--against-dialect", self.against_dialect]
        return shlex.join(words)


def summary(
    options: ComparisonOptions,
    result: Simulated,
    hidden: Sequence[str],
    left_out: Sequence[str],
    waivers: Waivers,
) -> Iterator[str]:
    """A few lines: the number of compared steps, the differences, the kinds of steps, the parts that were
    left out."""
    yield (
        f"{result.runs:,} runs, {result.steps:,} steps compared on {options.target} ({options.dialect}) and "
        f"{options.against} ({options.against_dialect})"
    )
    yield f"steps: {_counts(result.ways)}"
    yield f"group after them: {_counts(result.states)}"
    yield f"{len(result.divergences)} kinds of differences, in {_runs(result.divergences, result.seen)} runs"
    yield from waivers.lines()
    if result.unscripted:
        yield f"runs that ended early, as a target was computed that was not scripted: {result.unscripted:,}"
    if hidden:
        yield f"not compared, because one of the targets does not show it: {', '.join(hidden)}"
    for sentence in left_out:
        yield f"left out: {sentence}"
    yield f"again: {options.command()}"


def to_json(
    options: ComparisonOptions,
    result: Simulated,
    hidden: Sequence[str],
    left_out: Sequence[str],
    waivers: Waivers,
    files: Sequence[Path],
    failed: RunFailed | None = None,
) -> Json:
    """The result for `--json`; `found` has each kind of difference with its schedule, `failed` the message of
    an implementation that failed, or null."""
    return {
        **asdict(options),
        "command": options.command(),
        "runs": result.runs,
        "steps": result.steps,
        "unscripted": result.unscripted,
        "ways": dict(sorted(result.ways.items())),
        "states": dict(sorted(result.states.items())),
        "failed": failed and failed.message,
        "unobserved": list(hidden),
        "left_out": list(left_out),
        "differences": len(result.divergences),
        "waived": waivers.to_json("runs"),
        "waiver_problems": list(waivers.problems()),
        "found": [
            {
                "signature": one.signature,
                "runs": result.seen[one.signature],
                "run": one.run,
                "operations": list(one.schedule.operations),
                "settings": one.schedule.settings,
                "differences": [asdict(difference) for difference in one.done.differences],
                "before": one.before,
                "after": one.done.answer.group or {},
                "file": str(path),
            }
            for one, path in zip(result.divergences, files, strict=True)
        ],
    }


def explain_divergence(options: ComparisonOptions, divergence: Divergence, path: Path) -> Iterator[str]:
    """A kind of difference in full, and the command that repeats it."""
    yield f"{divergence.signature}"
    first = (
        f"first in run {divergence.run}, operation {divergence.operations}"
        if divergence.run
        else "kept from an earlier run"
    )
    yield f"  {first}; shrunk to {len(divergence.schedule.operations)} operations: {path}"
    yield from explain(
        options, divergence.schedule, len(divergence.schedule.operations), divergence.done.differences
    )
    yield f"  again: {options.replay(path)}"


def explain(
    options: ComparisonOptions, schedule: Schedule, number: int, different: Sequence[Difference]
) -> Iterator[str]:
    """The operations up to `number` (from 1), and the parts of each target's answer that the other's does not
    have."""
    first = max(number - BEFORE, 1)
    if first > 1:
        yield f"  ... {first - 1} operations before"
    for index in range(first, number + 1):
        yield f"  {index}. {operation_in_words(schedule.operations[index - 1])}"
    yield f"  A is {options.target}, B is {options.against}"
    for one in different:
        yield f"  {one.path}"
        yield f"    A said {shown_at(one.path, one.expected)}"
        yield f"    B said {shown_at(one.path, one.got)}"


def operation_in_words(operation: Json) -> str:
    """One line: the operation, its fields, and the target that is scripted for it."""
    fields: dict[str, Any]
    if operation["op"] == "request":
        fields = {name: value for name, value in operation["body"].items() if value is not None}
    else:
        fields = {name: value for name, value in operation.items() if name not in ("op", "script", "newId")}
    line = f"{action(operation)} {shown(fields)}"
    if "newId" in operation:
        line += f" as {operation['newId']}"
    if "script" in operation:
        line += f", next target {shown(operation['script'])}"
    return line


def file_name(signature: str, seed: int) -> str:
    """The name of the file of a schedule that shows a kind of difference. Its words do not tell all
    signatures apart: 0 -> 1 and 0 -> -1 have the same, and long ones are cut."""
    words = "".join(letter if letter.isalnum() else "-" for letter in signature)
    short = "-".join(part for part in words.split("-") if part)[:80]
    return f"{short}-{hashlib.sha256(signature.encode()).hexdigest()[:6]}-{seed}.json"


def _runs(divergences: Sequence[Divergence], seen: Counter[str]) -> int:
    return sum(seen[one.signature] for one in divergences)


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "none"
