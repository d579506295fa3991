"""Clients under schedules from traces of closed models."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from faulty import FAULTY

from harness.clients.over_sockets import Sockets, judge_agent
from harness.clients.run import Result, run_schedules
from harness.clients.schedules import Origin, Schedule
from harness.clients.simulated import simulate
from harness.clients.traced import schedules
from harness.errors import USAGE, ConformError
from harness.targets.groups.client import client_parts
from harness.targets.groups.served import ServedCoordinator

HERE = Path(__file__).parent
TRACES = HERE.parents[1] / "traces"
MEMBERS = TRACES / "members"
UNCAUGHT = {
    *("StopsAfterAnError", "ContinuesWhenFenced", "NeverPauses", "SendsTwice"),
    *("RetriesStaleCommitAtOnce", "GivesUpStaleCommits", "RevokesWithoutCommit"),
}
"""Faults that need an error, a late answer or a commit that no trace has at that moment; random schedules
catch them."""


@cache
def of_all_traces() -> tuple[list[Schedule], Counter[str]]:
    return schedules([TRACES])


def judged(name: str) -> Result:
    parts = client_parts(name)
    return run_schedules(
        lambda setup, steps: simulate(parts, parts.member, setup, steps)[0], of_all_traces()[0]
    )


def of(name: str) -> Schedule:
    [path] = MEMBERS.glob(f"*{name}.itf.json")
    [made] = schedules([path])[0]
    assert made.origin == Origin(trace=str(path))
    return made


def test_an_action_becomes_the_steps_that_bring_it_about() -> None:
    acknowledged = of("goal-0001-acknowledged")
    assert [step["do"] for step in acknowledged.steps if step["do"] != "wait"] == [
        *("start", "release", "subscribe"),
        "release",  # FinishRevocation; the response before that only began the revocation
    ]
    assert acknowledged.setup.instance is None
    lost = [step["do"] for step in of("lost-answer-while-revoking").steps]
    assert lost.count("ghost") == 1 and lost.count("release") == 1
    assert [step["do"] for step in of("fenced-while-revoking").steps].count("remove") == 1
    assert of("leave-for-good").steps[-2:] == ({"do": "close"}, {"do": "wait", "ms": 1000})
    again = [step["do"] for step in of("goal-0003-return").steps if step["do"] in ("start", "close")]
    assert again == ["start", "close", "start"] and of("goal-0003-return").setup.instance == "i"


def test_the_reference_keeps_all_rules_under_each_trace() -> None:
    result = judged("reference")
    assert result.broken == {}
    assert result.schedules == 42 and len(UNCAUGHT) == 7, "docs/clients.md has these figures"
    assert result.counts["AcknowledgesAfterCallback"] > 50 and result.counts["LosesAllWhenRemoved"] > 10
    assert "LoseCommit" in of_all_traces()[1], "an action that no step brings about is counted"


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_client_is_caught_by_a_trace(name: str) -> None:
    result = judged(f"faulty:{name}").broken
    assert (FAULTY[name][1] not in result) == (name in UNCAUGHT)
    assert all(one.origin.trace for one in result.values())


def test_the_reference_keeps_all_rules_over_sockets() -> None:
    command = [sys.executable, "-m", "harness.targets.groups.member_agent"]
    request = [of("goal-0001-acknowledged"), of("goal-0003-return")]
    result = judge_agent(Sockets(ServedCoordinator, command, 2), request, lambda _: None)
    assert (result.schedules, result.broken) == (2, {})


def conform(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parents[1])))}
    command = [sys.executable, "-m", "harness", "client", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def test_a_finding_of_a_trace_is_kept_and_seen_again(tmp_path: Path) -> None:
    client, file = "faulty:AcknowledgesAtOnce", tmp_path / "client.json"
    ended = conform(tmp_path, client, "--traces", str(MEMBERS), "--json", str(file))
    assert ended.returncode == 11, ended.stderr
    written = json.loads(file.read_text())
    [finding] = written["findings"]
    assert written["notDriven"] == {"LoseResponse": 1}
    path = finding["trace"]
    assert finding["origin"] == f"trace {path}" and f"  trace {path}; instance id" in ended.stdout
    words = shlex.split(finding["again"])
    assert words[:3] == ["conform", "client", client] and words[3:] == ["--traces", path]
    again = conform(tmp_path, *words[2:], "--no-kept")
    assert again.returncode == 11 and "AcknowledgesAfterCallback" in again.stderr
    tried = conform(tmp_path, client, "--seeds", "1")
    assert "1 kept schedule tried first: 1 still fails" in tried.stdout
    place = next((tmp_path / ".conform").glob("client-*.json"))
    kept: Any = json.loads(place.read_text())
    assert {"trace": path} in kept["kept"]
    place.write_text(json.dumps({**kept, "kept": [{"trace": "gone.itf.json"}]}))
    assert "kept" not in conform(tmp_path, client, "--seeds", "1").stdout


def test_a_finding_of_a_file_is_kept_and_dropped_with_its_file(tmp_path: Path) -> None:
    client, file = "faulty:ClosesSilently", tmp_path / "findings.json"
    file.write_text(json.dumps({"schedule": [{"do": "start", "topics": ["foo"]}]}))
    assert conform(tmp_path, client, "--findings", str(file)).returncode == 11
    assert "1 kept schedule tried first: 1 still fails" in conform(tmp_path, client, "--seeds", "1").stdout
    file.unlink()
    assert "kept schedule" not in conform(tmp_path, client, "--seeds", "1").stdout


def test_traces_of_other_models_are_a_sentence() -> None:
    with pytest.raises(ConformError, match="No trace of a closed model of consumer groups is in") as refused:
        schedules([TRACES / "classic"])
    assert refused.value.exit_code == USAGE
