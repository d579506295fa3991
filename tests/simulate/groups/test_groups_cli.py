"""`conform simulate` of whole groups as users call it: output, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.simulate import command
from harness.cli.simulate_groups import Assumption
from harness.errors import ConformError
from harness.kinds.consumer.scenario.load import load_scenario


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for the run, in which failing schedules are kept."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


def test_a_seed_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "result.json"
    command(seed=3, events=400, out=tmp_path / "out", json_file=result)
    output = capsys.readouterr().out
    assert "on whole groups (python, kip-848), checked after each" in output
    assert "again: conform simulate --seed 3 --events 400\n" in output and "no violation" in output
    data = json.loads(result.read_text())
    assert (data["command"], data["mode"], data["seeds"], data["holds"]) == ("simulate", "groups", 1, True)
    assert data["events"] == sum(data["kinds"].values()) >= 400 and data["violations"] == []
    assert data["faults"].keys() >= {"crash", "fail-over", "request lost"} and sum(data["states"].values())


def test_a_violation_is_shrunk_and_can_be_seen_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "result.json"
    with pytest.raises(ConformError, match=r"^Violated: R7 NoDoubleOwnership\.$") as caught:
        command(seed=14, without=[Assumption.exemption], out=tmp_path, json_file=result)
    assert caught.value.exit_code == 11
    output = capsys.readouterr().out
    assert "again: conform simulate --seed 14 --events 5000 --without exemption\n" in output
    (violation,) = json.loads(result.read_text())["violations"]
    assert (violation["requirement"], violation["seen_in_seeds"]) == ("R7", 1)
    partition = violation["message"].split()[0]
    assert partition == "baz-0" and "start group=g" in output and "topics=[" in output
    assert f"shrunk to {len(violation['steps'])} events: {violation['schedule']}" in output
    assert {one["kind"] for one in violation["messages"]} >= {"request", "answer", "note"}
    assert all(set(one) == {"from", "to", "label", "kind"} for one in violation["messages"])
    before, after = (violation[name] for name in ("before", "after"))
    assert before != after and before.keys() == after.keys() >= {"groupEpoch", "members", "processes"}
    owners = [one["memberId"] for one in after["processes"] if partition in one["owned"]]
    assert len(owners) == 2 and all(owner in violation["message"] for owner in owners)
    scenario = load_scenario(Path(violation["scenario"]))
    assert {step.does for step in scenario.steps} == {"Request", "SessionTimeout"}

    with pytest.raises(ConformError, match=r"^Violated: R7 NoDoubleOwnership\.$"):
        command(seed=1, without=[Assumption.exemption], out=tmp_path / "again", json_file=result)
    assert capsys.readouterr().out.startswith(
        "1 kept schedule tried first: 1 still fails, nothing else was tried\nR7 NoDoubleOwnership: baz-0"
    )
    (again,) = json.loads(result.read_text())["violations"]
    assert again.keys() == violation.keys() and (again["steps"], again["seed"]) == (violation["steps"], 14)
    command(seed=1, events=50, out=tmp_path / "again")
    assert "tried first" not in capsys.readouterr().out, "with the exemption it is another dialect's"

    with pytest.raises(ConformError, match=f"after event {len(violation['steps'])}: R7, NoDouble") as caught:
        command(schedule=Path(violation["schedule"]))
    assert caught.value.exit_code == 11
    assert " -> coordinator: join" in capsys.readouterr().out


def test_a_schedule_that_holds_is_printed_as_a_story(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = {"do": "start", "who": "A", "group": "g", "topics": ["foo"], "ownId": True, "maxPollMs": 60000}
    topic = {"do": "topic", "name": "foo", "id": "00000000-0000-4000-8000-0000000000f0", "partitions": 1}
    events = [topic, start, *({"do": one, "who": "A"} for one in ("send", "deliver", "lose", "give-up"))]
    path = tmp_path / "lost.json"
    path.write_text(json.dumps({"events": [{"at": 100 * n, **event} for n, event in enumerate(events)]}))
    command(schedule=path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:5] == [
        "A -> coordinator: join, subscribes to foo",
        "coordinator -> A: epoch 1, assigned foo-0 (lost)",
        "A: give up",
    ]
    assert lines[-1] == "6 events, and the groups came to rest: no violation"
