"""Steps that need a feature which the target declares it lacks are left out, and counted by the feature."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from pipeline_runs import LIMITS, SPEC, TRACE, run

from harness.cli.exhaust import end_with
from harness.engines.base import Model
from harness.errors import ConformError
from harness.itf import read_trace
from harness.pipeline.exhaust import Exhausted
from harness.pipeline.judging import LEFT_OUT, PASS, Judge, check_target
from harness.pipeline.paths import _judged
from harness.pipeline.report import summary
from harness.pipeline.rows import StepRows
from harness.replay.features import FEATURES
from harness.replay.files import replay_files
from harness.transitions import dump

TRACES = SPEC.parent / "traces"
STATIC, REGEXES = "static members", "regular expressions"
JOINS = TRACES / "golden" / "bugs" / "KAFKA-20641.itf.json"
CHANGES = TRACES / "corpus" / "MCTopicIds-goal-0002-no-regular-expression-any-more.itf.json"
LACKING = [STATIC, REGEXES]
PROGRAM = SPEC.parent / "tests" / "replay" / "partial_target.py"
NO_LOAD = [
    "topics",
    "advance",
    "describe",
    "fire",
    "assign",
    "records",
    "restart",
    "ids",
    "configure",
    "fresh",
]


def target(without: list[str], admits: bool = False, **options: object) -> str:
    """The coordinator without some features, which hello names if it `admits` that."""
    given = json.dumps({"without": without, "admits": admits, **options})
    return f"stdio:{shlex.join([sys.executable, str(PROGRAM), given])}"


def judged(path: Path, name: str) -> list[tuple[str, str]]:
    """The verdicts of a trace's steps, and the features that they lack."""
    judge = Judge(name, "kip-848")
    try:
        rows = [row for row in StepRows({}).trace("t", read_trace(path), "t") if row["operation"]]
        results = [judge.judge({**row, "part": 0}) for row in rows]
        return [(one["verdict"], one["lacks"]) for one in results]
    finally:
        judge.close()


def test_a_target_that_cannot_load_gets_no_further_load_after_such_a_step() -> None:
    loads = judged(CHANGES, target(without=LACKING, admits=True))
    begins = loads.index((LEFT_OUT, REGEXES))
    assert set(loads) == {(PASS, ""), (LEFT_OUT, REGEXES)} and 0 < begins < len(loads)
    name = target(without=LACKING, admits=True, controls=NO_LOAD)
    assert judged(CHANGES, name) == loads[:begins] + [(LEFT_OUT, REGEXES)] * (len(loads) - begins)


def test_a_way_that_needs_a_feature_is_left_out_with_the_step_that_it_leads_to() -> None:
    judge, trace = (
        Judge(target(without=LACKING, admits=True, controls=NO_LOAD), "kip-848"),
        read_trace(CHANGES),
    )
    *_, last = StepRows({}).trace("t", trace, "t")
    try:
        verdict = _judged(judge, StepRows({}), trace, {**last, "part": 0, "not_loaded": []})
    finally:
        judge.close()
    assert (verdict["verdict"], verdict["lacks"], verdict["reached"]) == (LEFT_OUT, REGEXES, "")
    assert verdict["step"] == last["step"]


def test_nothing_is_claimed_where_all_was_left_out() -> None:
    result = Exhausted("T", "kip-848", left_out={STATIC: 3})
    with pytest.raises(ConformError, match=r"all steps need what the target T lacks \(static members\)"):
        end_with(result)


def test_an_unknown_feature_is_an_error_before_the_work() -> None:
    with pytest.raises(ConformError, match="lacks shoes, but there is no such feature"):
        check_target(target(without=["shoes"], admits=True), "kip-848")
    assert FEATURES.keys() >= set(LACKING)


def test_traces_hold_but_for_the_steps_that_were_left_out(tmp_path: Path) -> None:
    files = [TRACE, JOINS, CHANGES]
    ran = run(tmp_path / "out", target(without=LACKING, admits=True), files=files)
    result, verdicts = ran.result, Counter(row["lacks"] for row in ran.rows("verdicts", "traces"))
    assert result.left_out == {name: verdicts[name] for name in sorted(LACKING)} and result.holds
    assert (result.trace_steps, result.failed, result.not_judged) == (verdicts[""], 0, 0)
    every = sum(len(read_trace(file).states) - 1 for file in files)
    assert result.trace_steps + sum(result.left_out.values()) == every
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    for name, steps in result.left_out.items():
        assert f"left out, because the target lacks {name}: {steps} step" in sentence
    assert sum(row["tested"] for row in result.coverage if row["requirement"] == "H1") > 0
    end_with(result)
    # a target that does not declare that differs; a replay finds the same, and leaves out at least as many
    # steps
    assert run(tmp_path / "silent", target(without=LACKING), files=files).result.failed > 0
    replayed = replay_files(files, target(without=LACKING, admits=True))
    assert 0 < replayed.judged <= result.trace_steps


def static(folder: Path) -> Model:
    """A model of one member that may be a static one."""
    for path in SPEC.glob("*.tla"):
        shutil.copy(path, folder)
    (folder / "Static.tla").write_text('---- MODULE Static ----\nEXTENDS MCStaticTour\nOne == {"m1"}\n====\n')
    text = (SPEC / "MCStaticTour.cfg").read_text().replace("<- MCMemberIds", "<- One")
    text = text.replace("MaxEpoch = 2", "MaxEpoch = 1").replace("FailOver = TRUE", "FailOver = FALSE")
    (folder / "Static.cfg").write_text(text)
    return Model("Static", folder / "Static.tla", folder / "Static.cfg")


def test_a_state_graph_holds_but_for_static_members(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    dot = tmp_path / "static.dot"
    dump(static(tmp_path / "spec"), dot, limits=LIMITS, log=tmp_path / "dump.log")
    ran = run(tmp_path / "out", target(without=[STATIC], admits=True), files=[dot], page=True)
    result, steps = ran.result, ran.rows("steps", "graph")
    assert result.holds and result.left_out.keys() == {STATIC}
    needing = {row["step"] for row in steps if '"instanceId":"' in row["load"] + row["operation"]}
    assert 0 < len(needing) < len(steps)
    assert result.left_out[STATIC] == len(needing)
    assert result.transitions == len(steps) - len(needing)
    kept = [row for row in steps if row["step"] not in needing]
    assert result.states == len({row["source"] for row in kept})
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    assert f"left out, because the target lacks {STATIC}: {len(needing)} steps" in sentence
    assert "none left out" not in sentence and f"{result.steps} steps over {result.states}" in sentence
    page = (tmp_path / "out" / "graph.html").read_text()
    assert f"{len(needing)} transitions left out: the target lacks {STATIC}." in page
