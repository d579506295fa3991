"""Fields that a target cannot show are left out of the verdicts of the pipeline, as of a replay; no Spark
needed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.itf import read_trace
from harness.pipeline.judging import FAIL, PASS, Judge, check_target
from harness.pipeline.rows import StepRows

ROOT = Path(__file__).parent.parent.parent
PROGRAM = ROOT / "tests" / "replay" / "partial_target.py"


def target(**options: object) -> str:
    words = sys.executable, str(PROGRAM), json.dumps(options)
    return f"stdio:{shlex.join(words)}"


def verdicts(name: str) -> set[str]:
    """The verdicts of the steps of the case study Basic."""
    trace, judge = read_trace(ROOT / "traces" / "golden" / "basic.itf.json"), Judge(name, "kip-848")
    try:
        rows = [row for row in StepRows({}).trace("basic", trace, "basic") if row["operation"]]
        return {judge.judge({**row, "part": 0})["verdict"] for row in rows}
    finally:
        judge.close()


def test_declared_parts_are_not_compared() -> None:
    assert verdicts(target(lie="metadata", declared=["metadata"])) == {PASS}
    assert verdicts(target(lie="late metadata", declared=["members.state"])) == {FAIL}


def test_it_is_named_and_checked_before_the_work() -> None:
    assert check_target(target(hidden=["metadata", "timers.group"]), "kip-848") == (
        "metadata",
        "timers.group",
    )
    assert check_target("python", "kip-848") == ()
    with pytest.raises(ConformError, match=r"members\.shoeSize"):
        check_target(target(declared=["members.shoeSize"]), "kip-848")
