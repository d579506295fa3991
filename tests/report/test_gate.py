"""`conform gate` as continuous integration uses it, with real engines on a small model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from results_folder import GOLDEN, ROOT, write, wrong_trace
from typer.testing import CliRunner, Result

from harness.cli.main import app
from harness.engines.base import Limits
from harness.errors import (
    ENGINE_FAILED,
    EVIDENCE_MISSING,
    HOLDS,
    MODEL_VIOLATED,
    NOT_CONFORMANT,
    USAGE,
)
from harness.gate import TRACE_FOLDERS, Done, Gate, Step, junit
from harness.manifest import read_manifest

COUNTER: Mapping[str, Any] = {
    "name": "Counter",
    "module": "Counter.tla",
    "engine": "tlc",
    "purpose": "counts",
    "bounds": "to two",
    "args": {"deadlock": False},
    "expect": {"outcome": "holds"},
    "distinct_states": 9,
    "depth": 5,
    "seconds": 1,
    "tier": "small",
}
FAILS = {
    **{name: value for name, value in COUNTER.items() if name not in ("distinct_states", "depth")},
    "name": "CounterFails",
    "config": "CounterFails.cfg",
    "expect": {"outcome": "violated", "property": "NotAllFull", "length": 4},
}
LATER = {**COUNTER, "name": "Later", "tier": "soak"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a small specification and one trace of the protocol in each folder."""
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "spec")
    for name in TRACE_FOLDERS:
        (tmp_path / "traces" / name).mkdir(parents=True)
        shutil.copy(GOLDEN, tmp_path / "traces" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def conform(*args: str) -> Result:
    return CliRunner().invoke(app, [*args, "--memory", "512m"])


def gate(*entries: Mapping[str, Any], args: tuple[str, ...] = ()) -> tuple[Result, dict[str, Any]]:
    write(Path("spec/manifest.json"), {"models": entries})
    result = conform("gate", *args)
    return result, json.loads(Path("build/gate/gate.json").read_text())


def test_everything_holds(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [LATER]})
    assert conform("check", "Later", "--record-evidence").exit_code == HOLDS
    result, data = gate(COUNTER, FAILS, LATER)
    assert result.exit_code == data["exit_code"] == HOLDS, result.output
    assert [(step["kind"], step["name"]) for step in data["steps"]] == [
        ("evidence", "Later"),
        *(("replay", name) for name in TRACE_FOLDERS),
        ("check", "Counter"),
        ("check", "CounterFails"),
    ]
    assert data["models"][0]["distinct_states"] == 9
    assert [(replay["source"], replay["differences"]) for replay in data["replays"]] == [
        (name, 0) for name in TRACE_FOLDERS
    ]
    assert data["evidence"][0]["evidence"]["status"] == "accepted"
    lines = result.output.splitlines()
    assert any(line.startswith("[1/6] evidence Later: ok") and "evidence accepted" in line for line in lines)
    assert any("12 steps on python, 0 differences" in line for line in lines)
    assert lines[-1] == "gate: everything holds"
    suite = ElementTree.parse("build/gate/gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "0", "0")


def test_the_worst_step_decides_and_the_others_are_done_all_the_same(here: Path) -> None:
    shutil.move(wrong_trace(here), here / "traces" / "corpus")
    result, data = gate({**COUNTER, "distinct_states": 8}, LATER)
    assert result.exit_code == data["exit_code"] == MODEL_VIOLATED
    assert [step["exit_code"] for step in data["steps"]] == [
        EVIDENCE_MISSING,
        HOLDS,
        HOLDS,
        NOT_CONFORMANT,
        MODEL_VIOLATED,
    ]
    assert "distinct_states expected 8, got 9" in result.output
    assert "response.memberEpoch" in result.output
    assert result.output.splitlines()[-1].endswith("(10): check Counter")
    cases = ElementTree.parse("build/gate/gate.xml").getroot().findall(".//testcase")
    failed = {case.get("name"): case[0].get("type") for case in cases if len(case)}
    assert failed == {"Later": "exit code 12", "corpus": "exit code 11", "Counter": "exit code 10"}


WAIVED = """[[waiver]]
signature = "Join/advance/NONE: response.memberEpoch"
reason = "issue 17"
expires = 2999-01-01
"""


def test_what_is_waived_is_counted_and_named(here: Path) -> None:
    shutil.move(wrong_trace(here), here / "traces" / "corpus")
    Path("waivers.toml").write_text(WAIVED)
    result, data = gate(COUNTER, args=("--waivers", "waivers.toml"))
    assert result.exit_code == data["exit_code"] == HOLDS, result.output
    waived = '"Join/advance/NONE: response.memberEpoch"'
    assert (
        result.output.splitlines()[-1] == f"gate: everything holds, except 1 differences waived by {waived}"
    )
    assert data["waived"] == [
        {"signature": waived.strip('"'), "reason": "issue 17", "expires": "2999-01-01", "differences": 1}
    ]
    assert [(replay["differences"], len(replay["waived"])) for replay in data["replays"]] == [
        (0, int(name == "corpus")) for name in TRACE_FOLDERS
    ]
    assert "waived until 2999-01-01, issue 17: 1 x Join/advance/NONE" in result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [(WAIVED, "covers nothing"), (WAIVED.replace("2999", "2020"), "expired on 2020-01-01: issue 17")],
)
def test_a_waiver_that_is_unused_or_expired_fails(here: Path, text: str, said: str) -> None:
    Path("waivers.toml").write_text(text)
    result, data = gate(COUNTER, args=("--waivers", "waivers.toml"))
    assert (result.exit_code, said in result.output) == (NOT_CONFORMANT, True)
    assert result.output.splitlines()[-1].endswith("(11): waivers accepted")
    assert {step["name"]: step["exit_code"] for step in data["steps"]}["accepted"] == NOT_CONFORMANT
    assert data["waived"] == []


def test_stale_evidence(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [LATER]})
    conform("check", "Later", "--record-evidence")
    module = here / "spec" / "CounterTypes.tla"
    module.write_text(module.read_text() + "\n\\* changed\n")
    result, data = gate(COUNTER, LATER)
    assert result.exit_code == EVIDENCE_MISSING
    assert "CounterTypes.tla has changed" in data["steps"][0]["message"]


def test_a_folder_of_traces_that_is_not_there(here: Path) -> None:
    shutil.rmtree(here / "traces" / "corpus")
    result, data = gate(COUNTER)
    assert result.exit_code == USAGE
    assert "traces/corpus" in result.output
    assert data["steps"][-1]["exit_code"] == HOLDS


def test_what_does_not_fit_into_the_time_has_failed(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [COUNTER]})
    manifest = read_manifest(Path("spec/manifest.json"))
    late = Gate(manifest, "small", here / "traces", "python", "kip-848", here, Limits("512m"), seconds=-1)
    done = [late.run(step, lambda line: None) for step in late.steps()]
    assert {one.exit_code for one in done} == {ENGINE_FAILED}
    assert all("minutes of the gate are over" in one.message for one in done)


def test_wrong_command_lines_leave_nothing(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [LATER]})
    for args, sentence in (
        (["--tier", "large"], "There is no tier 'large'"),
        (["--manifest", "no.json"], "no.json does not exist"),
        ([], "has no model of tier small"),
    ):
        result = conform("gate", *args)
        assert (result.exit_code, sentence in result.output) == (USAGE, True), result.output
    assert not Path("build/gate/gate.json").exists()


def test_junit_tells_failures_from_errors() -> None:
    steps = [
        Done(Step("check", "A"), HOLDS, "holds", 1.5, {}),
        Done(Step("check", "B<"), MODEL_VIOLATED, "wrong\nmore & more", 2.0, {}),
        Done(Step("replay", "C"), ENGINE_FAILED, "no target", 0.0, {}),
    ]
    root = ElementTree.fromstring(junit(steps).encode())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    a, b, c = root.findall(".//testcase")
    assert (a.get("classname"), a.get("time"), len(a)) == ("conform.check", "1.500", 0)
    assert (b.get("name"), b[0].tag, b[0].get("message"), b[0].text) == (
        "B<",
        "failure",
        "wrong",
        "wrong\nmore & more",
    )
    assert (c[0].tag, c[0].get("type")) == ("error", "exit code 3")
