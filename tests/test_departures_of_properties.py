"""docs/dialects.md gives the rule that holds instead where a departure loosens a property, and a model checks
that rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.modules import strip_comments

ROOT = Path(__file__).parents[1]
SPEC = ROOT / "spec"
PAGE = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Properties under a departure")[1].split("## Departures")[0]
ROWS = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", SECTION, re.MULTILINE)


def test_each_departure_has_a_row() -> None:
    text = strip_comments((SPEC / "GroupProperties.tla").read_text(encoding="utf-8"))
    assert {row[0] for row in ROWS} == set(re.findall(r"\bDialect\.(\w+)", text))


@pytest.mark.parametrize(("departure", "less", "instead"), ROWS, ids=[row[0] for row in ROWS])
def test_a_model_checks_what_holds_instead(departure: str, less: str, instead: str) -> None:
    checked, model = re.findall(r"`(\w+)` in `(\w+)`", instead)[-1]
    properties = (SPEC / f"{model}.cfg").read_text(encoding="utf-8").split("INVARIANTS")[1].split()
    assert checked in properties
    wrong = {name for name in re.findall(r"`(\w+)`", less) if not _is_defined(name)}
    assert not wrong, f"{departure} names {wrong}"


def _is_defined(name: str) -> bool:
    return (
        re.search(rf"^{name} ==", (SPEC / "MCOpen.tla").read_text(encoding="utf-8"), re.MULTILINE) is not None
    )
