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


@pytest.mark.parametrize("request", BUGS, ids=name)
def test_bug_is_caught(request: SeededCheck, found: Answers) -> None:
    assert request.patch
    assert caught(found[request]), f"{request.patch.path.name} survives {request.check}: {request.patch.bug}"


@pytest.mark.parametrize("request", without_a_bug("coordinator", [*REPLAYS, " ".join(TESTS)]), ids=name)
def test_check_finds_nothing_without_a_bug(request: SeededCheck, found: Answers) -> None:
    assert caught(found[request]) == ""
