"""The client side mode of KIP-848 as golden scenarios: behaviours as they are written, in step with their
traces, and replayed on the coordinator (A5, A7, A8)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from scenarios import GOLDEN, SPEC

from harness.errors import ConformError
from harness.itf import read_trace
from harness.replay.files import replay_files
from harness.scenario.fields import read_fields
from harness.scenario.files import explain, load_file, out_of_step, play_files, scenario_files, trace_beside
from harness.scenario.scripts.load import load_script
from harness.scenario.scripts.model import PlayedScript

FILES = scenario_files([GOLDEN / "client"])
NAMES = ("assignment-validation", "client-side-mode", "member-selection")


@pytest.fixture(scope="module")
def played() -> Mapping[str, PlayedScript]:
    """All by name, in one run of TLC."""
    result = zip(FILES, play_files(FILES, SPEC), strict=True)
    return {path.stem: one for path, one in result if isinstance(one, PlayedScript)}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_a_behaviour_as_it_is_written(name: str, played: Mapping[str, PlayedScript]) -> None:
    one, trace = played[name], read_trace(trace_beside(GOLDEN / "client" / f"{name}.yaml"))
    assert [*explain(one)] == []
    assert one.holds
    assert out_of_step(one.scenario, trace) == ""
    assert dict(one.trace.states[-1]) == dict(trace.states[-1])
    assert one.transcripts[-1]["group"]["state"] == "Stable"


def test_each_replays() -> None:
    assert tuple(path.stem for path in FILES) == NAMES
    replayed = replay_files(FILES, "python")
    assert replayed.differences == 0
    assert replayed.judged == sum(len(load_file(path).steps) for path in FILES)


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ("join: {member: A, subscription: [foo], assignors: [x]}", "'x' is no assignor with its versions"),
        ("join: {member: A, subscription: [foo], assignors: [w 0-1]}", "write x 1-5, of x, y, z"),
        ("install: {member: A, epoch: 1}", "groupEpoch"),
        ("install: {member: A, epoch: 1, groupEpoch: 2, error: 0}", "at least 1"),
        ("fail-over: {member: A}", "has no field 'member'"),
    ],
)
def test_a_mistake_names_its_line(step: str, sentence: str) -> None:
    head = "protocol: client\nname: x\nsource: x\nshows: x\ntopics: {foo: 1}\nsteps:\n  - "
    with pytest.raises(ConformError, match=f"line 7.*{sentence}"):
        load_script(read_fields(Path("x.yaml"), f"{head}{step}\n"))
