"""The table of the bugs that `conform exhaust` finds: complete, and true where it is tried again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from pipeline_runs import MUTANT, ROOT, Ran
from seeded_bugs import Json, judged_without, mutants, number, record, recorded, row, table, verify

from harness.errors import ConformError

RESULT: Final = ROOT / "tests" / "mutants" / "exhaust"
FOUND: Final = ("05", "24", "34", "46")
NOT_FOUND: Final = ("50", "91", "110")
"""Only a refused append, a power cut, or a member shows these."""


@pytest.fixture(scope="module")
def places(tour: Ran) -> dict[str, Path]:
    """The steps of MCTour."""
    return {"MCTour": tour.place}


@pytest.fixture(scope="module")
def control(places: dict[str, Path]) -> dict[str, Json]:
    """The verdicts without a bug."""
    return judged_without(places)


def test_without_a_bug_every_step_holds(control: dict[str, Json], tour: Ran) -> None:
    assert control["MCTour"]["steps"] == tour.result.steps == recorded(RESULT)["models"]["MCTour"]["steps"]
    assert (control["MCTour"]["differ"], control["MCTour"]["not_loaded"]) == (0, 0)


@pytest.mark.parametrize("name", [*FOUND, *NOT_FOUND])
def test_the_table_says_what_judging_finds(
    name: str, places: dict[str, Path], control: dict[str, Json]
) -> None:
    tried = row(mutants([name])[0], places, control)
    known: dict[str, Any] = next(
        one for one in recorded(RESULT)["mutants"] if one["mutant"] == tried["mutant"]
    )
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
    known = next(one for one in recorded(RESULT)["mutants"] if one["mutant"] == MUTANT.name)["found"]
    assert known["after"] == nearest + 1
    assert known["differ"] == sum(one["depth"] == nearest for one in failed)


def test_every_mutant_has_its_row() -> None:
    rows = recorded(RESULT)["mutants"]
    assert [one["mutant"] for one in rows] == [mutant.path.name for mutant in mutants()]
    assert all((one["found_by"] == "exhaust") == bool(one["model"] and one["found"]) for one in rows)
    assert {number(mutant) for mutant in mutants()} >= {*FOUND, *NOT_FOUND}


def test_the_page_is_of_the_result() -> None:
    page = RESULT.with_name("EXHAUST.md").read_text(encoding="utf-8")
    assert page == table(recorded(RESULT))
    rows = recorded(RESULT)["mutants"]
    assert f"{sum(one['model'] is not None for one in rows)} of {len(rows)} are found" in page


def test_evidence_counts_only_for_the_sources_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "exhaust"
    assert verify(folder) == 12
    shutil.copytree(RESULT, folder)
    one = recorded(folder)["mutants"][0]
    (folder / f"{Path(one['mutant']).stem}.json").write_text(json.dumps({**one, "patch_sha256": "other"}))
    capsys.readouterr()
    assert verify(folder) == 12
    assert one["mutant"] in capsys.readouterr().out


def test_the_row_of_one_bug_is_recorded_alone(tmp_path: Path) -> None:
    folder = tmp_path / "exhaust"
    shutil.copytree(RESULT, folder)
    result = recorded(folder)
    (folder / "999-gone.json").write_text("{}")
    changed = {**result["mutants"][0], "bug": "Another sentence."}
    record(folder, result["models"], [changed])
    assert recorded(folder) == {**result, "mutants": [changed, *result["mutants"][1:]]}
    assert "Another sentence" in folder.with_name("EXHAUST.md").read_text()
    before = {path: path.read_text() for path in folder.iterdir()}
    with pytest.raises(ConformError, match="record all bugs again"):
        record(folder, {**result["models"], "MCTour": {}}, [result["mutants"][0]])
    assert {path: path.read_text() for path in folder.iterdir()} == before
