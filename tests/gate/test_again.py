"""Records in continuous integration: those that are computed anew, with git itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import HOLDS, MODEL_VIOLATED
from harness.gate.again import LONGEST, TURNS, Change, again, change_of
from harness.manifest import read_manifest
from harness.spechash import file_hash

ROOT = Path(__file__).parents[2]
COUNTER: dict[str, Any] = {
    **{"module": "Counter.tla", "config": "Counter.cfg", "engine": "tlc", "args": {"deadlock": False}},
    **{"purpose": "counts", "bounds": "to two", "expect": {"outcome": "holds"}},
    **{"distinct_states": 9, "depth": 5, "seconds": 1, "tier": "small"},
}
NAMES = [f"Model{number}" for number in range(23)]


def git(*words: str) -> str:
    named = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *named, *words], capture_output=True, text=True, check=True).stdout


def commit(message: str) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", message)


def write_manifest(*names: str, **others: Any) -> Path:
    path = Path("spec/manifest.json")
    path.write_text(json.dumps({"models": [{**COUNTER, "name": name, **others} for name in names]}))
    return path


def conform(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*words, "--memory", "512m"])
    return result.exit_code, result.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with records of two models, and a commit after them."""
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "spec")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONFORM_BASE", raising=False)
    (tmp_path / ".gitignore").write_text("build/\n")
    write_manifest("One", "Two")
    assert conform("check", "--record-evidence")[0] == HOLDS
    git("init", "-q", "-b", "trunk")
    commit("records")
    (tmp_path / "note").write_text("")
    commit("a note")
    return tmp_path


def test_every_record_has_its_turn_in_ten_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "spec")
    monkeypatch.chdir(tmp_path)
    manifest = read_manifest(write_manifest(*NAMES))
    turns = [again(manifest, "small", Change("x", frozenset(), 100 + n)).why for n in range(TURNS)]
    assert sorted(name for turn in turns for name in turn) == sorted(NAMES)
    assert max(map(len, turns)) == 3
    assert set(turns[3].values()) == {"its turn (3 of 10)"}


def test_records_of_a_change_are_computed_anew(here: Path) -> None:
    manifest = read_manifest(Path("spec/manifest.json"))
    assert change_of(here / "spec").altered == frozenset()
    path = here / "spec/evidence/One.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "recorded": "2020-01-01"}))
    change = change_of(here / "spec")
    assert change.altered == {path.resolve()}
    quiet = Change(change.base, change.altered, commits=5)  # nobody's turn
    assert again(manifest, "small", quiet).why == {}, "a date says nothing"
    path.write_text(json.dumps({**data, "facts": {**data["facts"], "depth": 6}}))
    assert again(manifest, "small", quiet).why == {"One": f"its record is new or other than at {change.base}"}
    commit("forged")
    (here / "note").write_text("more")
    commit("another note")
    assert change_of(here / "spec").altered == frozenset()
    git("branch", "main", "HEAD~2")  # what this branch was made from
    assert change_of(here / "spec").altered == {path.resolve()}


def test_a_new_record_is_computed_anew_before_it_is_committed(here: Path) -> None:
    write_manifest("One", "Two", "Three")
    for suffix in ("json", "log"):
        shutil.copy(here / f"spec/evidence/One.{suffix}", here / f"spec/evidence/Three.{suffix}")
    change = change_of(here / "spec")
    chosen = again(read_manifest(Path("spec/manifest.json")), "small", Change(change.base, change.altered, 5))
    assert list(chosen.why) == ["Three"]


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n{}\n=======\n", "[]", "[" * 100_000])
def test_a_text_that_is_no_record_is_another_record(here: Path, text: str) -> None:
    manifest, path = read_manifest(Path("spec/manifest.json")), here / "spec/evidence/One.json"
    before = path.read_text()
    path.write_text(text)
    change = change_of(here / "spec")
    assert list(again(manifest, "small", Change(change.base, change.altered, 5)).why) == ["One"]
    code, output = conform("gate", "--only", "evidence")
    assert code != HOLDS and "One" in output and "Traceback" not in output
    commit("a conflict")
    path.write_text(before)
    change = Change(git("rev-parse", "HEAD").strip(), frozenset([path.resolve()]), 5)
    assert list(again(manifest, "small", change).why) == ["One"]


def test_a_long_model_is_listed_instead(here: Path) -> None:
    path = write_manifest("One", "Two", seconds=LONGEST + 1, tier="soak")
    altered = frozenset(
        [(here / "spec/evidence/One.log").resolve(), (here / "spec/evidence/One.json").resolve()]
    )
    (here / "spec/evidence/One.log").write_text("")
    chosen = again(read_manifest(path), "small", Change("none", altered, 5))
    assert (chosen.why, chosen.listed) == ({}, ("One",))


def test_where_git_does_not_say_what_changed_no_record_is_taken(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = read_manifest(Path("spec/manifest.json"))
    monkeypatch.setenv("CONFORM_BASE", "no-such-commit")
    assert set(again(manifest, "small", change_of(here / "spec")).why) == {"One", "Two"}
    monkeypatch.delenv("CONFORM_BASE")
    git("clone", "-q", "--depth", "1", f"file://{here}", "shallow")
    assert change_of(here / "shallow/spec").altered is None
    shutil.rmtree(here / ".git")
    assert change_of(here / "spec").altered is None
    assert set(again(manifest, "small", change_of(here / "spec")).why) == {"One", "Two"}


def test_the_gate_catches_a_record_that_was_forged_as_a_whole(here: Path) -> None:
    """Facts, log and hash agree with each other, and with the expected ones: only a new computation can
    notice."""
    code, output = conform("gate", "--only", "check")
    assert code == HOLDS, output
    assert "models: 0 computed now, 2 recorded on 2" in output
    log, path = Path("spec/evidence/One.log"), Path("spec/evidence/One.json")
    log.write_text(log.read_text().replace(" 9 distinct states", " 10 distinct states"))
    data = json.loads(path.read_text())
    data["facts"]["distinct_states"] = 10
    path.write_text(json.dumps({**data, "log_sha256": file_hash(log)}))
    models = json.loads(Path("spec/manifest.json").read_text())["models"]
    Path("spec/manifest.json").write_text(
        json.dumps({"models": [{**models[0], "distinct_states": 10}, models[1]]})
    )
    shutil.rmtree("build")  # or the check would take this machine's own result
    assert conform("check")[0] == HOLDS
    code, output = conform("gate", "--only", "check")
    assert code == MODEL_VIOLATED
    assert "check One: FAILED (10)" in output and "recorded distinct_states expected 10, got 9" in output
    assert "models: 1 computed now, 1 recorded on 2" in output
