"""Replaying the closed model's client steps on the member (K1, K2, H7), and on members that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.replay.decode import Decoder
from harness.replay.files import replay_files
from harness.replay.members import MemberReplayer, MemberStep
from harness.targets.base import Json
from harness.targets.members import StartProcess
from harness.targets.python_member import PythonProcess
from harness.values import as_function

ROOT = Path(__file__).parents[2]
TRACES = sorted((ROOT / "traces" / "members").glob("*.itf.json"))


def steps(file: Path) -> list[MemberStep]:
    return Decoder().decode(read_trace(file), file.name).members


def differences(start: StartProcess) -> set[str]:
    """The paths of all differences, over all traces."""
    replayer = MemberReplayer(start)
    return {
        difference.path
        for file in TRACES
        for _, entry in replayer.replay(steps(file))
        for difference in entry
    }


def test_member_conforms() -> None:
    replayer = MemberReplayer(PythonProcess)
    for file in TRACES:
        assert list(replayer.replay(steps(file))) == []
    assert replayer.judged == sum(len(steps(file)) for file in TRACES) - dead(TRACES) > 50


def dead(files: list[Path]) -> int:
    """Steps of processes that are down: late requests of theirs, their time-outs."""
    count = 0
    for file in files:
        up: set[str] = set()
        for step in steps(file):
            up |= {step.member} if step.does == "start" else set()
            count += step.member not in up
            up -= {step.member} if step.does in ("end", "leave") else set()
    return count


def test_everything_that_can_happen_to_a_client_does() -> None:
    done = {step.does for file in TRACES for step in steps(file)}
    assert done >= {"start", "send", "receive", "lose", "finish_revocation", "subscribe", "leave"}
    assert {step.action for file in TRACES for step in steps(file)} >= {"Return", "LeaveTemporarily", "Leave"}


class NeverFull(PythonProcess):
    def send(self) -> Json:
        body = super().send()
        return {**body, "topicPartitions": None} if body["memberEpoch"] else body


class KeepsWhatItLost(PythonProcess):
    def observe(self) -> Json:
        observed = super().observe()
        return {**observed, "owned": [], "mustRevoke": False} if observed["mustRevoke"] else observed


class MistakesEpoch(PythonProcess):
    def receive(self, body: Json) -> None:
        super().receive({**body, "memberEpoch": body["memberEpoch"] + 1})


class NeverLeavesForAWhile(PythonProcess):
    def leave(self, temporarily: bool) -> Json:
        return super().leave(False)


class SurvivesAnything(PythonProcess):
    def observe(self) -> Json:
        return {**super().observe(), "up": True}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        (NeverFull, "request.topicPartitions"),
        (KeepsWhatItLost, "member.owned"),
        (KeepsWhatItLost, "member.mustRevoke"),
        (MistakesEpoch, "member.epoch"),
        (NeverLeavesForAWhile, "request.memberEpoch"),
        (SurvivesAnything, "member.up"),
    ],
)
def test_wrong_member_is_seen(wrong: type[PythonProcess], path: str) -> None:
    assert path in differences(wrong)


def test_member_that_differed_is_judged_again_once_it_restarts() -> None:
    results = list(MemberReplayer(NeverFull).replay(steps(TRACES[0])))
    assert len({step.member for step, _ in results}) == len(results)


def test_member_steps_are_counted() -> None:
    result = replay_files(TRACES, "python")
    assert result.member_steps == sum(len(steps(file)) for file in TRACES) - dead(TRACES)
    assert result.differences == 0


def test_only_the_member_of_this_repository_is_judged_with_it() -> None:
    target = f"stdio:{__import__('sys').executable} -m coordinator --stdio"
    assert replay_files(TRACES[:1], target).member_steps == 0


def test_clients_of_another_shape_are_named() -> None:
    trace = read_trace(TRACES[0])
    bare = Trace(
        trace.meta, trace.variables, [state.set("clients", state["group"]) for state in trace.states]
    )
    with pytest.raises(
        ConformError, match="The trace bare: its variable clients cannot be read; it needs the"
    ):
        Decoder().decode(bare, "bare")


def test_trace_without_clients_has_no_member_steps() -> None:
    assert steps(sorted((ROOT / "traces" / "corpus").glob("MCOpen*.itf.json"))[0]) == []


def test_a_trace_that_begins_while_an_answer_is_under_way_has_no_member_steps() -> None:
    """The same holds for each step that `conform exhaust` judges by itself: no member has joined, but one may
    be about to."""
    met = 0
    for file in TRACES:
        trace = read_trace(file)
        for index, (state, after) in enumerate(zip(trace.states, trace.states[1:], strict=False)):
            if index and any(as_function(state["responses"]).values()):
                pair = Trace(trace.meta, trace.variables, [state, after])
                assert Decoder().decode(pair, "pair").members == []
                met += after["step"]["action"] == "ReceiveResponse"
    assert met
