"""Every seeded bug of the specification is caught by its check, which finds nothing without the bug."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from seeded import ROOT, TRACES, Verdicts, mutants, name, verdicts

from harness.mutants import Mutant, caught_by

MUTANTS = mutants("spec")
MODELS = {mutant.check: None for mutant in MUTANTS if " with " in mutant.check}
"""The models that the manifest does not have as they are here."""


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[Verdicts]:
    with verdicts("spec", {item.name for item in request.session.items}) as futures:
        yield futures


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_mutant_is_caught(mutant: Mutant, found: Verdicts) -> None:
    assert found[mutant].result(), f"{mutant.path.name} survives {mutant.check}: {mutant.bug}"


@pytest.mark.parametrize("check", MODELS)
def test_model_holds_without_a_bug(check: str) -> None:
    assert caught_by(ROOT, TRACES, "spec", check, None) == ""
