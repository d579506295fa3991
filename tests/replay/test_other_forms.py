"""Answers with a value in another form: a difference, or a sentence that names the field, never a pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from other_forms import EQUAL, MALFORMED, target
from typer.testing import CliRunner

from harness.cli.main import app
from harness.replay.compare import differences
from harness.replay.files import replay_files
from harness.targets.base import Answer

BASIC = Path(__file__).parents[2] / "traces" / "golden" / "basic.itf.json"


@pytest.mark.parametrize("form", EQUAL)
def test_a_value_that_equals_the_expected_one_only_in_python_is_a_difference(form: str) -> None:
    result = replay_files([BASIC], target(form), max_differences=1000)
    assert result.differences > 0


@pytest.mark.parametrize("form", MALFORMED)
@pytest.mark.parametrize(
    "verb",
    [("replay", str(BASIC), "--target"), ("compare", "--steps", "20", "--target", "python", "--against")],
)
def test_a_malformed_answer_is_one_sentence(verb: tuple[str, ...], form: str) -> None:
    ended = CliRunner().invoke(app, [*verb, target(form)])
    assert ended.exit_code == 3, ended.output
    assert "something that the line protocol does not have" in ended.output
    assert "(the field" in ended.output


def test_a_late_answer_with_another_field_is_a_difference() -> None:
    late = {"id": "JoinGroup c", "body": {"errorCode": 0}}
    assert differences(Answer(completed=[late]), Answer(completed=[{**late, "shoe": 1}]))
