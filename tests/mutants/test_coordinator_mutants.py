"""Every seeded bug of the coordinator is caught by its check, which finds nothing without the bug."""

from __future__ import annotations

import pytest
from seeded import Answers, answers_of, bugs, caught, name, without_a_bug

from harness.mutate.patches import REPLAY
from harness.mutate.seeded import SeededCheck

BUGS = bugs("coordinator")
REPLAYS = [one.check for one in BUGS if one.check.startswith(REPLAY)]
TESTS = dict.fromkeys(one.check for one in BUGS if one.check not in REPLAYS)


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Answers:
    return answers_of("coordinator", request)


@pytest.mark.parametrize("bug", BUGS, ids=name)
def test_bug_is_caught(bug: SeededCheck, answers: Answers) -> None:
    assert bug.patch
    assert caught(answers[bug]), f"{bug.patch.path.name} survives {bug.check}: {bug.patch.bug}"


@pytest.mark.parametrize("bug", without_a_bug("coordinator", [*REPLAYS, " ".join(TESTS)]), ids=name)
def test_check_finds_nothing_without_a_bug(bug: SeededCheck, answers: Answers) -> None:
    assert caught(answers[bug]) == ""
