"""The repository's scenarios of consumer groups: behaviours of the specification, in step with their traces,
and replayed.

One run of TLC plays all of them and their uncorrected states (G7).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from scenarios import GOLDEN, ROOT, SPEC

from harness.engines.apalache import Apalache
from harness.engines.base import Limits, Model, Outcome
from harness.itf import read_trace
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.model import Scenario
from harness.kinds.consumer.scenario.render import render
from harness.kinds.consumer.scenario.run import OWN_VARIABLES, Played, play
from harness.replay.files import replay_files, trace_files
from harness.scenario.files import explain, load_file, out_of_step, scenario_files, stale, trace_beside

ALL = scenario_files([GOLDEN])
FILES = [path for path in ALL if isinstance(load_file(path), Scenario)]


@pytest.fixture(scope="module")
def played() -> Mapping[Path, Played]:
    """All scenarios, and one whose errata are corrected states, which the specification must accept."""
    scenarios = [load_scenario(path) for path in FILES]
    return dict(zip(FILES, play(scenarios, SPEC), strict=True))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_is_a_behaviour_as_it_is_written(path: Path, played: Mapping[Path, Played]) -> None:
    """The scenario is a behaviour to its last step; the document's misprints are not."""
    assert [*explain(played[path]), *stale(played[path])] == []
    assert played[path].holds
    assert len(played[path].trace.states) == len(load_scenario(path).steps) + 1


def test_wrong_output_in_a_document_is_rejected(played: Mapping[Path, Played]) -> None:
    """Each erratum is one of TLC's violations, at its step: the specification accepts none of them. There is
    at least one erratum."""
    errata = {path.stem: len(one.scenario.errata) for path, one in played.items() if one.scenario.errata}
    assert errata == {"basic": 5, "incremental": 1, "partition-added": 1}
    assert all(one.accepted == [] for one in played.values())


def test_every_case_study_is_there() -> None:
    sources = {load_scenario(path).source for path in FILES}
    studies = ["Basic", "Incremental Revocation & Assignment", "Member Failure", "Partition Added"]
    assert {f'KIP-848, Case Studies, "{study}"' for study in studies} < sources
    assert "KIP-848, Static Membership (KIP-345)" in sources


def test_bugs_have_their_public_link_and_what_would_catch_them() -> None:
    bugs = [load_file(path) for path in ALL if path.parent.name == "bugs"]
    assert len(bugs) >= 8
    mutants = {
        re.sub(r"/\d+-", "/", f"{path.parent.name}/{path.stem}")
        for path in (ROOT / "tests" / "mutants").glob("*/*.patch")
    }
    for bug in bugs:
        assert bug.link.startswith("https://github.com/") and bug.caught, bug.file
        assert {name for name in bug.caught if name.startswith(("coordinator/", "spec/"))} <= mutants


def test_each_replays_by_its_name() -> None:
    """By the trace beside it: no model checker is needed."""
    replayed = replay_files(FILES, "python")
    assert (replayed.traces, replayed.differences) == (len(FILES), 0)
    assert replayed.judged == sum(len(load_scenario(path).steps) for path in FILES)


def test_a_folder_has_each_behaviour_once(tmp_path: Path) -> None:
    assert trace_files([GOLDEN]) == sorted(trace_beside(path) for path in ALL)
    shutil.copy(FILES[0], tmp_path)
    assert trace_files([tmp_path]) == [tmp_path / FILES[0].name]


def test_a_trace_of_another_scenario_is_reported(tmp_path: Path) -> None:
    basic = load_scenario(GOLDEN / "basic.yaml")
    trace = read_trace(GOLDEN / "basic.itf.json")
    assert out_of_step(basic, trace) == ""
    assert out_of_step(replace(basic, topics={"foo": 4}), trace) == "it starts from another state"
    assert out_of_step(replace(basic, steps=basic.steps[:-1]), trace) == "it has 12 steps, not 11"
    other = replace(basic.steps[0], member="Z")
    assert out_of_step(replace(basic, steps=(other, *basic.steps[1:])), trace) == "step 1 is another one"
    sections = dict(basic.steps[0].sections)
    state = sections["expect"].printed
    assert state is not None
    sections["expect"] = replace(sections["expect"], printed=replace(state, epoch=9))
    wrong = replace(basic, steps=(replace(basic.steps[0], sections=sections), *basic.steps[1:]))
    assert out_of_step(wrong, trace) == "after step 1 it has group epoch 1, not 9"


@pytest.mark.skipif("APALACHE_HOME" not in os.environ, reason="APALACHE_HOME does not name Apalache")
def test_apalache_finds_the_same_behaviour(tmp_path: Path) -> None:
    """The first steps of Basic: Apalache reaches the end of the script, through the states that TLC gives."""
    basic = load_scenario(GOLDEN / "basic.yaml")
    short = replace(basic, steps=basic.steps[:2], errata=())
    for module in SPEC.glob("*.tla"):
        shutil.copy(module, tmp_path)
    module, config = render([short], tmp_path, "ScriptNotDone")
    model = Model("GoldenBasic", module, config, {"length": len(short.steps)})
    result = Apalache().check(model, tmp_path / "log", Limits("2g", 180))
    assert result.outcome is Outcome.VIOLATED and result.counterexample is not None
    results = [
        {name: value for name, value in state.items() if name not in OWN_VARIABLES}
        for state in result.counterexample.states
    ]
    assert results == [dict(state) for state in play([short], SPEC)[0].trace.states]
