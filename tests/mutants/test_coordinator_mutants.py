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
def found(request: pytest.FixtureRequest) -> Answers:
    return answers_of("coordinator", request)


@pytest.mark.parametrize("asked", BUGS, ids=name)
def test_bug_is_caught(asked: SeededCheck, found: Answers) -> None:
    assert asked.patch
    assert caught(found[asked]), f"{asked.patch.path.name} survives {asked.check}: {asked.patch.bug}"


@pytest.mark.parametrize("asked", without_a_bug("coordinator", [*REPLAYS, " ".join(TESTS)]), ids=name)
def test_check_finds_nothing_without_a_bug(asked: SeededCheck, found: Answers) -> None:
    assert caught(found[asked]) == ""
