"""`make`: a stage is done again only where one of its inputs has changed, and the reason is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from test_manifest import FAILS, HOLDS, write
from walk_models import DATA

from harness import stages as module
from harness.engines.tlc_config import read_config
from harness.manifest import read_manifest
from harness.stage_list import GOALS, REPORT, RESULTS, SHOWN, SPEC, STATES, Stage, stages
from harness.stages import Inputs, Runner, main, read_state

ROOT = Path(__file__).parents[2]


def check(name: str, *models: str, needs: tuple[str, ...] = (), always: bool = False) -> Stage:
    """A stage that checks models, on which it depends; a stage that is always done depends on everything."""
    words = ("check", *models, "--manifest", "spec/manifest.json", "--memory", "512m")
    result = Path(f"build/results/{name}.json")
    return Stage(name, words, () if always else models, (SPEC,) if always else (), needs, always, result)


STAGES = [
    check("check", "Counter", always=True),
    check("generate-a", "Counter"),
    check("generate-b", "CounterFails"),
    check("replay", "Counter", needs=("generate-b",)),
    Stage(REPORT, ("check", "Counter", "--memory", "512m"), (), (SPEC,), ("check", "generate-a")),
]


@pytest.fixture(scope="module")
def done_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all stages were done; tests work on copies."""
    folder = tmp_path_factory.mktemp("done")
    copytree(DATA, folder / "spec")
    write(folder / "spec", HOLDS, FAILS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("APALACHE_HOME", str(folder))
        patch.setattr(module, "stages", lambda: STAGES)
        assert main([]) == 0
    return folder


@pytest.fixture
def built(here: Path, done_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which all stages were done."""
    copytree(done_once, here, dirs_exist_ok=True)
    monkeypatch.setattr(module, "stages", lambda: STAGES)
    return here


def plan() -> dict[str, str]:
    return Runner(Inputs(read_manifest(Path("spec/manifest.json"))), STAGES).plan(frozenset())


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_where_nothing_has_changed_nothing_runs_and_the_last_summary_is_shown(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert plan() == {}
    module.PAGE.write_text("page")
    monkeypatch.setattr(module.subprocess, "run", lambda *_: pytest.fail("something ran"))
    assert main([]) == 0
    output = capfd.readouterr().out
    assert re.match(r"Nothing has changed since \d{4}-\d\d-\d\d \d\d:\d\d: nothing was run\.", output)
    assert "0 ran now, 1 recorded on" in output, "the summary of then"


def test_after_an_edit_its_dependents_run_and_the_reason_is_printed(built: Path) -> None:
    change(built / "spec/Counter.tla", "NotAllFull ==", "NotAllFull == TRUE /\\")
    done = plan()
    assert list(done) == ["check", "generate-b", "replay", REPORT]
    assert done["generate-b"] == "CounterFails: definition NotAllFull changed"
    assert done["replay"] == "generate-b was done anew"
    assert done["check"] == "spec/Counter.tla changed"


def test_prose_costs_the_check_alone(built: Path) -> None:
    change(built / "spec/Counter.tla", "NotAllFull ==", "\\* Never both.\nNotAllFull ==")
    assert list(plan()) == ["check", REPORT]


def test_the_account_says_what_is_of_this_run_and_what_is_not(
    built: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change(built / "spec/Counter.tla", "NotAllFull ==", "NotAllFull == TRUE /\\")
    main([])
    output = capfd.readouterr().out
    assert re.search(r"stages: 3 done now; 1 unchanged since \d{4}-\S+ \S+ or later:\s+generate-a", output)
    assert "generate-b begins: CounterFails: definition NotAllFull changed" in output


def test_the_output_of_a_stage_follows_its_heading(built: Path, capfd: pytest.CaptureFixture[str]) -> None:
    change(built / "spec/Counter.tla", "NotAllFull ==", "NotAllFull == TRUE /\\")
    main([])
    output = capfd.readouterr().out
    assert re.search(r"^== check: [\d.]+ s \(1 of 3\)$", output, re.MULTILINE)
    blocks = re.findall(r"^== (\S+): [\d.]+ s \(\d of 3\)\n((?:   .*\n)*)", output, re.MULTILINE)
    given = dict(blocks)
    assert set(given) == {"check", "generate-b", "replay"}
    assert "CounterFails" in given["generate-b"] and "CounterFails" not in given["replay"]


def test_a_stage_that_failed_or_whose_result_is_gone_is_done_again(built: Path) -> None:
    path = STATES / "generate-a.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "exit_code": 3}))
    (RESULTS / "generate-b.json").unlink()
    done = plan()
    assert done["generate-a"] == "it failed (3)"
    assert done["generate-b"] == "build/results/generate-b.json is not there"
    assert done["check"] == "in every run"
    path.write_text("{")
    assert plan()["generate-a"] == "it was not done before"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"parts": [], "when": "", "seconds": 1, "exit_code": 0}', "[" * 100_000]
)
def test_a_damaged_state_is_none(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage is done again."""
    monkeypatch.chdir(tmp_path)
    STATES.mkdir(parents=True)
    (STATES / "generate-a.json").write_text(text)
    assert read_state(STAGES[1]) is None


@pytest.mark.parametrize(("dies", "code"), [("exit 1", 1), ("kill -9 $$", -9)])
def test_stages_of_a_process_that_dies_have_failed(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], dies: str, code: int
) -> None:
    """Stages on Spark share a process. None of them counts as done when it ends before them."""
    on_spark = [replace(stage, spark=stage.name.startswith("generate")) for stage in STAGES]
    monkeypatch.setattr(module, "stages", lambda: on_spark)
    program = built / "dies"
    program.write_text(f"#!/bin/sh\n{dies}\n")
    program.chmod(0o755)
    monkeypatch.setattr(module.sys, "executable", str(program))
    assert main(["generate"]) == abs(code)
    assert {plan()[name] for name in ("generate-a", "generate-b")} == {f"it failed ({code})"}
    assert capfd.readouterr().out.count(f", exit code {code} (") == 2


ADOPTS = """
import ctypes, runpy, sys
sys.argv[1:] = ["no such stage"]
try:
    runpy.run_module("harness.stages", run_name="__main__")
except SystemExit:
    ctypes.CDLL(None).prctl(37, ctypes.byref(adopts := ctypes.c_int()))
    print(adopts.value)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt what is left over")
def test_make_adopts_what_outlives_its_stage() -> None:
    """The time of Spark's Java counts then: two thirds of what a small stage on Spark takes."""
    done = subprocess.run([sys.executable, "-c", ADOPTS], stdout=subprocess.PIPE, text=True)
    assert done.stdout == "1\n"


def test_results_of_no_stage_are_removed(built: Path) -> None:
    (RESULTS / "replay-old.json").write_text("{}")
    (RESULTS / "measured-mock.json").write_text("{}")
    (RESULTS / "check.json").unlink()
    main([])
    left = {path.name for path in RESULTS.iterdir()}
    assert left >= {"check.json", "measured-mock.json"} and "replay-old.json" not in left


def test_every_run_shows_each_kind_of_group_liveness_and_models_that_must_fail() -> None:
    manifest = read_manifest(ROOT / "spec/manifest.json")
    shown = [manifest.entry(name) for name in SHOWN]
    for kind in ("Classic", "Cooperative", "Connect", "Client", "Migration", "Kafka", "Static"):
        assert any(kind in entry.name for entry in shown), kind
    assert any(entry.outcome == "violated" for entry in shown)
    live = [entry for entry in shown if entry.config and read_config(entry.config).names("PROPERTY")]
    assert {entry.outcome for entry in live} >= {"holds"}
    assert max(entry.seconds for entry in shown) <= 10


def test_stages_are_of_models_that_there_are_and_write_results_of_their_own() -> None:
    manifest = read_manifest(ROOT / "spec/manifest.json")
    every = stages(ROOT / "traces")
    names = [stage.name for stage in every]
    assert len(set(names)) == len(names)
    results = [stage.result for stage in every if stage.result]
    assert len(set(results)) == len(results)
    for position, stage in enumerate(every):
        assert set(stage.needs) <= set(names[:position])
        for model in stage.models:
            manifest.entry(model)
    assert set(GOALS) <= json.loads((ROOT / "spec/goals.json").read_text()).keys()
    dialects = {f"replay-{path.name}" for path in (ROOT / "traces/dialects").iterdir()}
    assert dialects <= set(names)
