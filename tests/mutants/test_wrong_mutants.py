"""What is wrong with a patch, a check or a header is named; the report has the mutants of both folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from seeded import ROOT, TRACES, mutants, report

from harness.errors import ConformError
from harness.mutants import REPLAY, Mutant, caught_by, read_mutant


def stale(folder: Path, check: str) -> Mutant:
    """A mutant whose patch is of a line that is not there."""
    patch = "--- a/coordinator/clock.py\n+++ b/coordinator/clock.py\n@@ -1 +1 @@\n-not there\n+there\n"
    return written(folder, f"Bug: none.\nRequirement: R1\nCheck: {check}\n\n{patch}")


def written(folder: Path, text: str) -> Mutant:
    path = folder / "coordinator" / "01-some.patch"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return read_mutant(path)


def test_patch_that_does_not_apply_says_so(tmp_path: Path) -> None:
    mutant = stale(tmp_path, REPLAY)
    sentence = r"01-some\.patch does not apply any more: make its patch anew for coordinator/ as it is now"
    with pytest.raises(ConformError, match=sentence):
        caught_by(ROOT, TRACES, mutant.target, mutant.check, mutant)


def test_test_that_is_not_there_is_not_taken_for_one_that_fails() -> None:
    test = "tests/coordinator/test_timers.py::test_no_such_thing"
    with pytest.raises(ConformError, match=f"The tests {test} could not be run"):
        caught_by(ROOT, TRACES, "coordinator", test, None)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("MCOpen with Budget = 1", "MCOpen.cfg of MCOpen does not say what Budget is"),
        ("MCNone with Budget = 1", "There is no model MCNone"),
        ("MCOpen at 2", "is not 'MODEL' or 'MODEL with CONSTANT = VALUE'"),
    ],
)
def test_model_that_is_not_there_is_named(check: str, sentence: str) -> None:
    with pytest.raises(ConformError, match=sentence):
        caught_by(ROOT, TRACES, "spec", check, None)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("Bug: none.\nCheck: replay", "no line 'Requirement: …'"),
        ("Bug: none.\nRequirement: R1\nCheck: replay\nRow: 3", "has the line 'Row'"),
        ("Bug: none.\nRequirement: R1\nReal bug: three\nCheck: replay", "must be the number of a row"),
        ("Bug: none.\nRequirement: R1\nCheck: replay", "has no patch of coordinator/"),
    ],
)
def test_wrong_header_is_named(tmp_path: Path, header: str, sentence: str) -> None:
    with pytest.raises(ConformError, match=sentence):
        written(tmp_path, f"{header}\n\nno patch\n")


def test_the_report_is_written_once_both_folders_have_run(tmp_path: Path) -> None:
    coordinator, spec = ({mutant: "a check" for mutant in mutants(name)} for name in ("coordinator", "spec"))
    few = dict(list(spec.items())[1:])
    for done in (("spec", few), ("coordinator", coordinator)):
        report(*done, tmp_path)
        assert not (tmp_path / "mutants.json").exists()
    report("spec", {**spec, next(iter(spec)): ""}, tmp_path)
    rows = json.loads((tmp_path / "mutants.json").read_text())
    assert [row["mutant"] for row in rows] == [mutant.path.name for mutant in (*coordinator, *spec)]
    assert [row["mutant"] for row in rows if row["survived"]] == [next(iter(spec)).path.name]
