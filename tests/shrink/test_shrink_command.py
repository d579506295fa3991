"""`conform shrink`: on seeded bugs, the shrunk trace is short, fails in the same way, and is a behaviour."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from harness.cli.shrink import command as shrink
from harness.engines.base import Limits
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, USAGE, ConformError
from harness.itf import read_trace
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.run import play
from harness.kinds.consumer.shortening.behaviours import behaviours
from harness.kinds.consumer.shortening.kept import kept_steps
from harness.replay.causes import root
from harness.replay.files import replay_files
from harness.shrink.again import Doing, model_of

ROOT = Path(__file__).parents[2]
SEEDED = ROOT / "tests" / "simulate" / "seeded_target.py"
LIMITS = Limits("1g", None, 1)


def seeded(constant: str, value: str, dialect: str = "kip-848") -> str:
    """A coordinator one constant of whose dialect is another."""
    return f"stdio:{sys.executable} {SEEDED} {dialect} {constant} '\"{value}\"'"


def shrunk(trace: Path, target: str, out: Path, **options: object) -> tuple[Path, dict[str, object]]:
    path, result = out / "short.itf.json", out / "short.json"
    with pytest.raises(typer.Exit) as ended:
        shrink(trace, target, out=path, json_file=result, **options)  # type: ignore[arg-type]
    assert ended.value.exit_code == NOT_CONFORMANT
    return path, json.loads(result.read_text())


def test_a_trace_of_thirteen_steps_is_shrunk_to_those_that_matter(tmp_path: Path) -> None:
    """R5: an assignment that is not sent again with the acknowledgement of a revocation."""
    target = seeded("AssignmentSent", "on-change")
    path, result = shrunk(ROOT / "traces/golden/bugs/franz-go-6754bede.itf.json", target, tmp_path)
    assert result["steps"] == 13
    assert result["failing"] == 9
    kept = result["kept"]
    assert isinstance(kept, int) and kept <= 8
    failures = replay_files([path], target).failures
    assert result["signature"] in {one.signature(other) for one in failures for other in one.differences}
    assert failures[0].index == kept, "the last step is the one that fails"
    assert not replay_files([path], "python").failures, "the specification's coordinator does not fail"
    scenario = load_scenario(path.with_name("short.yaml"))
    assert play([scenario], ROOT / "spec", LIMITS)[0].holds, "it is a behaviour, as Golden.tla says, too"


def test_the_root_stays_what_it_is(tmp_path: Path) -> None:
    """A rejoin that names no assignor any more leaves the old one to the member (A2). The same coordinator
    does not bump the group epoch at any other rejoin: that defect has the same first difference."""
    trace = ROOT / "traces/corpus/CorpusAssignors-goal-0002-rejoin-names-no-assignor-any-more.itf.json"
    target = seeded("RejoinOfLiveMember", "keeps")
    [before] = replay_files([trace], target).failures
    assert before.differences[0].path == "response.memberEpoch"
    assert root(before) == "group.members[].serverAssignor"
    path, result = shrunk(trace, target, tmp_path)
    assert result["signature"] == "Rejoin/advance/NONE: group.members[].serverAssignor"
    assert [root(one) for one in replay_files([path], target).failures] == [root(before)]


def test_a_signature_that_is_given_keeps_the_root_of_its_step(tmp_path: Path) -> None:
    trace = ROOT / "traces/corpus/CorpusAssignors-goal-0002-rejoin-names-no-assignor-any-more.itf.json"
    target = seeded("RejoinOfLiveMember", "keeps")
    given = "Rejoin/advance/NONE: response.memberEpoch"
    path, result = shrunk(trace, target, tmp_path, signature=given)
    assert result["signature"] == given
    assert [root(one) for one in replay_files([path], target).failures] == ["group.members[].serverAssignor"]


def test_a_trace_of_a_dialect_stays_one(tmp_path: Path) -> None:
    trace = next((ROOT / "traces/dialects/kafka-4.2").glob("MCKafka42Static-goal-0017-*.itf.json"))
    target = seeded("AwaySession", "renewed", "kafka-4.2")
    path, result = shrunk(trace, target, tmp_path)
    assert read_trace(path).meta["constants"]["Dialect"] == "Kafka42"
    assert result["kept"] == 2
    assert result["dialect"] == "kafka-4.2"
    assert not path.with_name("short.yaml").exists()
    assert replay_files([path], target, "kafka-4.2").failures


def test_a_trace_that_does_not_fail_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"does not fail on python: there is nothing to shrink") as error:
        shrink(ROOT / "traces/golden/basic.itf.json", out=tmp_path / "short.itf.json")
    assert error.value.exit_code == USAGE
    assert not (tmp_path / "short.itf.json").exists()


def test_an_unknown_signature_is_an_error(tmp_path: Path) -> None:
    target = seeded("AssignmentSent", "on-change")
    with pytest.raises(ConformError, match=r"does not fail on .* with 'Join: nothing', but with: ") as error:
        shrink(
            ROOT / "traces/golden/basic.itf.json",
            target,
            signature="Join: nothing",
            out=tmp_path / "short.itf.json",
        )
    assert error.value.exit_code == USAGE


@pytest.mark.parametrize("name", ["golden/offsets", "corpus/MCSimulate-simulate-0008"])
def test_all_steps_of_a_trace_done_again_are_the_trace(name: str) -> None:
    """The specification gives the same groups for them: the form in which a step is kept loses nothing."""
    path = ROOT / "traces" / f"{name}.itf.json"
    trace = read_trace(path)
    steps = kept_steps(trace, str(path))
    again = behaviours(trace, [list(steps.values())], ROOT / "spec", LIMITS)[0]
    assert len(again) == len(steps) + 1
    for state, index in zip(again[1:], steps, strict=True):
        assert epochs(state) == epochs(trace.states[index])
        assert state["group"]["target"] == trace.states[index]["group"]["target"]  # type: ignore[index, call-overload]


@pytest.mark.parametrize("kind", ["classic", "cooperative", "connect", "client", "migration"])
def test_a_trace_of_another_kind_is_cut_after_the_step_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """The expected values of one step are made wrong: the target does not fail before."""
    trace = next(
        one
        for one in sorted((ROOT / "traces" / kind).glob("*.itf.json"))
        if wrong(one, tmp_path) and replay_files([tmp_path / one.name], "python").failures
    )
    path, result = shrunk(tmp_path / trace.name, "python", tmp_path)
    kept = result["kept"]
    assert isinstance(kept, int) and isinstance(result["steps"], int) and 0 < kept < result["steps"]
    output = capsys.readouterr().out
    assert f"cut after step {result['failing']} of {result['steps']}, the first that fails" in output
    assert [one.index for one in replay_files([path], "python").failures] == [kept]


def test_a_state_that_is_not_loaded_after_the_step_that_fails_does_not_matter(tmp_path: Path) -> None:
    trace = ROOT / "traces/client/MCClient-goal-0008-a-time-out-chooses-another.itf.json"
    assert wrong(trace, tmp_path)
    data = json.loads((tmp_path / trace.name).read_text())
    data["#meta"]["model"] = "of no manifest"
    (tmp_path / trace.name).write_text(json.dumps(data))
    target = f"stdio:{sys.executable} {ROOT / 'tests/doctor/faulty_program.py'} load_loses_deadlines"
    result = replay_files([tmp_path / trace.name], target)
    assert result.failures and result.not_loaded
    _, short = shrunk(tmp_path / trace.name, target, tmp_path)
    assert short["failing"] == result.failures[0].index
    with pytest.raises(ConformError, match=r"but with: .* did not load a state") as error:
        shrink(tmp_path / trace.name, target, signature="what comes later", out=tmp_path / "short.itf.json")
    assert error.value.exit_code == ENGINE_FAILED


def wrong(trace: Path, out: Path) -> bool:
    """Write a copy in which a request of the middle has another answer; False if none has one."""
    data = json.loads(trace.read_text())
    for state in data["states"][2:-1]:
        response = state["step"].get("response", {})
        if response.get("error") == "NONE":
            response |= {"epoch": 7} if "epoch" in response else {"error": "UNKNOWN_MEMBER_ID"}
            (out / trace.name).write_text(json.dumps(data))
            return True
    return False


def epochs(state: object) -> dict[str, object]:
    members = state["group"]["members"]  # type: ignore[index]
    return {
        name: {field: member[field] for field in ("epoch", "assigned", "revoking")}
        for name, member in members.items()
    }


@pytest.mark.parametrize(
    ("trace", "broken", "kept"),
    [
        (
            "classic/MCClassicRecovery-goal-0008-leader-failure",
            "coordinator.classic.handlers.session_timeout",
            ["JoinGroup m1", "ReceiveResponse m1", "JoinGroup m1", "SessionTimeout m1"],
        ),
        (
            "client/MCClient-goal-0026-everyone-was-too-late",
            "coordinator.computing.select.computation_timeout",
            ["Join m1", "Join m2", "ComputationTimeout m1"],
        ),
    ],
)
def test_a_trace_of_another_kind_is_shrunk_by_its_own_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: str, broken: str, kept: list[str]
) -> None:
    """A time-out that does nothing: of the steps before it, those stay that arm the timer, and those without
    which the root would be another: with one member alone no other member can be chosen."""
    monkeypatch.setattr(broken, lambda *_: None)
    path, result = shrunk(ROOT / "traces" / f"{trace}.itf.json", "python", tmp_path)
    assert result["shortest"] == kept
    assert [one.index for one in replay_files([path], "python").failures] == [len(kept)]
    monkeypatch.undo()
    assert not replay_files([path], "python").failures, "the specification's coordinator does not fail"


def test_a_trace_of_every_kind_is_done_again_by_its_model() -> None:
    """The states are those of the trace, whatever variables the model has."""
    for name in (
        "connect/MCConnect-goal-0001*",
        "migration/MCMigrationTopics-goal-0001*",
        "cooperative/MCDowngrade*",
    ):
        trace = read_trace(next((ROOT / "traces").glob(f"{name}.itf.json")))
        model = model_of(trace, ROOT / "spec")
        assert model is not None
        doing = Doing(trace, model, LIMITS)
        assert doing.behaviours([doing.steps]) == [list(trace.states)]


def test_a_request_of_another_generation_is_done_in_the_one_that_there_is() -> None:
    """Without the leader's crash the SyncGroup of generation 3 is one of generation 1."""
    trace = read_trace(ROOT / "traces/classic/MCClassicRecovery-goal-0008-leader-failure.itf.json")
    model = model_of(trace, ROOT / "spec")
    assert model is not None
    doing = Doing(trace, model, LIMITS)
    part = [step for step in doing.steps if step.index in {1, 2, 3, 4, 5, 14, 15, 16, 17, 18}]
    (states,) = doing.behaviours([part])
    assert len(states) == len(part) + 1
    step: Any = states[-1]["step"]
    assert (step["action"], step["request"]["generation"], step["response"]["error"]) == (
        "SyncGroup",
        1,
        "NONE",
    )
