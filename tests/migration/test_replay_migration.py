"""Traces of groups that migrate: no wrong trace passes for a right one (M1-M3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.pipeline.rows import StepRows
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parents[2]
FILES = trace_files([ROOT / "traces" / "migration"])


@pytest.fixture(scope="module")
def traces() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in FILES]


def test_the_requirements_are_exercised(traces: list[DecodedTrace]) -> None:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    assert {"M1", "M2", "M3"} <= replayer.result.coverage.requirements.keys()


def test_the_kind_of_group_is_a_part_of_a_state() -> None:
    """`conform exhaust` loads a state by its key: a conversion or a phase of a member is another one."""
    file = next(file for file in FILES if "-a-classic-member-syncs-in-a-mixed-group" in file.name)
    rows = list(StepRows({}).trace(file.name, read_trace(file), "t"))
    assert [row["action"] for row in rows] == ["Rejoin", "JoinGroup", "SyncGroup"]
    assert len({*(row["source"] for row in rows), rows[-1]["after"]}) == 4


def changed(name: str, **step: object) -> Trace:
    """A trace with these fields of its last step changed."""
    (file,) = (file for file in FILES if file.name.endswith(f"{name}.itf.json"))
    trace = read_trace(file)
    last = trace.states[-1]
    wrong = last.set("step", last["step"] | step)
    return Trace(trace.meta, trace.variables, [*trace.states[:-1], wrong])


LATE = "a-classic-member-does-not-{}-in-time"


@pytest.mark.parametrize(
    ("name", "step", "message"),
    [
        (LATE.format("sync"), {"action": "No"}, "there is no action 'No'"),
        (LATE.format("sync"), {"member": "x"}, "'sync' of 'x' runs out, but is not armed"),
        (LATE.format("rejoin"), {"action": "SyncTimeout"}, "'sync' of .* is not armed"),
        ("the-first-consumer-heartbeat-converts-the-group", {"member": "x"}, "x rejoins, but is not in"),
    ],
)
def test_a_trace_that_contradicts_itself_is_refused(name: str, step: dict[str, str], message: str) -> None:
    with pytest.raises(ConformError, match=message):
        Decoder().decode(changed(name, **step), "t")


def test_a_state_of_another_form_is_refused() -> None:
    trace = read_trace(FILES[0])
    words = trace.states[0].set("phase", 1)
    with pytest.raises(ConformError, match="phase"):
        Decoder().decode(Trace(trace.meta, trace.variables, [words, *trace.states[1:]]), "t")


def test_a_target_that_answers_otherwise_differs(traces: list[DecodedTrace]) -> None:
    """A trace with another generation than the coordinator's."""
    trace = next(trace for trace in traces if "goes-on-in-a-mixed-group" in trace.name)
    file = next(file for file in FILES if file.name == trace.name)
    raw = read_trace(file)
    last = raw.states[-1]
    group = last["consumer"]
    other = last.set("consumer", group.set("epoch", group["epoch"] + 1))
    wrong = Decoder().decode(Trace(raw.meta, raw.variables, [*raw.states[:-1], other]), "t")
    replayer = Replayer(PythonTarget("kip-848"), 1)
    replayer.replay(wrong)
    assert "group.groupEpoch" in {one.path for one in replayer.result.failures[0].differences}
