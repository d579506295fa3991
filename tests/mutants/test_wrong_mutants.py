"""A problem of a patch, a check or a header is named; the report has the mutants of both folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from seeded import ROOT, answers, report

from harness.errors import ConformError
from harness.mutate.patches import REPLAY, TARGETS, Patch, all_patches, read_patch
from harness.mutate.seeded import SeededCheck


def written(folder: Path, text: str) -> Patch:
    path = folder / "coordinator" / "01-some.patch"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return read_patch(path)


def problem(target: str, check: str, patch: Patch | None = None) -> str:
    bug = SeededCheck(target, check, patch)
    answer = answers([bug])[bug]
    assert not answer.caught
    return answer.problem


def test_patch_that_does_not_apply_says_so(tmp_path: Path) -> None:
    diff = (
        "--- a/coordinator/core/clock.py\n+++ b/coordinator/core/clock.py\n@@ -1 +1 @@\n-not there\n+there\n"
    )
    stale = written(tmp_path, f"Bug: none.\nRequirement: R1\nCheck: {REPLAY}\n\n{diff}")
    sentence = "01-some.patch does not apply any more: make it anew for coordinator/ as it is now"
    assert sentence in problem("coordinator", REPLAY, stale)


def test_coordinator_that_cannot_be_loaded_has_caught_nothing(tmp_path: Path) -> None:
    kept = "".join(f" {line}\n" for line in (ROOT / "coordinator/core/clock.py").read_text().splitlines()[:3])
    diff = f"--- a/coordinator/core/clock.py\n+++ b/coordinator/core/clock.py\n@@ -1,3 +1,4 @@\n+1 +\n{kept}"
    broken = written(tmp_path, f"Bug: none.\nRequirement: R1\nCheck: {REPLAY}\n\n{diff}")
    assert problem("coordinator", REPLAY, broken).startswith("SyntaxError")


def test_test_that_is_not_there_is_not_taken_for_one_that_fails() -> None:
    test = "tests/coordinator/test_timers.py::test_no_such_thing"
    assert f"The tests {test} could not be run" in problem("coordinator", test)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ("MCOpen with Budget = 1", "MCOpen.cfg of MCOpen does not say what Budget is"),
        ("MCNone with Budget = 1", "There is no model MCNone"),
        ("MCOpen at 2", "is not 'MODEL' or 'MODEL with CONSTANT = VALUE'"),
    ],
)
def test_model_that_is_not_there_is_named(check: str, sentence: str) -> None:
    assert sentence in problem("spec", check)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("Bug: none.\nCheck: replay", "no line 'Requirement: …'"),
        ("Bug: none.\nRequirement: R1\nCheck: replay\nRow: 3", "has the line 'Row'"),
        ("Bug: none.\nRequirement: R1\nReal bug: three\nCheck: replay", "must be the number of a row"),
        ("Bug: none.\nRequirement: R1\nCheck: replay", "does not change coordinator/"),
    ],
)
def test_wrong_header_is_named(tmp_path: Path, header: str, sentence: str) -> None:
    with pytest.raises(ConformError, match=sentence):
        written(tmp_path, f"{header}\n\nno patch\n")


def test_the_report_is_written_once_both_folders_have_run(tmp_path: Path) -> None:
    coordinator, spec = ({patch: "a check" for patch in all_patches(ROOT, name)} for name in TARGETS)
    few = dict(list(spec.items())[1:])
    for done in (("spec", few), ("coordinator", coordinator)):
        report(*done, tmp_path)
        assert not (tmp_path / "mutants.json").exists()
    report("spec", {**spec, next(iter(spec)): ""}, tmp_path)
    rows = json.loads((tmp_path / "mutants.json").read_text())
    assert [row["mutant"] for row in rows] == [patch.path.name for patch in (*coordinator, *spec)]
    assert [row["mutant"] for row in rows if row["survived"]] == [next(iter(spec)).path.name]
