"""Schedules by their origin: a seed, a trace of a closed model, or a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.clients.draw import REFUSALS, TOPICS, draw
from harness.clients.timeline import Setup
from harness.errors import USAGE, ConformError
from harness.files import read_json
from harness.targets.base import Json

LONGEST_MS: Final = 10_000_000
"""The longest wait of a step."""
MOST_TIMES: Final = 1_000
STEPS: Final[dict[str, dict[str, type]]] = {
    "start": {"topics": list},
    "subscribe": {"topics": list},
    "wait": {"ms": int},
    "hold": {"ms": int},
    "ghost": {"who": str},
    "refuse": {"error": int, "times": int},
    "lose": {"what": str},
    **{name: {} for name in ("release", "consume", "commit", "close", "crash")},
    **{name: {} for name in ("grow", "remove", "stale", "unreleased")},
}
"""The steps of a schedule, with the fields of each."""


class Origin(NamedTuple):
    """A seed; or the path of a `trace`; or that of a JSON `file`, in which `seed` is the schedule's index."""

    seed: int = 0
    trace: str = ""
    file: str = ""

    def __str__(self) -> str:
        if self.file:
            return f"schedule {self.seed + 1} of {self.file}"
        return f"trace {self.trace}" if self.trace else f"seed {self.seed}"

    def to_json(self) -> Json:
        """The fields for `--json` and for the file of kept schedules."""
        if self.file:
            return {"file": self.file}
        return {"trace": self.trace} if self.trace else {"seed": self.seed}

    def words(self) -> list[str]:
        """The options of `conform client` that run this schedule: for a file, all schedules of the file."""
        if self.file:
            return ["--findings", self.file]
        return ["--traces", self.trace] if self.trace else ["--seed", str(self.seed), "--seeds", "1"]


class Schedule(NamedTuple):
    """The configuration of the client and the steps, the first of which starts the client."""

    origin: Origin
    setup: Setup
    steps: tuple[Json, ...]


def drawn(seeds: Iterable[int]) -> list[Schedule]:
    """The schedules of seeds."""
    made = [(seed, *draw(seed)) for seed in seeds]
    return [Schedule(Origin(seed), setup, tuple(steps)) for seed, setup, steps in made]


def of_findings(paths: Sequence[Path]) -> list[Schedule]:
    """The schedules of findings in JSON files, or in the JSON files below a folder: results of
    `conform client --json`, or single findings of these. ConformError (exit 2) for a file that is neither."""
    schedules = list[Schedule]()
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        if not files:
            raise ConformError(f"{path} has no JSON file with findings.", USAGE)
        for file in files:
            for number, one in enumerate(_findings(file)):
                setup = Setup(instance=one.get("instance"), auto_commit=one.get("autoCommit", False))
                schedules.append(Schedule(Origin(number, file=str(file)), setup, tuple(one["schedule"])))
    if paths and not schedules:
        raise ConformError(
            f"{', '.join(map(str, paths))}: there is no finding, so no schedule to run.", USAGE
        )
    return schedules


def _findings(file: Path) -> Sequence[Json]:
    """Finding objects of a file, each of which has a schedule."""
    content = read_json(file, "The file of findings")
    entries = content["findings"] if isinstance(content, dict) and "findings" in content else content
    many = entries if isinstance(entries, list) else [entries]
    for one in many:
        problem = _problem(one) if isinstance(one, dict) else "it is no JSON object"
        if problem:
            raise ConformError(
                f"{file} has no finding of conform client --json: {problem}. A finding has the fields "
                '"schedule" (its steps), "instance" and "autoCommit".',
                USAGE,
            )
    return many


def _problem(finding: Json) -> str:
    steps = finding.get("schedule")
    if not isinstance(steps, list) or not steps:
        return 'there is no list "schedule"'
    instance = finding.get("instance")
    if not isinstance(instance, str | None) or instance == "":
        return '"instance" is a string that is not empty, or null'
    if type(finding.get("autoCommit", False)) is not bool:
        return '"autoCommit" is true or false'
    problem = next(filter(None, (_problem_of_step(number, one) for number, one in enumerate(steps))), "")
    if not problem and all(step["do"] != "start" for step in steps):
        return 'no step of "schedule" is a start, so nothing would run'
    return problem


def _problem_of_step(number: int, step: Any) -> str:
    """The first fault of a step; "" for a valid step."""
    if not isinstance(step, dict) or str(step.get("do")) not in STEPS:
        return f'step {number + 1} is {json.dumps(step)}; a step has "do": one of {", ".join(STEPS)}'
    fields = STEPS[step["do"]]
    if step.keys() != {"do", *fields} or any(type(step[name]) is not kind for name, kind in fields.items()):
        form = ", ".join(["do", *(f"{name} ({kind.__name__})" for name, kind in fields.items())])
        return f"step {number + 1} is {json.dumps(step)}; the fields of {step['do']} are {form}"
    if step.get("topics") == [] or any(topic not in list(TOPICS) for topic in step.get("topics", ())):
        topics = json.dumps(step["topics"])
        return f"step {number + 1} subscribes to {topics}; the topics are {', '.join(TOPICS)}"
    if step.get("what", "request") not in ("request", "answer"):
        return f"step {number + 1} loses {json.dumps(step['what'])}; a request or an answer can be lost"
    if step.get("error", REFUSALS[0]) not in REFUSALS:
        errors = ", ".join(map(str, sorted({*REFUSALS})))
        return f"step {number + 1} refuses with {step['error']}; a client goes on after {errors}"
    if not (0 <= step.get("ms", 0) <= LONGEST_MS and 1 <= step.get("times", 1) <= MOST_TIMES):
        ends = f"ms is from 0 to {LONGEST_MS}, times from 1 to {MOST_TIMES}"
        return f"step {number + 1} is {json.dumps(step)}; {ends}"
    return ""
