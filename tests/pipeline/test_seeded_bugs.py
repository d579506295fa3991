"""The table of the bugs that `conform exhaust` finds: complete, and true where it is tried again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from pipeline_runs import MUTANT, ROOT, Ran
from seeded_bugs import Json, judged_without, mutants, number, row, table, verify

RESULT: Final = ROOT / "tests" / "mutants" / "exhaust.json"
FOUND: Final = ("05", "24", "34", "46")
NOT_FOUND: Final = ("50", "91", "110")
"""Only a refused append, a power cut, or a member shows these."""


def recorded() -> Json:
    """The result that `make soak` wrote."""
    result: Json = json.loads(RESULT.read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="module")
def places(tour: Ran) -> dict[str, Path]:
    """The steps of MCTour."""
    return {"MCTour": tour.place}


@pytest.fixture(scope="module")
def control(places: dict[str, Path]) -> dict[str, Json]:
    """The verdicts without a bug."""
    return judged_without(places)


def test_without_a_bug_every_step_holds(control: dict[str, Json], tour: Ran) -> None:
    assert control["MCTour"]["steps"] == tour.result.steps == recorded()["models"]["MCTour"]["steps"]
    assert (control["MCTour"]["differ"], control["MCTour"]["not_loaded"]) == (0, 0)


@pytest.mark.parametrize("name", [*FOUND, *NOT_FOUND])
def test_the_table_says_what_judging_finds(
    name: str, places: dict[str, Path], control: dict[str, Json]
) -> None:
    tried = row(mutants([name])[0], places, control)
    known: dict[str, Any] = next(one for one in recorded()["mutants"] if one["mutant"] == tried["mutant"])
    assert (tried["model"] == "MCTour") == (name in FOUND)
    if name in FOUND:
        assert tried == known
    else:
        assert known["model"] is None
        assert tried["judged"].items() <= known["judged"].items()
        assert tried["found_by"] == known["found_by"] != "exhaust"


def test_exhaust_finds_as_much_as_the_table_says(differing: Ran) -> None:
    failed = [one for one in differing.rows("verdicts", "graph") if one["verdict"] == "fail"]
    nearest = min(one["depth"] for one in failed)
    known = next(one for one in recorded()["mutants"] if one["mutant"] == MUTANT.name)["found"]
    assert known["after"] == nearest + 1
    assert known["differ"] == sum(one["depth"] == nearest for one in failed)


def test_every_mutant_has_its_row() -> None:
    rows = recorded()["mutants"]
    assert [one["mutant"] for one in rows] == [mutant.path.name for mutant in mutants()]
    assert all((one["found_by"] == "exhaust") == bool(one["model"] and one["found"]) for one in rows)
    assert {number(mutant) for mutant in mutants()} >= {*FOUND, *NOT_FOUND}


def test_the_page_is_of_the_result() -> None:
    page = RESULT.with_name("EXHAUST.md").read_text(encoding="utf-8")
    assert page == table(recorded())
    rows = recorded()["mutants"]
    assert f"{sum(one['model'] is not None for one in rows)} of {len(rows)} are found" in page


def test_evidence_counts_only_for_the_sources_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exhaust.json"
    assert verify(path) == 12
    result = recorded()
    result["mutants"][0]["patch_sha256"] = "other"
    path.write_text(json.dumps(result))
    capsys.readouterr()
    assert verify(path) == 12
    assert result["mutants"][0]["mutant"] in capsys.readouterr().out
