"""A verdict on a mutant holds while the files on which it depends stay the same, and no longer."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from harness.manifest import read_manifest
from harness.mutate import coordinator, spec
from harness.mutate.journal import Basis, Journal, Needed
from harness.mutate.mutant import KILLED, SURVIVED, TIMED_OUT, Judged, Mutant, Verdict

ROOT = Path(__file__).parents[2]
MUTANT = Mutant("a.py", 1, "o", "a", "b", "b")
OTHER = Mutant("a.py", 1, "o", "a", "c", "c")
ASKED: Needed = {"replay": ["golden", "corpus"], "tests": ["test_a.py"]}
KILLED_BY_A_TRACE = Verdict(KILLED, "t1, step 3", ["golden/t1"])


class Kit:
    """A journal, and the things on which verdicts rest, with the version of each."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.jsonl"
        self.versions = dict.fromkeys(("golden", "golden/t1", "corpus", "test_a.py", "test_b.py"), "1")

    def journal(self) -> Journal:
        return Journal(self.path, Basis(self.path.parent, lambda name: [self.versions.get(name, "")]))

    def known(self, mutant: Mutant, request: Needed = ASKED) -> Judged | None:
        return self.journal().known(mutant, request)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)


def test_a_killed_mutant_stays_killed_while_its_check_is_unchanged(kit: Kit) -> None:
    kit.journal().add(MUTANT, KILLED_BY_A_TRACE, 1.0, ASKED)
    kit.path.write_text(kit.path.read_text() + '{"id": "cut o')
    kit.versions |= {"golden": "2", "corpus": "2", "test_a.py": "2"}
    assert kit.known(MUTANT) == Judged(MUTANT, KILLED, "t1, step 3", 1.0)
    assert kit.known(MUTANT, {}) is not None, "whatever is asked for"
    assert kit.known(OTHER) is None
    kit.versions["golden/t1"] = "2"
    assert kit.known(MUTANT) is None


def test_a_line_that_is_no_text_is_passed_over(kit: Kit) -> None:
    kit.journal().add(MUTANT, KILLED_BY_A_TRACE, 1.0, ASKED)
    kit.path.write_bytes(b"\xff\xfe\n" + kit.path.read_bytes() + b'{"id": "\xc3')
    assert kit.known(MUTANT) == Judged(MUTANT, KILLED, "t1, step 3", 1.0)


def test_surviving_mutants_are_judged_by_new_checks_alone(kit: Kit) -> None:
    kit.journal().add(MUTANT, Verdict(SURVIVED, "replay, tests"), 1.0, ASKED)
    known = kit.known(MUTANT)
    assert known and (known.outcome, known.by) == (SURVIVED, "replay, tests")
    kit.versions["corpus"] = "2"
    assert kit.known(MUTANT) is None
    assert kit.journal().left(MUTANT, ASKED) == ["replay"]
    more = {**ASKED, "other tests": ["test_b.py"]}
    assert kit.journal().left(MUTANT, more) == ["replay", "other tests"]
    kit.journal().add(MUTANT, Verdict(SURVIVED, "replay"), 1.0, {"replay": ASKED["replay"]})
    assert kit.known(MUTANT), "of two runs together"
    assert kit.journal().left(MUTANT, more) == ["other tests"]
    kit.journal().add(MUTANT, Verdict(KILLED, "test_b", ["test_b.py"]), 1.0, more)
    known = kit.known(MUTANT)
    assert known and known.outcome == KILLED


def test_a_counterexample_without_names_rests_on_all_models(kit: Kit) -> None:
    kit.journal().add(MUTANT, Verdict(TIMED_OUT, "no answer"), 1.0, ASKED)
    assert kit.known(MUTANT)
    kit.versions["test_a.py"] = "2"
    assert kit.known(MUTANT) is None


def test_rows_of_what_is_gone_and_of_an_older_kind_are_not_read(kit: Kit) -> None:
    kit.journal().add(MUTANT, KILLED_BY_A_TRACE, 1.0, ASKED)
    older = json.dumps({"id": OTHER.id, "state": "1", "outcome": "killed"})
    kit.path.write_text(f"{kit.path.read_text()}{older}\n[1]\n")
    assert kit.known(MUTANT) and kit.known(OTHER) is None


def test_no_file_is_no_basis(tmp_path: Path) -> None:
    (tmp_path / "t1.json").write_text("1")

    def basis() -> Basis:
        return Basis(tmp_path, lambda name: [tmp_path / name] if (tmp_path / name).exists() else [])

    before = basis().digest("t1.json")
    assert basis().holds("t1.json", before)
    (tmp_path / "t1.json").write_text("2")
    assert not basis().holds("t1.json", before)
    (tmp_path / "t1.json").unlink()
    assert basis().digest("t1.json") == "" and not basis().holds("t1.json", "")


MANIFEST = read_manifest(ROOT / "spec" / "manifest.json")


def names(reads: partial[list[Path | str]], name: str) -> set[str]:
    return {str(one.relative_to(ROOT)) for one in reads(name) if isinstance(one, Path)}


def test_files_that_judgements_of_the_coordinator_read() -> None:
    reads = partial(coordinator.reads, ROOT, MANIFEST)
    trace, test = "traces/golden/basic.itf.json", "tests/coordinator/test_survivors.py"
    always = names(reads, "pyproject.toml") - {"pyproject.toml"}
    assert {"coordinator/consumer/reconcile.py", "harness/replay/run.py"} <= always
    assert not any(name.startswith(("spec/", "traces/", "tests/")) for name in always)
    assert names(reads, trace) - always == {trace}
    assert {test, "tests/coordinator/group_driver.py"} <= names(reads, test)
    assert "tests/coordinator/test_target.py" not in names(reads, test)
    assert {"spec/MCTour.cfg", "spec/Coordinator.tla"} <= names(reads, "MCTour")
    assert "spec/MCOpen.cfg" not in names(reads, "MCTour")
    assert reads("MCGone") == [] == reads("traces/golden/gone.itf.json")


def test_files_that_judgements_of_the_specification_read() -> None:
    reads = partial(spec.reads, ROOT, MANIFEST)
    assert {"spec/MCRefused.tla", "spec/MCRefused.cfg", "spec/Coordinator.tla"} <= names(reads, "MCRefused")
    assert not any(name.startswith("coordinator/") for name in names(reads, "MCRefused"))
    figures = next(one for one in reads("MCRefused") if isinstance(one, str))
    assert "110" in figures, "the manifest's"
    scripts = names(reads, "traces/golden")
    assert {
        "spec/Golden.tla",
        *("harness/scenario/files.py", "harness/kinds/consumer/scenario/run.py"),
        "traces/golden/basic.yaml",
    } <= scripts
    assert "spec/MCTour.cfg" not in scripts
