"""Input that is not a trace of the group protocol: one sentence that names the place, exit code 2."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict
from spec_model import NO_STEP, NOTHING, Model, request, some

from harness.errors import ConformError
from harness.itf import Trace, trace_from_json, trace_to_text, write_trace
from harness.replay.decode import Decoder
from harness.replay.files import replay_files, trace_files

ROOT = Path(__file__).parents[2]
FOO = frozenset({"foo"})


def model() -> Model:
    made = Model(topics={"foo": 2})
    made.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    made.heartbeat("m1", 1, owned=None)
    return made


def sentence(trace: Trace) -> str:
    with pytest.raises(ConformError) as caught:
        Decoder().decode(trace, "t.itf.json")
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("The trace t.itf.json") and caught.value.message.endswith(".")
    return caught.value.message


def changed(index: int, *path: str, to: Any = None, drop: bool = False) -> Trace:
    """The model's trace with one field of one state replaced or left out."""

    def change(value: Any, rest: tuple[str, ...]) -> Any:
        if not rest:
            return to
        if drop and len(rest) == 1:
            return frozendict({key: item for key, item in value.items() if key != rest[0]})
        return value.set(rest[0], change(value[rest[0]], rest[1:]))

    trace = model().trace()
    trace.states[index] = change(trace.states[index], path)
    return trace


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("group", "epoch"), 'state 1: group has no field "epoch"'),
        (("group", "target"), 'group has no field "target"'),
        (("group", "metadata"), 'group has no field "metadata"'),
        (("group", "members", "m1", "revoking"), 'group.members[m1] has no field "revoking"'),
        (("step", "request"), 'step has no field "request"'),
        (("step", "request", "owned"), 'step.request has no field "owned"'),
        (("step", "response", "error"), 'step.response has no field "error"'),
        (("step", "branch"), 'step has no field "branch"'),
    ],
)
def test_a_missing_field(path: tuple[str, ...], message: str) -> None:
    assert message in sentence(changed(1, *path, drop=True))


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (("group",), 7, "state 2: group must be a record, not 7"),
        (("step", "partitions"), True, "step.partitions must be an integer, not True"),
        (("group", "members"), 3, "group.members must be a function, not 3"),
        (
            ("group", "members", "m1", "assigned"),
            some("foo-0"),
            "partitions like <<topic, index>>, not 'foo-0'",
        ),
        (("group", "members", "m1", "acknowledged"), 1, "acknowledged must be a boolean, not 1"),
        (("group", "target"), frozendict({("foo", 0): 5}), "must be a string, not 5"),
        (("topics",), frozendict(foo="two"), "topics[foo] must be an integer, not 'two'"),
        (("step", "request", "owned"), some(NOTHING, FOO), "owned must have at most one element, not 2"),
        (("step", "response", "error"), "LOST", "the response has the error 'LOST', which has no code"),
        (("step", "response", "error"), "", "the response has the error '', which has no code"),
        (("step", "action"), "Jion", "there is no action 'Jion'; there are Activate, AddPartitions"),
        (("step", "action"), "Init", "Init is the name of the first state only"),
        (("step", "action"), "Leave", "the member epoch of a Leave is -1, not 1"),
        (("step", "action"), "Join", "m1 joins, but is in the group already"),
        (("step", "action"), "RebalanceTimeout", "the revocation of m1 runs out, but it revokes nothing"),
        (("step", "action"), "DeleteGroup", "the group is deleted, but it is not empty"),
        (("step", "member"), "m2", "the step is of 'm2', its request of 'm1'"),
    ],
)
def test_a_field_that_is_something_else(path: tuple[str, ...], to: Any, message: str) -> None:
    assert message in sentence(changed(2, *path, to=to))


def event(action: str, topic: str = "", partitions: int = 0, member: str = "") -> dict[str, Any]:
    return {"action": action, "topic": topic, "partitions": partitions, "member": member}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (event("CreateTopic", "bar", 2), "a topic with 2 partitions is created, but 'bar' has 0"),
        (event("AddPartitions", "foo", 2), "a topic grows to 2 partitions, but 'foo' has 2"),
        (event("DeleteTopic", "foo"), "topic 'foo' is deleted, but was not there or is still there"),
        (event("SessionTimeout", member="m2"), "the session of m2 runs out, but it is not in the group"),
        (event("Rejoin", member="m2") | {"request": request("m2", 0)}, "m2 rejoins, but is not in the group"),
    ],
)
def test_a_step_that_its_states_contradict(step: dict[str, Any], message: str) -> None:
    assert message in sentence(changed(2, "step", to=NO_STEP | step))


def test_a_member_whose_join_was_refused() -> None:
    message = "'m1' is a member, but no request of it was accepted since it was none"
    assert message in sentence(changed(1, "step", "response", "error", to="UNKNOWN_MEMBER_ID"))


def test_a_timer_that_nothing_started() -> None:
    """C1: a member of a stable group owes a SyncGroup all at once."""
    path = next((ROOT / "traces" / "classic").glob("*-0008-both-are-assigned.itf.json"))
    trace = json.loads(path.read_text())
    again = deepcopy(trace["states"][-1])
    again["group"]["members"]["m1"]["owesSync"] = True
    trace["states"].append(again)
    altered = trace_from_json(trace, "t.itf.json")
    assert "the timer 'sync' of '' is armed, but no step has started it" in sentence(altered)


def test_an_unknown_action_in_the_first_state() -> None:
    assert "state 0: there is no action 'Begin'" in sentence(changed(0, "step", "action", to="Begin"))


def test_a_step_that_does_not_call_the_coordinator_and_changes_the_group() -> None:
    assert "state 1: Crash does not call the coordinator, but the group or the topics change" in sentence(
        changed(1, "step", "action", to="Crash")
    )


def test_a_trace_of_another_specification() -> None:
    trace = Trace({}, ("x", "step"), [frozendict(x=1, step=2)] * 2)
    assert (
        'has no variable "group", so it is not a trace of the group protocol: its variables are x, step'
        in (sentence(trace))
    )


def test_a_trace_without_steps() -> None:
    trace = model().trace()
    del trace.states[1:]
    assert "has a state but no steps" in sentence(trace)


def test_no_traces_at_all(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trace", encoding="utf-8")
    with pytest.raises(ConformError, match=r"There are no traces \(\*\.itf\.json\) in") as caught:
        trace_files([tmp_path])
    assert caught.value.exit_code == 2
    with pytest.raises(ConformError, match="No traces were given"):
        trace_files([])


def test_traces_that_never_call_the_coordinator(tmp_path: Path) -> None:
    made = model()
    made.states[1:] = [frozendict({**made.states[0], "step": NO_STEP | {"action": "Crash"}})]
    write_trace(tmp_path / "a.itf.json", made.trace())
    with pytest.raises(ConformError, match=r"No step of the trace .* calls the coordinator") as caught:
        replay_files([tmp_path / "a.itf.json"], "python")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "is not JSON or is cut off"),
        (trace_to_text(model().trace())[:-40], "is not JSON or is cut off"),
        (json.dumps({"vars": ["group"]}), "is not ITF"),
    ],
)
def test_a_bad_file_ends_the_run_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    write_trace(tmp_path / "a.itf.json", model().trace())
    (tmp_path / "b.itf.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConformError, match=r"b\.itf\.json") as caught:
        replay_files(trace_files([tmp_path]), "python")
    assert message in caught.value.message and caught.value.exit_code == 2


def test_folders_are_searched_in_a_fixed_order_and_a_trace_counts_once(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b", "deep/er/c", "a"):
        write_trace(tmp_path / f"{name}.itf.json", model().trace())
    files = trace_files([tmp_path / "b.itf.json", tmp_path])
    assert [file.name for file in files] == ["b.itf.json", "a.itf.json", "c.itf.json"]
