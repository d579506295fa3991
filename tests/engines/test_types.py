"""Apalache accepts the types of every module of the specification. Minutes: a part of `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from harness.engines.apalache import Apalache
from harness.engines.base import EngineError, Limits, Model, Outcome
from harness.spechash import dependencies

SPEC = Path(__file__).parents[2] / "spec"
MODULES = sorted(SPEC.glob("*.tla"))


TLC_ALONE = {
    "MCInShort": "Apalache refuses an instance (Conversions) whose local names are variables outside of it",
    "MCMigrationAssignors": "Apalache takes no function for a sequence, as AsOffers makes one",
}
"""Roots that Apalache cannot read, with the reason. One that it can read fails here, and leaves the list."""


def roots() -> list[Path]:
    """The modules that no other one extends: with them all are read."""
    extended = {used for module in MODULES for used in dependencies(module) if used != module}
    return [module for module in MODULES if module not in extended]


def test_the_roots_read_every_module() -> None:
    assert {used for module in roots() for used in dependencies(module)} == set(MODULES)


def for_apalache(module: Path) -> ParameterSet:
    reason = TLC_ALONE.get(module.stem)
    marks = [pytest.mark.xfail(reason=reason, raises=EngineError, strict=True)] if reason else []
    return pytest.param(module, id=module.stem, marks=marks)


@pytest.mark.apalache
@pytest.mark.parametrize("module", [for_apalache(module) for module in roots()])
def test_apalache_accepts_the_types(module: Path, tmp_path: Path) -> None:
    model = Model(module.stem, module, None, {"command": "typecheck"})
    assert Apalache().check(model, tmp_path / "log", Limits("2g")).outcome is Outcome.HOLDS
