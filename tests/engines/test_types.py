"""Apalache accepts the types of every module of the specification. Minutes: a part of `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engines.apalache import Apalache
from harness.engines.base import Limits, Model, Outcome
from harness.spechash import dependencies

SPEC = Path(__file__).parents[2] / "spec"
MODULES = sorted(SPEC.glob("*.tla"))


def roots() -> list[Path]:
    """The modules that no other one extends: with them all are read."""
    extended = {used for module in MODULES for used in dependencies(module) if used != module}
    return [module for module in MODULES if module not in extended]


def test_the_roots_read_every_module() -> None:
    assert {used for module in roots() for used in dependencies(module)} == set(MODULES)


@pytest.mark.apalache
@pytest.mark.parametrize("module", roots(), ids=lambda module: module.stem)
def test_apalache_accepts_the_types(module: Path, tmp_path: Path) -> None:
    model = Model(module.stem, module, None, {"command": "typecheck"})
    assert Apalache().check(model, tmp_path / "log", Limits("2g")).outcome is Outcome.HOLDS
