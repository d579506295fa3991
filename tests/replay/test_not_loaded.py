"""A state that an adapter did not load is the adapter's fault: no difference, and nothing is judged after
it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict
from partial_target import target
from spec_model import NOTHING, Model

from harness.cli.replay import command
from harness.errors import ConformError
from harness.itf import Trace, write_trace
from harness.replay.files import replay_files
from harness.replay.report import explain, not_loaded, skipped
from harness.replay.run import NOT_LOADED, Replayed

FAULTY = Path(__file__).parent.parent / "doctor" / "faulty_program.py"
FOO = frozenset({"foo"})


def faulty(fault: str) -> str:
    return f"stdio:{shlex.quote(sys.executable)} {shlex.quote(str(FAULTY))} {fault}"


def walk(wrong: bool = False) -> Trace:
    """Four steps of two members; where `wrong`, the specification forbids the first response."""
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m1", 1, owned=None)
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m2", -1)
    made = model.trace()
    if wrong:
        state: Any = made.states[1]
        response = state["step"]["response"].set("epoch", 3)
        made.states[1] = frozendict({**state, "step": state["step"].set("response", response)})
    return made


def late(start: int) -> Trace:
    """A trace that begins in a state with a group."""
    whole = walk()
    return Trace(whole.meta, whole.variables, whole.states[start:])


def written(folder: Path, **traces: Trace) -> list[Path]:
    files = [folder / f"{name}.itf.json" for name in traces]
    for file, trace in zip(files, traces.values(), strict=True):
        write_trace(file, trace)
    return files


def replayed(name: str, files: list[Path], jobs: int = 1, waived: str = "none") -> Replayed:
    return replay_files(files, name, waives=lambda signature: signature.startswith(waived), jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_state_that_is_not_there_after_a_difference_ends_its_trace(tmp_path: Path, jobs: int) -> None:
    """The response of the first step differs; the load that follows loses a deadline (H8)."""
    files = written(tmp_path, a=walk(wrong=True), b=walk())
    result = replayed(faulty("load_loses_deadlines"), files, jobs)
    assert [one.path for failure in result.failures for one in failure.differences] == [
        "response.memberEpoch"
    ]
    [outcome] = result.not_loaded
    assert (outcome.trace, outcome.index, outcome.action) == (str(files[0]), 1, "load")
    assert [one.path for one in outcome.differences] == ["group.timers[session m1].deadlineMs"]
    assert skipped(result) == {NOT_LOADED: {"traces": 1, "steps": 3}}
    assert (result.judged, result.differences, result.not_judged) == (5, 1, 0)


def test_a_state_to_start_from_that_is_not_there_is_no_difference(tmp_path: Path) -> None:
    files = written(tmp_path, a=late(1))
    for name, words in {
        faulty("load_loses_deadlines"): "deadlineMs is 45001 instead of 45000. The adapter is to blame",
        target(refuses="load"): "load was refused: there is no operation load. The adapter is to blame",
    }.items():
        result = replayed(name, files)
        assert (result.differences, result.judged, len(result.not_loaded)) == (0, 0, 1)
        assert words in not_loaded(result, name)
        assert "state 0" in not_loaded(result, name)


def test_a_load_that_is_right_is_not_blamed(tmp_path: Path) -> None:
    result = replayed("python", written(tmp_path, a=walk(wrong=True), b=late(1), c=late(2)))
    assert (result.not_loaded, result.judged, result.differences) == ([], 9, 1)


def test_a_state_that_the_coordinator_calls_otherwise_is_a_difference_and_judged_on(tmp_path: Path) -> None:
    """The state follows from what is described beside it; where that is hidden the load may be wrong."""
    files = written(tmp_path, a=late(3))
    result = replayed(target(lie="no Reconciling"), files)
    assert (result.not_loaded, result.judged) == ([], 1)
    assert [(one.action, one.index) for one in result.failures][:1] == [("load", 0)]
    [one] = result.failures[0].differences
    assert (one.path, one.expected, one.got) == ("group.state", "Reconciling", "Stable")
    lines = list(explain(result.failures[0], "t", "kip-848"))
    assert "The target describes the group as Stable where the specification has Reconciling" in lines[1]
    unsure = replayed(target(lie="no Reconciling", hidden=["members.target"]), files)
    assert (len(unsure.not_loaded), unsure.judged, unsure.failures) == (1, 0, [])


def test_a_waiver_also_covers_a_load(tmp_path: Path) -> None:
    files = written(tmp_path, a=late(1))
    result = replayed(faulty("load_loses_deadlines"), files, waived="load: group.timers[session].deadlineMs")
    assert (result.not_loaded, result.waived) == ([], 1)
    assert result.judged > 0


def test_the_command_names_the_field_and_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, a=walk(wrong=True), b=walk())
    name = faulty("load_loses_deadlines")
    with pytest.raises(ConformError, match=r"did not load a state; .* conform doctor tests both") as caught:
        command([*files], target=name, json_file=tmp_path / "result.json")
    assert caught.value.exit_code == 3
    assert "does not conform: 1 difference in 1 of 5 steps" in caught.value.message
    output = capsys.readouterr().out
    assert f"skipped, {NOT_LOADED}: 3 steps at the end of 1 trace" in output
    result = json.loads((tmp_path / "result.json").read_text())
    [one] = result["not_loaded"]
    assert (one["index"], one["differences"][0]["signature"]) == (1, "load: group.timers[session].deadlineMs")
    assert result["ended_early"] == [
        {"trace": str(files[0]), "judged": 1, "skipped": 3, "reason": NOT_LOADED}
    ]
