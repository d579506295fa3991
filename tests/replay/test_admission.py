"""H5, D5: a coordinator that is not active, and clients without rights, are replayed and judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.replay.decode import Decoder
from harness.replay.run import Replayed, Replayer
from harness.report.trace_sequence import text_of_trace
from harness.targets.base import Answer, Capabilities, Json
from harness.targets.python import PythonTarget

FOLDER = Path(__file__).parents[2] / "traces" / "admission"
FILES = sorted(FOLDER.glob("*.itf.json"))


def trace(goal: str) -> Trace:
    [result] = FOLDER.glob(f"MCAdmission-goal-*-{goal}.itf.json")
    return read_trace(result)


def replayed(target: PythonTarget, *given: Trace) -> Replayed:
    replayer, decoder = Replayer(target, max_differences=20), Decoder()
    for number, one in enumerate(given):
        replayer.replay(decoder.decode(one, str(number)))
    return replayer.result


def test_all_conform() -> None:
    result = replayed(PythonTarget("kip-848"), *map(read_trace, FILES))
    assert (result.traces, result.differences, result.ended_early) == (27, 0, [])
    assert {"H5", "D1", "D5", "P2"} <= result.coverage.requirements.keys()


class Without(PythonTarget):
    """A target that lacks an operation."""

    def __init__(self, lacks: str) -> None:
        super().__init__("kip-848")
        self._lacks = lacks

    def hello(self) -> Capabilities:
        known = super().hello()
        return replace(known, controls=known.controls - {self._lacks})


@pytest.mark.parametrize(
    ("lacks", "goal", "judged"),
    [
        ("coordinator", "a-heartbeat-after-the-group-has-moved", 1),
        ("rights", "a-fetch-without-the-right-to-describe", 0),
    ],
)
def test_a_target_that_lacks_an_operation_is_judged_until_then(lacks: str, goal: str, judged: int) -> None:
    result = replayed(Without(lacks), trace(goal))
    [ended] = result.ended_early
    assert (ended.reason, ended.judged, result.differences) == (lacks, judged, 0)


class Lenient(PythonTarget):
    """A target that answers the first request to a coordinator which is not active as an active one does."""

    spoilt = False

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        answer = super().request(api, version, client, body, observe)
        assert answer.body is not None
        if answer.body.get("errorCode") != 16 or self.spoilt:
            return answer
        self.spoilt = True
        return answer._replace(body={**answer.body, "errorCode": 0, "errorMessage": None})


def test_after_a_difference_the_state_of_the_coordinator_is_loaded() -> None:
    """The second heartbeat to a coordinator that has moved is judged by itself."""
    moved = trace("a-heartbeat-after-the-group-has-moved")
    again = replace(moved, states=[*moved.states, moved.states[-1]], actions=())
    result = replayed(Lenient("kip-848"), again)
    [failure] = result.failures
    assert [one.path for one in failure.differences] == ["response.errorCode"]
    assert result.judged == len(again.states) - 1


def changed(goal: str, **values: Any) -> Trace:
    """The trace with other values in the variable `admission` of its last state."""
    result = trace(goal)
    last = dict(result.states[-1])
    admission: Any = last["admission"]
    last["admission"] = admission | values
    return replace(result, states=[*result.states[:-1], type(result.states[-1])(last)])


def with_an_offset(goal: str) -> Trace:
    """The trace until its first step, in which an offset is committed, too."""
    result = trace(goal)
    after = dict(result.states[1])
    offsets: Any = after["offsets"]
    after["offsets"] = type(offsets)(dict.fromkeys(offsets, 3))
    return replace(result, states=[result.states[0], type(result.states[1])(after)], actions=())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (with_an_offset("a-join-while-the-coordinator-loads"), "so does the group, a topic or an offset"),
        (
            changed("a-coordinator-that-is-active-again-with-a-member", state="moved"),
            "and moved after the step",
        ),
        (changed("who-lost-the-right-to-read-goes-on-with-the-right", state=3), "admission.state"),
    ],
)
def test_a_trace_that_contradicts_itself_is_refused(given: Trace, says: str) -> None:
    with pytest.raises(ConformError, match=says):
        Decoder().decode(given, "t")


def test_a_diagram_says_what_happens_to_the_coordinator() -> None:
    text = text_of_trace(trace("a-coordinator-that-is-active-again-notices-a-topic"), "t")
    assert "the coordinator is active again, and loads the log" in text
    assert "denied: READ" in text_of_trace(trace("a-commit-without-the-right-to-read"), "t")
