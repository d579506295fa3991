"""Every seeded bug of the coordinator is caught by its check, which finds nothing without the bug."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from seeded import ROOT, TRACES, Verdicts, mutants, name, verdicts

from harness.mutants import REPLAY, Mutant, caught_by

MUTANTS = mutants("coordinator")
REPLAYS = {mutant.check: None for mutant in MUTANTS if mutant.check.startswith(REPLAY)}
TESTS = {mutant.check: None for mutant in MUTANTS if mutant.check.startswith("tests/")}


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[Verdicts]:
    with verdicts("coordinator", {item.name for item in request.session.items}) as futures:
        yield futures


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_mutant_is_caught(mutant: Mutant, found: Verdicts) -> None:
    assert found[mutant].result(), f"{mutant.path.name} survives {mutant.check}: {mutant.bug}"


@pytest.mark.parametrize("check", REPLAYS)
def test_replay_finds_nothing_without_a_bug(check: str) -> None:
    assert caught_by(ROOT, TRACES, "coordinator", check, None) == ""


def test_tests_find_nothing_without_a_bug() -> None:
    assert caught_by(ROOT, TRACES, "coordinator", " ".join(TESTS), None) == ""
