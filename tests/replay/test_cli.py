"""`conform replay` as it is used: output, JSON and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict
from partial_target import target
from spec_model import NOTHING, Model

from benchmarks.speed import measure
from harness.cli.replay import command
from harness.errors import ConformError
from harness.itf import Trace, write_trace
from harness.requirements import sentences

FOO = frozenset({"foo"})


def trace() -> Trace:
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m1", 1, owned=None)
    model.heartbeat("m1", -1)
    return model.trace()


def wrong() -> Trace:
    """A behaviour that the specification forbids: the join of the second state gives epoch 3."""
    made = trace()
    state: Any = made.states[1]
    made.states[1] = frozendict(
        {**state, "step": state["step"].set("response", state["step"]["response"].set("epoch", 3))}
    )
    return made


def test_a_replay_without_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        write_trace(tmp_path / f"{name}.itf.json", trace())
    command([tmp_path], json_file=tmp_path / "out" / "result.json")
    output = capsys.readouterr().out
    assert "2 traces, 6 steps, 6 of them on python, 3 distinct" in output
    assert "0 differences in 0 steps" in output
    assert (
        "not reached by these traces: Activate, AddPartitions, AlterConfigs, ChangeRights, "
        "ComputationTimeout, CreateTopic, Deactivate, DeleteGroup, DeleteGroups, DeleteTopic, "
        "DescribeConfigs, FailOver, InstallAssignment, LeaveTemporarily" in output
    )
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert {key: result[key] for key in ("traces", "steps", "differences", "target_steps", "failures")} == {
        "traces": 2, "steps": 6, "differences": 0, "target_steps": 6, "failures": [],
    }  # fmt: skip
    assert result["coverage"]["actions"] == {"Heartbeat": 2, "Join": 2, "Leave": 2}
    assert result["coverage"]["distinct_target_steps"] == 3


def test_a_difference_is_shown_in_full_and_ends_with_11(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.itf.json"
    write_trace(file, wrong())
    with pytest.raises(ConformError, match="python does not conform: 1 difference in 1 of 3 steps") as caught:
        command([file], json_file=tmp_path / "result.json")
    assert caught.value.exit_code == 11
    output = capsys.readouterr().out.splitlines()
    shown = output[
        output.index("cause 1, the most serious: response.memberEpoch (E3); its shortest trace:") + 1 :
    ]
    assert shown[0] == f"{file}, step 1: Join (join)"
    assert shown[1] == '  target assignment to install: {"m1": ["foo-0", "foo-1"]}'
    assert shown[2].startswith('  sent: {"op": "request", "api": "ConsumerGroupHeartbeat"')
    assert shown[3:] == [
        "  the step is of H1, E1",
        "  response.memberEpoch (E3)",
        "    expected 3",
        "    got      1",
        "  what these requirements say:",
        *(f"    {name}: {sentences()[name]}" for name in ("H1", "E1", "E3")),
        f"  again: conform replay {file} --target python",
        f"  picture of the trace: conform graph --trace {file} --sequence",
    ]
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["differences"], result["target_steps"]) == (1, 3)
    assert result["failures"][0]["differences"] == [
        {
            "path": "response.memberEpoch",
            "expected": 3,
            "got": 1,
            "requirement": "E3",
            "signature": "Join/join/NONE: response.memberEpoch",
        }
    ]


def test_a_result_that_cannot_be_written_is_an_error_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    write_trace(tmp_path / "a.itf.json", trace())
    with pytest.raises(ConformError, match="cannot be written") as caught:
        command([tmp_path], json_file=tmp_path / "file" / "result.json")
    assert caught.value.exit_code == 2
    assert capsys.readouterr().out == ""


def test_the_benchmark_counts_what_it_measures(tmp_path: Path) -> None:
    files = [tmp_path / "a.itf.json", tmp_path / "b.itf.json"]
    for file in files:
        write_trace(file, trace())
    speed = measure(files, rounds=2)
    assert (speed.target, speed.traces, speed.target_steps, speed.differences) == ("python", 2, 6, 0)
    assert min(speed.read_s, speed.decode_s, speed.replay_s, speed.steps_per_s) > 0


@pytest.mark.parametrize(("made", "code"), [(trace, 0), (wrong, 11)])
def test_the_command_over_standard_input_and_output(tmp_path: Path, made: Any, code: int) -> None:
    file = tmp_path / "a.itf.json"
    write_trace(file, made())
    target = f"stdio:{sys.executable} -m coordinator --stdio"
    run = subprocess.run(
        [sys.executable, "-m", "harness", "replay", str(file), "--target", target],
        capture_output=True,
        text=True,
    )
    assert run.returncode == code, run.stderr
    assert ("does not conform" in run.stderr) == bool(code)


def test_an_answer_that_no_output_can_have_is_a_difference(tmp_path: Path) -> None:
    file, log = tmp_path / "a.itf.json", tmp_path / "log.jsonl"
    write_trace(file, trace())
    words = ["replay", str(file), "--target", target(lie="half a pair"), "--record", str(log)]
    run = subprocess.run([sys.executable, "-m", "harness", *words], capture_output=True, text=True)
    assert run.returncode == 11, run.stderr
    assert 'got      "\\ud800"\n' in run.stdout
