"""The seeded bugs of one folder, and the check that catches each; for the report, once both folders have
run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from harness.files import output_folder, write_text
from harness.mutate.patches import TARGETS, Patch, all_patches
from harness.mutate.seeded import Answer, SeededCheck

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build"

Answers = Mapping[SeededCheck, Answer]


def bugs(target: str) -> list[SeededCheck]:
    """All seeded bugs of a folder, each with its check, in the order of their files."""
    return [SeededCheck(target, patch.check, patch) for patch in all_patches(ROOT, target)]


def without_a_bug(target: str, checks: Iterable[str]) -> list[SeededCheck]:
    """Each of the checks once, on the folder as it is."""
    return [SeededCheck(target, check, None) for check in dict.fromkeys(checks)]


def name(bug: SeededCheck) -> str:
    """The parameter of a test."""
    return f"{bug.target}/{bug.patch.path.stem}" if bug.patch else bug.check


def answers(checks: Sequence[SeededCheck]) -> Answers:
    """Judge by as many forks at a time as there are processors for this process."""
    others = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    jobs = max(1, (os.cpu_count() or 1) // others)
    program = str(Path(__file__).with_name("judge_seeded.py"))
    rows = [(one.target, one.check, one.patch and str(one.patch.path)) for one in checks]
    done = subprocess.run(
        [sys.executable, program, str(jobs)], input=json.dumps(rows), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return {one: Answer(one, *given) for one, given in zip(checks, json.loads(done.stdout), strict=True)}


def answers_of(target: str, request: pytest.FixtureRequest, build: Path = BUILD) -> Answers:
    """Judge the seeded bugs that the selected tests of a module need; all of the folder go to the report."""
    selected = [item for item in request.session.items if item.path == request.path]
    results = answers([item.callspec.params["bug"] for item in selected if hasattr(item, "callspec")])
    caught = {
        one.seeded.patch: one.caught for one in results.values() if one.seeded.patch and not one.problem
    }
    if list(caught) == [one.patch for one in bugs(target)]:
        report(target, caught, build)
    return results


def caught(answer: Answer) -> str:
    """The check that fails; an answer that is missing is an error."""
    assert not answer.problem, answer.problem
    return answer.caught


def report(target: str, caught: Mapping[Patch, str], build: Path) -> None:
    """Write the results of one folder's bugs, and `mutants.json` if both are known now: the files of tests
    run in processes of their own, and either may be the last."""
    write_text(_part(target, build), json.dumps([_row(*one) for one in caught.items()], indent=2) + "\n")
    parts = [_read(_part(each, build)) for each in TARGETS]
    names = [[patch.path.name for patch in all_patches(ROOT, each)] for each in TARGETS]
    if [[row["mutant"] for row in part] for part in parts] == names:
        rows = [row for part in parts for row in part]
        write_text(output_folder(build) / "mutants.json", json.dumps(rows, indent=2) + "\n")


def _part(target: str, build: Path) -> Path:
    return output_folder(build / "mutants") / f"{target}.json"


def _read(part: Path) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = json.loads(part.read_text()) if part.is_file() else []
    return rows


def _row(patch: Patch, caught: str) -> dict[str, Any]:
    return {
        "mutant": patch.path.name,
        "target": patch.target,
        "bug": patch.bug,
        "requirement": patch.requirement,
        "real_bug": patch.real_bug,
        "caught_by": caught or None,
        "survived": not caught,
    }
