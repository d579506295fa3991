"""`conform gate` as continuous integration uses it, with real engines on a small model."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from frozendict import frozendict
from results_folder import GOLDEN, ROOT, write, wrong_trace
from typer.testing import CliRunner, Result

from coordinator.consumer import reconcile
from harness.cli.main import app
from harness.engines.base import Limits, silent
from harness.errors import (
    ENGINE_FAILED,
    EVIDENCE_MISSING,
    HOLDS,
    MODEL_VIOLATED,
    NOT_CONFORMANT,
    USAGE,
)
from harness.gate.output import code_quality, github_annotations, junit, markdown, to_json
from harness.gate.page import page
from harness.gate.run import Gate
from harness.gate.steps import Done, GateOptions, Outcome, Step, steps_of
from harness.itf import read_trace, write_trace
from harness.kinds.registry import KIND_FOLDERS, TRACE_FOLDERS
from harness.manifest import read_manifest
from harness.waivers import read_waivers

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
    result = conform("gate", "--seeds", "1", *args)
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
        ("simulate", "seed 848"),
    ]
    assert data["left_out"] == data["cut"] == []
    assert data["simulations"][0]["events"] > 1_000
    assert data["models"][0]["distinct_states"] == 9
    assert [(replay["source"], replay["differences"]) for replay in data["replays"]] == [
        (name, 0) for name in TRACE_FOLDERS
    ]
    assert data["evidence"][0]["evidence"]["status"] == "accepted"
    lines, steps = result.output.splitlines(), 4 + len(TRACE_FOLDERS)
    counted = "1 of 1 recorded result counts; each is in build/gate/gate.json"
    assert f"[1-1/{steps}] evidence: {counted}" in lines
    assert not any("evidence Later" in line for line in lines), "one that counts has no line"
    assert any("12 steps on python, 0 differences" in line for line in lines)
    assert lines[-1] == "gate: everything holds"
    suite = ElementTree.parse("build/gate/gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (str(steps), "0", "0")
    assert "Everything holds" in Path("build/gate/gate.html").read_text()


def test_the_worst_step_decides_and_the_others_are_done_all_the_same(here: Path) -> None:
    shutil.move(wrong_trace(here), here / "traces" / "corpus")
    result, data = gate({**COUNTER, "distinct_states": 8}, LATER)
    assert result.exit_code == data["exit_code"] == MODEL_VIOLATED
    assert [step["exit_code"] for step in data["steps"]] == [
        EVIDENCE_MISSING,
        *(NOT_CONFORMANT if name == "corpus" else HOLDS for name in TRACE_FOLDERS),
        MODEL_VIOLATED,
        HOLDS,
    ]
    assert "distinct_states expected 8, got 9" in result.output
    assert "response.memberEpoch" in result.output
    assert "causes, the most serious first:" in result.output
    assert "1. response.memberEpoch (" in result.output
    assert result.output.splitlines()[-1].endswith("(10): check Counter")
    cases = ElementTree.parse("build/gate/gate.xml").getroot().findall(".//testcase")
    failed = {case.get("name"): case[0].get("type") for case in cases if case[:1] and case[0].get("type")}
    assert failed == {"Later": "exit code 12", "corpus": "exit code 11", "Counter": "exit code 10"}


WAIVED = """[[waiver]]
signature = "Join/advance/NONE: response.memberEpoch"
reason = "issue 17"
expires = 2999-01-01
"""


def test_waived_differences_are_counted_and_named(here: Path) -> None:
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
    ("text", "message"),
    [(WAIVED, "covers nothing"), (WAIVED.replace("2999", "2020"), "expired on 2020-01-01: issue 17")],
)
def test_a_waiver_that_is_unused_or_expired_fails(here: Path, text: str, message: str) -> None:
    Path("waivers.toml").write_text(text)
    result, data = gate(COUNTER, args=("--waivers", "waivers.toml"))
    assert (result.exit_code, message in result.output) == (NOT_CONFORMANT, True)
    assert result.output.splitlines()[-1].endswith("(11): waivers accepted")
    assert {step["name"]: step["exit_code"] for step in data["steps"]}["accepted"] == NOT_CONFORMANT
    assert data["waived"] == []


def test_a_waiver_that_nearly_covers_a_difference_is_led_to_its_signature(here: Path) -> None:
    shutil.move(wrong_trace(here), here / "traces" / "corpus")
    Path("waivers.toml").write_text(WAIVED.replace("Epoch", "Epochs"))
    result, _ = gate(COUNTER, args=("--waivers", "waivers.toml"))
    assert "Did you mean Join/advance/NONE: response.memberEpoch?" in result.output


def test_stale_evidence(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [LATER]})
    conform("check", "Later", "--record-evidence")
    module = here / "spec" / "CounterTypes.tla"
    module.write_text(module.read_text().replace("EXTENDS Integers", "EXTENDS Naturals, Integers"))
    result, data = gate(COUNTER, LATER)
    assert result.exit_code == EVIDENCE_MISSING
    assert "CounterTypes.tla has changed" in data["steps"][0]["message"]
    [line] = [line for line in result.output.splitlines() if "] evidence Later: FAILED (12)" in line]
    assert "CounterTypes.tla has changed" in line
    assert "0 of 1 recorded result count; each is in" in result.output


def test_a_folder_of_traces_that_is_not_there(here: Path) -> None:
    shutil.rmtree(here / "traces" / "corpus")
    result, data = gate(COUNTER)
    assert result.exit_code == USAGE
    assert "traces/corpus" in result.output
    assert data["steps"][-1]["exit_code"] == HOLDS


def test_work_that_exceeds_its_time_has_failed(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [COUNTER]})
    manifest = read_manifest(Path("spec/manifest.json"))
    late = Gate(GateOptions(manifest, here / "traces", here, seconds=-1, limits=Limits("512m")))
    done = [late.run(step, silent) for step in late.steps()]
    assert {one.exit_code for one in done if one.outcome is Outcome.DONE} == {ENGINE_FAILED}
    assert all("minutes of the gate are over" in one.message for one in done if one.failed)


STDIO = f"stdio:{sys.executable} -m coordinator --stdio"


def seeds(here: Path, **request: Any) -> GateOptions:
    """Nothing but random schedules, on a coordinator in a process of its own."""
    write(Path("spec/manifest.json"), {"models": [COUNTER]})
    manifest = read_manifest(Path("spec/manifest.json"))
    more = {"seconds": 100.0, "target": STDIO, "kinds": frozenset({"simulate"}), "seeds": 3, **request}
    return GateOptions(manifest, here / "traces", here, **more)


def test_random_work_ends_with_the_time_and_the_output_says_so(here: Path) -> None:
    request = seeds(here)
    clock = iter([0.0, 0.0, 0.0, *[1.0] * 1_000, 99.0, *[101.0] * 1_000])
    gate = Gate(request, now=lambda: next(clock))
    done = [gate.run(step, silent) for step in gate.steps() if not step.left_out]
    assert [one.outcome for one in done] == [Outcome.DONE, Outcome.CUT, Outcome.CUT]
    data = to_json(request, done)
    assert data["exit_code"] == HOLDS
    assert data["cut"] == [f"simulate seed {n}: the 1.66667 minutes of the gate are over" for n in (849, 850)]
    cases = ElementTree.fromstring(junit(done).encode()).findall(".//testcase")
    assert [case[0].tag if len(case) else "" for case in cases] == ["", "skipped", "skipped"]
    (warning,) = github_annotations(done, here)
    assert warning.startswith("::warning title=conform gate%3A random work was cut::simulate seed 849")


def test_a_gate_that_does_nothing_has_failed(here: Path) -> None:
    request = seeds(here, seconds=-1)
    gate = Gate(request)
    done = [gate.run(step, silent) for step in gate.steps()]
    assert {one.outcome for one in done} == {Outcome.CUT, Outcome.LEFT_OUT}
    assert to_json(request, done)["exit_code"] == ENGINE_FAILED
    result = gate_only("evidence")
    assert (result.exit_code, "There is nothing to do" in result.output) == (USAGE, True)


def gate_only(kinds: str) -> Result:
    write(Path("spec/manifest.json"), {"models": [COUNTER]})
    return conform("gate", "--only", kinds)


def test_random_schedules_find_a_coordinator_that_departs(here: Path) -> None:
    """The coordinator's name is of one dialect, and it speaks another: a fenced member stays in the group."""
    program = here / "departs.py"
    program.write_text(DEPARTS)
    request = seeds(here, target=f"stdio:{sys.executable} {program}", seeds=1)
    gate = Gate(request)
    (done,) = (gate.run(step, silent) for step in gate.steps() if not step.left_out)
    assert done.exit_code == NOT_CONFORMANT
    assert "FENCED_MEMBER_EPOCH" in done.message and "again: conform compare" in done.message
    assert list((here / "simulate").glob("*.json"))


DEPARTS = """
import sys
from coordinator import Coordinator
from coordinator.core.dialect import Dialect
from coordinator.stdio import serve

for answer in serve(Coordinator(dialect=Dialect(FencedMemberIsRemoved=False)), sys.stdin):
    print(answer, flush=True)
"""


def test_whole_groups_around_a_coordinator_with_a_bug_violate_an_invariant(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator gives a member partitions that others hold (R7)."""
    monkeypatch.setattr(reconcile, "held_by_others", lambda *_: frozenset())
    gate = Gate(seeds(here, target="python", seeds=1))
    (done,) = (gate.run(step, silent) for step in gate.steps() if not step.left_out)
    assert done.exit_code == NOT_CONFORMANT
    assert "R7 HeldDisjoint" in done.message and "again: conform simulate --replay" in done.message
    (schedule,) = (here / "simulate").glob("R7-*.json")
    assert done.details["violations"][0]["schedule"] == str(schedule)


def test_random_behaviours_of_a_model_are_replayed(here: Path) -> None:
    manifest = read_manifest(ROOT / "spec" / "manifest.json")
    kinds = frozenset({"random"})
    request = GateOptions(
        manifest, here / "traces", here, 600, limits=Limits("512m"), kinds=kinds, seeds=1, seed=7
    )
    gate = Gate(request)
    (done,) = (gate.run(step, silent) for step in gate.steps() if not step.left_out)
    assert (done.step.name, done.exit_code) == ("MCSimulate seed 7", HOLDS), done.message
    assert done.details["traces"] == len(list((here / "random" / "MCSimulate-7").glob("*.itf.json"))) == 20
    assert done.details["target_steps"] > 300


def test_a_target_that_cannot_take_schedules_is_left_out_of_them(here: Path) -> None:
    program = here / "lacks.py"
    program.write_text(DEPARTS.replace("print(answer", "print(answer.replace('\"assign\",', '')"))
    gate = Gate(seeds(here, target=f"stdio:{sys.executable} {program}", seeds=1))
    (done,) = (gate.run(step, silent) for step in gate.steps() if not step.left_out)
    assert (done.outcome, done.exit_code) == (Outcome.LEFT_OUT, HOLDS)
    assert "has no assign" in done.message


def test_traces_of_the_text_are_not_for_a_target_of_another_dialect(here: Path) -> None:
    shutil.copytree(ROOT / "traces/dialects/kafka-4.2", here / "traces/dialects/kafka-4.2")
    result, data = gate(COUNTER, args=("--dialect", "kafka-4.2", "--only", "replay"))
    assert result.exit_code == HOLDS, result.output
    replays = [(step["name"], step["outcome"]) for step in data["steps"] if step["kind"] == "replay"]
    assert replays == [("dialects/kafka-4.2", "done"), (", ".join(TRACE_FOLDERS), "left out")]


def test_traces_of_what_kafka_alone_does_are_for_kafka_alone(here: Path) -> None:
    """The Python coordinator migrates groups as the text says, whatever its dialect."""
    name = "kafka/kafka-4.2"
    shutil.copytree(ROOT / "traces" / name, here / "traces" / name)
    for target, judged in (("kafka:4.2.1", True), ("python", False)):
        request = seeds(here, target=target, dialect="kafka-4.2", kinds=frozenset({"replay"}))
        (step,) = [step for step in steps_of(request) if step.name == name]
        assert (not step.left_out) == judged


@pytest.mark.parametrize("folder", KIND_FOLDERS)
def test_traces_of_every_kind_are_replayed_and_a_broken_one_fails(here: Path, folder: str) -> None:
    traces = [read_trace(file) for file in sorted((ROOT / "traces" / folder).glob("*.itf.json"))]
    trace, at = next(
        (trace, at)
        for trace in traces
        for at, state in enumerate(cast(Any, trace.states))
        if state["step"]["response"]["error"] == "NONE"
        and state["step"]["action"] in ("Join", "JoinGroup", "ShareJoin")
    )
    state: Any = trace.states[at]
    given = state["step"]["response"]
    wrong = given.set("generation" if "generation" in given else "epoch", 77)
    trace.states[at] = frozendict({**state, "step": state["step"].set("response", wrong)})
    write_trace(here / "traces" / folder / "broken.itf.json", trace)
    result, data = gate(COUNTER, args=("--only", "replay"))
    assert result.exit_code == NOT_CONFORMANT, result.output
    assert [step["name"] for step in data["steps"] if step["exit_code"]] == [folder]
    assert f"traces/{folder}/broken.itf.json, step {at}" in result.output


def test_kinds_of_groups_that_a_target_does_not_have_are_counted_and_left_out(here: Path) -> None:
    for name in KIND_FOLDERS:
        shutil.rmtree(here / "traces" / name)
        shutil.copytree(ROOT / "traces" / name, here / "traces" / name)
    program = here / "lacks.py"
    lacks = "".join(
        f".replace('\"{api}\":', '\"No{api}\":')" for api in ("JoinGroup", "ConnectGroupHeartbeat")
    )
    program.write_text(DEPARTS.replace("print(answer", f"print(answer{lacks}").replace("False", "True"))
    target = f"stdio:{sys.executable} {program}"
    result, data = gate(COUNTER, args=("--only", "replay", "--target", target))
    assert result.exit_code == HOLDS, result.output
    steps = {step["name"]: step for step in data["steps"] if step["kind"] == "replay"}
    done = {name for name, step in steps.items() if step["outcome"] == "done"}
    assert done == {*TRACE_FOLDERS} - {"classic", "cooperative", "connect", "migration"}
    assert (
        steps["connect"]["message"]
        == "skipped, needs ConnectGroupHeartbeat: 210 steps at the end of 53 traces"
    )
    assert any(line.startswith("replay classic: skipped, needs JoinGroup: ") for line in data["left_out"])


def test_wrong_command_lines_leave_nothing(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [LATER]})
    for args, sentence in (
        (["--tier", "large"], "There is no tier 'large'"),
        (["--manifest", "no.json"], "no.json does not exist"),
        (["--only", "replay,everything"], "there is no kind 'everything'"),
        ([], "has no model of tier small"),
    ):
        result = conform("gate", *args)
        assert (result.exit_code, sentence in result.output) == (USAGE, True), result.output
    assert not Path("build/gate/gate.json").exists()


def test_junit_tells_failures_from_errors() -> None:
    steps = [
        Done(Step("check", "A"), HOLDS, "holds", 1.5, {}),
        Done(Step("check", "B<"), MODEL_VIOLATED, "wrong\nmore & more", 2.0, {}),
        Done(Step("replay", "C"), ENGINE_FAILED, "no \x1b[31mtarget\x00 \ud800", 0.0, {}),
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
    assert c[0].text == "no \ufffd[31mtarget\ufffd \ufffd"


def failed_replay(here: Path) -> Done:
    message = "1 traces, 1% differ\ntraces/corpus/a.itf.json, step 1: <Join>"
    return Done(Step("replay", "corpus"), NOT_CONFORMANT, message, 1, {}, place=here / "traces/a.itf.json")


def test_failures_are_annotations_beside_their_files(here: Path) -> None:
    failed = failed_replay(here)
    (line,) = github_annotations([failed], here)
    assert line == (
        "::error file=traces/a.itf.json,line=1,title=replay corpus::"
        "1 traces, 1%25 differ%0Atraces/corpus/a.itf.json, step 1: <Join>"
    )
    (elsewhere,) = github_annotations([failed], here / "spec")
    assert elsewhere.startswith("::error title=replay corpus::")
    (result,) = json.loads(code_quality([failed], here))
    assert (result["location"], result["severity"]) == (
        {"path": "traces/a.itf.json", "lines": {"begin": 1}},
        "major",
    )


def test_on_github_the_job_has_a_summary_and_annotations(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(here))
    shutil.move(wrong_trace(here), here / "traces" / "corpus")
    result, _ = gate(COUNTER, args=("--only", "replay", "--code-quality", "quality.json"))
    assert result.exit_code == NOT_CONFORMANT
    assert "::error file=traces/corpus/wrong.itf.json,line=1,title=replay corpus::" in result.output
    summary = (here / "summary.md").read_text()
    assert summary.startswith("## conform gate: an implementation does not conform (11): replay corpus")
    assert "| replay corpus | **failed (11)** |" in summary
    assert json.loads(Path("quality.json").read_text())[0]["check_name"] == "conform.replay"


def test_the_page_says_what_failed_was_cut_left_out_and_waived(here: Path) -> None:
    write(Path("spec/manifest.json"), {"models": [COUNTER]})
    Path("waivers.toml").write_text(WAIVED)
    waivers = read_waivers(Path("waivers.toml"), date(2026, 1, 1))
    assert waivers.covers("Join/advance/NONE: response.memberEpoch")
    request = GateOptions(read_manifest(Path("spec/manifest.json")), here, here, 60, waivers=waivers)
    done = [
        failed_replay(here),
        Done(Step("evidence", "Proof"), HOLDS, "holds, evidence accepted", 0, {}),
        Done(Step("simulate", "seed 1"), HOLDS, "the time is over", 0, {}, Outcome.CUT),
        Done(Step("check", "A"), HOLDS, "not asked for", 0, {}, Outcome.LEFT_OUT),
    ]
    text = page(request, done)
    assert [text.count(f'<section id="{name}"') for name in SECTIONS] == [1] * len(SECTIONS)
    assert "step 1: &lt;Join&gt;" in text and "issue 17" in text
    assert "An implementation does not conform (11): replay corpus" in text
    assert "| simulate seed 1 | cut |" in markdown(request, done)
    assert "http" not in text


SECTIONS = ("verdict", "failures", "waived", "cut", "left-out", "steps", "accepted")
