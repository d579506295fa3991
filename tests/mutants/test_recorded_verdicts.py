"""Recorded verdicts of the specification's seeded bugs: a forged one does not count, or is noticed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from seeded import ROOT, bugs

from harness.errors import ConformError
from harness.evidence import Records
from harness.gate.again import Change
from harness.mutate.patches import copy_with
from harness.mutate.seeded import SeededCheck, recorded
from harness.mutate.seeded_spec import Verdicts, entry_of, failing, renamed, verdicts
from harness.spechash import file_hash

ASKED = next(one for one in bugs("spec") if one.patch and one.patch.path.name.startswith("60-"))
NAME = recorded(ASKED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the specification with the bug in it."""
    copy_with(ASKED.patch, ROOT, ASKED.target, tmp_path)
    return tmp_path


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """The committed record alone, in a folder of the test's own."""
    place = tmp_path / "records" / "evidence"
    place.mkdir(parents=True)
    for suffix in (".json", ".log"):
        shutil.copy(evidence_file_of(ASKED).with_suffix(suffix), place)
    return Records(place.parent)


def evidence_file_of(bug: SeededCheck) -> Path:
    return verdicts(ROOT, []).records.folder / "evidence" / f"{recorded(bug)}.json"


def judged(folder: Path, records: Records, anew: bool) -> str:
    known = Verdicts(records, frozenset({NAME} if anew else ()))
    return failing(ROOT, folder, ASKED.check, ASKED.patch.path if ASKED.patch else None, known)


def forged(records: Records, **facts: object) -> Path:
    path = records.folder / "evidence" / f"{NAME}.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "facts": {**data["facts"], **facts}}))
    return path


def test_a_record_is_taken_without_an_engine(
    folder: Path, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.mutate.seeded_spec._computed", None)
    assert "property" in judged(folder, records, anew=False)


def test_a_record_of_another_bug_does_not_count(tmp_path: Path, records: Records) -> None:
    copy_with(None, ROOT, ASKED.target, tmp_path)
    result = records.find(renamed(entry_of(tmp_path / "spec", ASKED.check), NAME))
    assert not result.counts and result.why.startswith("definition ")


def test_a_changed_figure_does_not_count(folder: Path, records: Records) -> None:
    forged(records, length=3)
    result = records.find(renamed(entry_of(folder / "spec", ASKED.check), NAME))
    assert not result.counts and "length is 3" in result.why


def test_facts_and_log_that_are_forged_together_are_rejected(folder: Path, records: Records) -> None:
    """Two names of properties are swapped in both: only a new computation can tell."""
    path = records.folder / "evidence" / f"{NAME}.json"
    log = path.with_suffix(".log")
    name = json.loads(path.read_text())["facts"]["property"]
    log.write_text(log.read_text().replace(name, "Forged"))
    forged(records, property="Forged")
    path.write_text(json.dumps({**json.loads(path.read_text()), "log_sha256": file_hash(log)}))
    assert "Forged" in judged(folder, records, anew=False)
    with pytest.raises(ConformError, match=r"says .*Forged.*, a new computation says"):
        judged(folder, records, anew=True)


def test_every_record_has_its_turn_within_ten_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"bug-{number}" for number in range(23)]
    change = verdicts_change()
    seen: set[str] = set()
    for commits in range(10):
        monkeypatch.setattr(
            "harness.mutate.seeded_spec.change_of",
            lambda folder, commits=commits: replace(change, commits=commits, altered=frozenset()),
        )
        turn = verdicts(ROOT, names).anew
        assert not turn & seen and 2 <= len(turn) <= 3
        seen |= turn
    assert seen == set(names)


def test_where_git_does_not_say_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    change = replace(verdicts_change(), altered=None)
    monkeypatch.setattr("harness.mutate.seeded_spec.change_of", lambda folder: change)
    assert verdicts(ROOT, ["a", "b"]).anew == {"a", "b"}


def verdicts_change() -> Change:
    return Change("base", frozenset(), 0)
