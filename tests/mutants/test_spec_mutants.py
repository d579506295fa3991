"""Every seeded bug of the specification is caught by its check, which finds nothing without the bug."""

from __future__ import annotations

import pytest
from seeded import Answers, answers_of, bugs, caught, name, without_a_bug

from harness.mutate.seeded import SeededCheck

BUGS = bugs("spec")
MODELS = [one.check for one in BUGS if " with " in one.check]
"""The models that the manifest does not have as they are here."""


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Answers:
    return answers_of("spec", request)


@pytest.mark.parametrize("asked", BUGS, ids=name)
def test_bug_is_caught(asked: SeededCheck, found: Answers) -> None:
    assert asked.patch
    assert caught(found[asked]), f"{asked.patch.path.name} survives {asked.check}: {asked.patch.bug}"


@pytest.mark.parametrize("asked", without_a_bug("spec", MODELS), ids=name)
def test_model_holds_without_a_bug(asked: SeededCheck, found: Answers) -> None:
    assert caught(found[asked]) == ""
