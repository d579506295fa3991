"""Targets that cannot load states, load some badly, die of an input, or become another program."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pipeline_runs import GOLDEN, LIMITS, TRACE, Ran, faulty, one_member, operation, run

from harness.cli.exhaust import end_with
from harness.errors import ENGINE_FAILED, ConformError
from harness.itf import read_trace
from harness.pipeline.judging import Judge, judge_of, judging
from harness.pipeline.paths import _judged
from harness.pipeline.report import summary
from harness.pipeline.rows import StepRows
from harness.pipeline.store import Store
from harness.pipeline.tables import STEPS
from harness.pipeline.verdicts import begun, finished
from harness.pipeline.version import package_key, target_key
from harness.transitions import dump


def reached(ran: Ran) -> Counter[tuple[str, str]]:
    """The numbers of steps by the way in which they were reached, and by verdict."""
    by_path = {row["step"]: row for row in ran.rows("verdicts", "paths")}
    verdicts = [by_path.get(row["step"], row) for row in ran.rows("verdicts", "graph")]
    assert len(by_path.keys() - {row["step"] for row in verdicts}) == 0
    return Counter((row["reached"], row["verdict"]) for row in verdicts)


def test_without_load_every_state_is_reached_by_its_shortest_path(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    dot = tmp_path / "one.dot"
    dump(one_member(tmp_path / "spec"), dot, limits=LIMITS, log=tmp_path / "dump.log")
    ran = run(tmp_path / "out", faulty("no-load"), files=[dot])
    steps = ran.rows("steps", "graph")
    new = sum(not json.loads(row["load"])["records"] for row in steps)  # as a coordinator begins
    assert reached(ran) == {("load", "pass"): new, ("path", "pass"): len(steps) - new}
    assert ran.result.loads.keys() == {"refused"}
    refused = ran.result.loads["refused"]
    assert [one["path"] for one in refused["differences"]] == ["operation load"]
    assert refused["states"] == len({row["source"] for row in steps if json.loads(row["load"])["records"]})
    assert 0 < new < len(steps) / 2
    assert max(row["depth"] for row in steps) > 1
    assert (ran.result.steps, ran.result.by_path) == (len(steps), len(steps) - new)
    assert ran.result.holds


def test_states_that_a_load_loses_are_detected_and_reached_by_path(dot: Path, tmp_path: Path) -> None:
    ran = run(tmp_path / "out", faulty("lossy"), files=[dot])
    badly = {
        row["step"]
        for row in ran.rows("steps", "graph")
        if any("m2" in group["members"] for group in json.loads(row["load"])["volatile"]["groups"].values())
    }
    assert 0 < len(badly) < 748
    assert reached(ran) == {("load", "pass"): 748 - len(badly), ("path", "pass"): len(badly)}
    assert {row["step"] for row in ran.rows("verdicts", "paths")} == badly
    assert (ran.result.by_path, ran.result.failed, ran.result.not_judged) == (len(badly), 0, 0)
    wrong = ran.result.loads["wrong"]
    sources = {row["source"] for row in ran.rows("steps", "graph") if row["step"] in badly}
    assert (wrong["states"], wrong["depth"]) == (len(sources), 1)
    [one] = wrong["differences"]
    assert one["path"].startswith("group.") and int(one["got"]) == int(one["expected"]) + 1
    sentence = " ".join(" ".join(summary(ran.result, None, "out")).split())
    first = f"{one['path']} is {one['got']} instead of {one['expected']}"
    assert f"did not load {len(sources)} states; the first is 1 step from the start: {first}" in sentence
    assert not ran.result.holds and "none left out" not in sentence
    with pytest.raises(ConformError, match=f"loads states wrongly, {len(sources)} of them") as ended:
        end_with(ran.result)
    assert ended.value.exit_code == ENGINE_FAILED
    by_path = {row["step"]: row["not_loaded"] for row in ran.rows("verdicts", "paths")}
    assert all(entry[0]["path"] == one["path"] for entry in by_path.values())
    # a target that loads them needs none of these, and the other one all of them again
    loads = run(tmp_path / "out", files=[dot])
    assert (loads.units(), loads.result.by_path) == (["verdicts/graph"], 0)
    assert loads.result.holds and not loads.result.loads
    assert loads.result.digests["verdicts"] != ran.result.digests["verdicts"]
    again = run(tmp_path / "out", faulty("lossy"), files=[dot])
    assert again.units() == ["verdicts/graph", "verdicts/paths"]
    assert again.result.digests == ran.result.digests


def test_the_first_step_that_is_not_judged_has_its_reason(dot: Path, tmp_path: Path) -> None:
    """States with m2 are loaded wrongly, and each path to one differs at a join."""
    ran = run(tmp_path / "out", faulty("lossy-wrong"), files=[dot])
    missing = [row for row in ran.rows("verdicts", "paths") if row["verdict"] == "not judged"]
    assert 0 < ran.result.not_judged == len(missing)
    assert all(row["ended"] and row["differences"] for row in missing)
    nearest = min(missing, key=lambda row: (row["depth"], row["step"]))
    first = ran.result.first_not_judged
    assert first is not None and first["step"] == nearest["step"] and first["ended"] == nearest["ended"]
    sentence = " ".join(" ".join(summary(ran.result, None, "out")).split())
    assert f"{len(missing)} steps could not be judged: their states were not reached the first is" in sentence
    result = first["differences"][0]
    assert (
        f"{first['ended']}: {result['path']} is {result['got']} instead of {result['expected']}" in sentence
    )
    assert result["path"] == "group.groupEpoch"


def test_a_target_that_dies_of_an_input_does_not_differ_and_the_rest_is_judged(
    dot: Path, tmp_path: Path
) -> None:
    """As in a replay the exit code is 3: perhaps the machine is to blame. No later run takes the verdicts."""
    ran = run(tmp_path / "out", faulty("dies"), files=[dot])
    deadly = {
        row["step"]
        for row in ran.rows("steps", "graph")
        if operation(row).get("body", {}).get("memberEpoch") == -1
    }
    verdicts = ran.rows("verdicts", "graph")
    failed = {row["step"]: row["differences"] for row in verdicts if row["verdict"] == "target failed"}
    assert 10 < len(deadly) < 748
    assert failed.keys() == deadly
    for entry in failed.values():
        assert [(one["path"], one["expected"]) for one in entry] == [("target", '"an answer"')]
        assert "exit code 1" in entry[0]["got"] and "this was too much" in entry[0]["got"]
    counts = Counter(row["verdict"] for row in verdicts)
    assert counts == {"target failed": len(deadly), "pass": 748 - len(deadly)}
    result = ran.result
    assert (result.failed, result.not_judged, result.target_failed) == (0, len(deadly), len(deadly))
    assert not result.findings and not any(row["failed"] for row in result.coverage)
    with pytest.raises(ConformError, match=r"this was too much.* steps not be judged on") as ended:
        end_with(result)
    assert ended.value.exit_code == ENGINE_FAILED
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    assert f"{len(deadly)} steps could not be judged: the target failed in {len(deadly)} of them" in sentence
    assert "its call: The target stdio:" in sentence
    assert not list((tmp_path / "out" / "ledger").glob("verdicts*"))


def test_a_target_that_dies_on_a_shortest_path_does_not_differ() -> None:
    judge, trace = Judge(faulty("dies"), "kip-848"), read_trace(GOLDEN / "delete-groups.itf.json")
    *_, last = StepRows({}).trace("t", trace, "t")
    try:
        verdict = _judged(judge, StepRows({}), trace, {**last, "part": 0, "not_loaded": []})
    finally:
        judge.close()
    assert (verdict["verdict"], verdict["reached"]) == ("target failed", "")
    assert "this was too much" in verdict["differences"][0]["got"]


def test_another_program_of_the_same_name_is_judged_anew(dot: Path, tmp_path: Path) -> None:
    """The command does not name the file that changes, as where a script runs a program, or a server
    answers."""
    program, starts = tmp_path / "target.py", tmp_path / "start.py"
    shutil.copy(Path(__file__).parent / "faulty_target.py", program)
    starts.write_text(f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')\n")
    target = f"stdio:{sys.executable} {starts} none"
    assert run(tmp_path / "out", target, files=[dot]).result.holds
    program.write_text(program.read_text().replace('fault in ("wrong"', 'fault in ("none"'))
    other = run(tmp_path / "out", target, files=[dot])
    assert other.units() == ["verdicts/graph"]
    assert other.result.failed > 10 and other.result.earlier == 0


def test_verdicts_of_a_program_that_is_not_known_whole_are_those_of_one_run(tmp_path: Path) -> None:
    """A killed run goes on; after a finished one, and after a run of another target, all is new."""
    store, server = Store(str(tmp_path)), "tcp:127.0.0.1:9411"
    first = begun(store, server, "kip-848")
    assert begun(store, server, "kip-848") == first
    finished(store)
    second = begun(store, server, "kip-848")
    assert second != first
    assert (
        begun(store, server, "kafka-4.2").program != second.program != begun(store, server, "kip-848").program
    )
    own = begun(store, "python", "kip-848")
    finished(store)
    assert begun(store, "python", "kip-848") == own


def test_another_run_of_a_target_has_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge keeps its target, which may be a connection to a server that is gone."""
    closed = list[str]()
    monkeypatch.setattr(Judge, "close", lambda judge: closed.append(judge.name))
    first = judge_of("tcp:127.0.0.1:1", "kip-848", "a")
    assert judge_of("tcp:127.0.0.1:1", "kip-848", "a") is first and not closed
    assert judge_of("tcp:127.0.0.1:1", "kip-848", "b") is not first and closed == ["tcp:127.0.0.1:1"]


def test_a_word_that_is_longer_than_the_name_of_a_file_can_be_has_a_key() -> None:
    word = "x" * 300
    assert target_key(f"stdio:program {word}") != target_key("stdio:program")


def test_a_task_that_is_tried_again_begins_its_trace_again() -> None:
    rows = list(StepRows({}).trace("basic", read_trace(TRACE), "basic"))
    batch = pa.RecordBatch.from_pylist(rows, STEPS)
    first, second = (list(judging("python", "kip-848", "")(iter([batch]))) for _ in range(2))
    assert first == second
    assert {row["verdict"] for row in first[0].to_pylist()} == {"pass"}


def test_the_key_of_a_target_is_of_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_target").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    keys = set()
    for text in ("a = 1\n", "a = 2\n"):
        for file in (tmp_path / "some_target" / "__init__.py", tmp_path / "program.py"):
            file.write_text(text)
        package_key.cache_clear()
        keys |= {target_key("stdio:python -m some_target"), target_key(f"stdio:{tmp_path}/program.py --x")}
    assert len(keys) == 4
    assert target_key("python") != target_key("stdio:python")
