"""The requirements of a property, from the prose over its definition or over the operators in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.manifest import Entry, read_manifest
from harness.property_requirements import requirements_of

SPEC = Path(__file__).parents[2] / "spec"
BASE = """---- MODULE Base ----
\\* R7, R8: two at once.
\\* @type: (Int) => Bool;
Alone(x) ==
  /\\ x = 1
  /\\ Other(x)
\\* R1: not of Alone.
Other(x) == TRUE

\\* R2: not where a module has its own.
Shared == TRUE
===="""
MODULE = """---- MODULE Uses ----
EXTENDS Base
Named == [][Alone(1) /\\ Other(2)]_vars

\\* E4: its own alone.
Own == Alone(1)

Nothing == TRUE

\\* R3: the module's own.
Shared == FALSE
===="""


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("Own", ("E4",)),
        ("Named", ("R7", "R8", "R1")),
        ("Nothing", ()),
        ("Absent", ()),
        ("Alone", ("R7", "R8")),
        ("Shared", ("R3",)),
    ],
)
def test_the_prose_over_a_definition_counts_then_that_of_what_it_names(
    tmp_path: Path, name: str, ids: tuple[str, ...]
) -> None:
    (tmp_path / "Base.tla").write_text(BASE)
    (tmp_path / "Uses.tla").write_text(MODULE)
    assert requirements_of(name, tmp_path / "Uses.tla") == ids


def _must_fail() -> list[Entry]:
    entries = read_manifest(SPEC / "manifest.json").entries
    return [one for one in entries if one.property and one.engine == "tlc"]


@pytest.mark.parametrize("entry", _must_fail(), ids=lambda one: str(one.name))
def test_the_property_that_a_model_must_violate_names_a_requirement(entry: Entry) -> None:
    assert requirements_of(entry.property or "", entry.model().module)


def test_the_step_properties_of_the_closed_models_name_theirs() -> None:
    named = {name: requirements_of(name, SPEC / "MCSmall.tla") for name in ("NeverBoth", "NoDoubleHolding")}
    assert named == {"NeverBoth": ("R5",), "NoDoubleHolding": ("R7",)}
