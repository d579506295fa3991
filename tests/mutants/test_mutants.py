"""Every seeded bug is caught by the check that it names; without the bug the same check finds nothing.

What caught each goes to build/mutants.json, for the report, whenever all of them have run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.files import output_folder, write_text
from harness.mutants import FOLDER, REPLAY, Mutant, caught_by, read_mutant

ROOT = Path(__file__).parents[2]
TRACES = [ROOT / "traces" / "golden", ROOT / "traces" / "corpus"]
MUTANTS = [read_mutant(path) for path in sorted((ROOT / FOLDER).glob("*/*.patch"))]
TESTS = {mutant.check: None for mutant in MUTANTS if mutant.check.startswith("tests/")}
MODELS = {mutant.check: None for mutant in MUTANTS if " with " in mutant.check}
"""The models that the manifest does not have as they are here."""


def name(mutant: Mutant) -> str:
    return f"{mutant.target}/{mutant.path.stem}"


@pytest.fixture(scope="module")
def verdicts(request: pytest.FixtureRequest) -> Iterator[Mapping[Mutant, Future[str]]]:
    """What catches each mutant whose test was asked for, as many at a time as there are processors."""
    asked = {item.name for item in request.session.items}
    chosen = [mutant for mutant in MUTANTS if f"test_mutant_is_caught[{name(mutant)}]" in asked]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {
            mutant: pool.submit(caught_by, ROOT, TRACES, mutant.target, mutant.check, mutant)
            for mutant in chosen
        }
        yield futures
        pool.shutdown(cancel_futures=True)
    if chosen == MUTANTS and not any(future.cancelled() or future.exception() for future in futures.values()):
        write_report({mutant: future.result() for mutant, future in futures.items()})


def write_report(results: Mapping[Mutant, str]) -> None:
    rows = [
        {
            "mutant": mutant.path.name,
            "target": mutant.target,
            "bug": mutant.bug,
            "requirement": mutant.requirement,
            "real_bug": mutant.real_bug,
            "caught_by": caught or None,
            "survived": not caught,
        }
        for mutant, caught in results.items()
    ]
    write_text(output_folder(ROOT / "build") / "mutants.json", json.dumps(rows, indent=2) + "\n")


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_mutant_is_caught(mutant: Mutant, verdicts: Mapping[Mutant, Future[str]]) -> None:
    assert verdicts[mutant].result(), f"{mutant.path.name} survives {mutant.check}: {mutant.bug}"


def test_replay_finds_nothing_without_a_bug() -> None:
    assert caught_by(ROOT, TRACES, "coordinator", REPLAY, None) == ""


def test_tests_find_nothing_without_a_bug() -> None:
    assert caught_by(ROOT, TRACES, "coordinator", " ".join(TESTS), None) == ""


@pytest.mark.parametrize("check", MODELS)
def test_model_holds_without_a_bug(check: str) -> None:
    assert caught_by(ROOT, TRACES, "spec", check, None) == ""


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
