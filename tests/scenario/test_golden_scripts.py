"""Scenarios of classic and Connect groups: behaviours of the specification as they are written, in step with
their traces, and replayed on the coordinator (C2, W3). A state that the documents print wrongly is
rejected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scenarios import GOLDEN, SPEC

from harness.errors import ConformError
from harness.itf import read_trace
from harness.kinds.consumer.scenario.from_trace import scenario_of_trace
from harness.replay.files import replay_files
from harness.scenario.fields import read_fields
from harness.scenario.files import (
    explain,
    load_file,
    out_of_step,
    play_files,
    rewritten_file,
    scenario_files,
    stale,
    trace_beside,
)
from harness.scenario.scripts.load import load_script
from harness.scenario.scripts.model import PlayedScript, Script

CLASSIC = scenario_files([GOLDEN / "classic"])
CONNECT = scenario_files([GOLDEN / "connect"])
MIGRATION = scenario_files([GOLDEN / "migration"])
BUGS = [path for path in scenario_files([GOLDEN / "bugs"]) if isinstance(load_file(path), Script)]
FILES = [*CLASSIC, *CONNECT, *MIGRATION, *BUGS]
IMPOSSIBLE = """
protocol: connect
name: Impossible
source: a test
shows: a worker that nobody has chosen cannot run out of time
connectors: {Z: 1}
steps:
  - join: {worker: W9}
  - assignment timeout: {worker: W8}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """All scenarios by name, in one run of TLC for each kind of group, with a scenario that uses names no
    other has."""
    impossible = tmp_path_factory.mktemp("scripts") / "impossible.yaml"
    impossible.write_text(IMPOSSIBLE)
    files = [*FILES, impossible]
    return {path.stem: one for path, one in zip(files, play_files(files, SPEC), strict=True)}


def of(played: Mapping[str, Any], name: str) -> PlayedScript:
    result = played[name]
    assert isinstance(result, PlayedScript)
    return result


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_script_is_a_behaviour_as_it_is_written(path: Path, played: Mapping[str, Any]) -> None:
    one = of(played, path.stem)
    assert [*explain(one), *stale(one)] == []
    assert one.holds
    assert out_of_step(one.scenario, read_trace(trace_beside(path))) == ""
    assert dict(one.trace.states[-1]) == dict(read_trace(trace_beside(path)).states[-1])


def test_each_is_there() -> None:
    """Each failure of a coordinator, four other cases, the example of KIP-429 (C3), and the draft's case
    studies."""
    failures = [*(f"coordinator-fails-{number}" for number in range(1, 5)), "coordinator-fails-2-aborts"]
    others = ["leader-fails", "assignment-fails", "subscription-changes", "topics-change"]
    assert {path.stem for path in CLASSIC} == {*failures, *others, "cooperative-join"}
    assert {path.stem for path in BUGS} >= {"KAFKA-8500", "KAFKA-10284", "KAFKA-9841", "franz-go-12889e13"}
    assert {path.stem for path in CONNECT} == {"workers-join", "worker-leaves", "worker-bounces"}


def test_each_ends_stable(played: Mapping[str, Any]) -> None:
    assert {of(played, path.stem).transcripts[-1]["group"]["state"] for path in FILES} == {"Stable"}


def test_each_replays_by_its_name() -> None:
    replayed = replay_files(FILES, "python")
    assert (replayed.traces, replayed.differences) == (len(FILES), 0)
    assert replayed.judged == sum(len(load_file(path).steps) for path in FILES)


def test_an_erratum_of_the_specification_is_reported(played: Mapping[str, Any]) -> None:
    one = of(played, "workers-join")
    assert len(one.scenario.errata) == 2
    given = replace(one.scenario.errata[0], uncorrected={"workers": {"W2": {"epoch": "0"}}})
    wrong = replace(one, scenario=replace(one.scenario, errata=(given,)))
    assert wrong.accepted == [given] and not wrong.holds
    assert any("does not reject the uncorrected state (the state after" in line for line in explain(wrong))


def test_a_state_other_than_written_is_reported_with_its_line(played: Mapping[str, Any]) -> None:
    one = of(played, "leader-fails")
    whole = Path(one.scenario.file).read_text()
    text = whole.replace("generation: 2, leader: B", "generation: 3, leader: B", 1)
    scenario = load_script(read_fields(Path("x.yaml"), text))
    wrong = replace(one, scenario=scenario)
    assert list(explain(wrong)) == [
        "x.yaml, line 28: after step 3: group generation: the file has 3, the specification gives 2"
    ]
    assert out_of_step(scenario, one.trace) == "after step 3 it has group generation 2, not 3"
    assert rewritten_file(wrong, text) == whole


def test_states_are_written_where_there_are_none(played: Mapping[str, Any]) -> None:
    one = of(played, "topics-change")
    whole = Path(one.scenario.file).read_text()
    lines = whole.splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if line == "    expect:\n")
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith("  - "))
    text = "".join(lines[:start] + lines[end:])
    missing = replace(one, scenario=load_script(read_fields(Path("x.yaml"), text)))
    assert missing.missing == [1] and not missing.holds
    assert rewritten_file(missing, text) == whole


def test_a_trace_of_other_steps_is_out_of_step(played: Mapping[str, Any]) -> None:
    one = of(played, "leader-fails")
    other = replace(one.scenario, steps=one.scenario.steps[:-1])
    assert out_of_step(other, one.trace) == "what is done is something else"


def test_an_impossible_step_is_reported(played: Mapping[str, Any]) -> None:
    """A script that runs with others is played with its own workers and connectors alone."""
    one = of(played, "impossible")
    assert one.stuck == 2
    assert any("has no step 2 (assignment timeout: {worker: W8})" in line for line in explain(one))
    with pytest.raises(ConformError, match="has no step 2"):
        rewritten_file(one, IMPOSSIBLE)
    group: Any = one.trace.states[-1]["group"]
    assert set(group["members"]) == {"W8", "W9"} and {name for name, _ in group["target"]} == {"Z"}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "protocol: connect",
            "protocol: streams",
            "line 2: 'streams' is none of share, classic, connect, client, migration; leave it out",
        ),
        ("join: {worker: W9}", "joins: {worker: W9}", "'joins' is none"),
        (
            "join: {worker: W9}",
            "join: {member: W9}",
            "has no field 'member'; known are worker",
        ),
        ("join: {worker: W9}", "join: {worker: W9, owned: [AX0]}", "'AX0' is no connector and no task"),
        ("connectors: {Z: 1}", "topics: {Z: 1}", "has no field 'topics'"),
        (
            "steps:\n",
            "errata: [{step: 3, where: x, says: x, holds: x, uncorrected: {}}]\nsteps:\n",
            "no step 3",
        ),
    ],
)
def test_a_mistake_names_its_line(old: str, new: str, sentence: str) -> None:
    with pytest.raises(ConformError, match=sentence.replace("[", r"\[")):
        load_script(read_fields(Path("x.yaml"), IMPOSSIBLE.replace(old, new)))


@pytest.mark.parametrize(
    ("name", "kind"), [("classic/leader-fails", "classic"), ("connect/workers-join", "Connect")]
)
def test_a_trace_of_another_kind_is_no_scenario(name: str, kind: str) -> None:
    path = GOLDEN / f"{name}.itf.json"
    with pytest.raises(ConformError, match=f"is of a {kind} group: only those of consumer groups"):
        scenario_of_trace(read_trace(path), "x", str(path))


def test_files_say_of_which_kind_they_are() -> None:
    assert all(isinstance(load_file(path), Script) for path in FILES)
    assert not isinstance(load_file(GOLDEN / "basic.yaml"), Script)
