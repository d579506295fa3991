"""Every seeded bug of the specification is caught by its check, which finds nothing without the bug."""

from __future__ import annotations

import pytest
from seeded import Answers, answers_of, bugs, caught, name, without_a_bug

from harness.mutate.seeded import SeededCheck

BUGS = bugs("spec")
MODELS = [one.check for one in BUGS if " with " in one.check]
"""The models that the manifest does not have in this form."""


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Answers:
    return answers_of("spec", request)


@pytest.mark.parametrize("bug", BUGS, ids=name)
def test_bug_is_caught(bug: SeededCheck, answers: Answers) -> None:
    assert bug.patch
    assert caught(answers[bug]), f"{bug.patch.path.name} survives {bug.check}: {bug.patch.bug}"


@pytest.mark.parametrize("bug", without_a_bug("spec", MODELS), ids=name)
def test_model_holds_without_a_bug(bug: SeededCheck, answers: Answers) -> None:
    assert caught(answers[bug]) == ""
