"""`conform compare` as users call it: output, files, exit codes."""

from __future__ import annotations

import json
import re
import shlex
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
import seeded_target

from harness.cli.compare import command
from harness.errors import ConformError
from harness.simulate.report import file_name


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for the run, in which failing schedules are kept."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


OTHER = f"stdio:{sys.executable} -m coordinator --stdio"
BUG = seeded_target.target("kafka-4.2", "AwaySession", "renewed")
SIGNATURE = "LeaveTemporarily/NONE: group.timers[session].deadlineMs"


def test_each_kind_of_difference_has_a_file_of_its_own() -> None:
    deep = f"Heartbeat/NONE: group.{'x' * 90}"
    others = ("Join/NONE: response.errorCode 0 -> -1", "Join/NONE: response.errorCode 0 -> 1")
    names = {file_name(signature, 848) for signature in (*others, f"{deep}.a", f"{deep}.b")}
    assert len(names) == 4 and max(map(len, names)) <= 96
    assert file_name(others[1], 848).startswith("Join-NONE-response-errorCode-0-1-")


def test_a_simulation_without_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = tmp_path / "result.json"
    command("python", OTHER, steps=400, length=100, out=tmp_path, json_file=result)
    output = capsys.readouterr().out
    assert "runs, 400 steps compared on python (kip-848) and stdio:" in output
    assert "0 kinds of differences, in 0 runs" in output
    assert "left out: regular expressions: " in output
    again = f"again: conform compare --target python --against {shlex.quote(OTHER)}"
    assert f"{again} --steps 400 --length 100 --seed 848\n" in output
    data = json.loads(result.read_text())
    assert (data["steps"], data["seed"], data["differences"], data["found"]) == (400, 848, 0, [])
    assert sum(data["ways"].values()) == 400
    assert list(tmp_path.iterdir()) == [result]


def test_a_difference_is_explained_and_can_be_seen_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConformError, match=f"differ: {SIGNATURE.split('[')[0]}") as caught:
        command("python", BUG, "kafka-4.2", steps=3000, out=tmp_path, json_file=tmp_path / "result.json")
    assert caught.value.exit_code == 11
    output = capsys.readouterr().out
    (path,) = tmp_path.glob("LeaveTemporarily-NONE-group-timers-session-deadlineMs-*-848.json")
    assert f"shrunk to 3 operations: {path}" in output
    shown = output[output.index(SIGNATURE) :].splitlines()
    assert [line.split(" {")[0] for line in shown[2:5]] == [
        "  1. Join",
        "  2. Advance",
        "  3. LeaveTemporarily",
    ]
    assert shown[5] == f"  A is python, B is {BUG}"
    assert shown[6].startswith("  group.timers[session m") and shown[7].startswith("    A said 45")
    assert shown[-1].endswith(f"--dialect kafka-4.2 --replay {path}")
    (result,) = json.loads((tmp_path / "result.json").read_text())["found"]
    assert (result["signature"], result["file"]) == (SIGNATURE, str(path))

    with pytest.raises(ConformError, match=f"differ: {SIGNATURE.split('[')[0]}"):
        command("python", BUG, "kafka-4.2", seed=1, out=tmp_path)
    kept = capsys.readouterr().out
    assert kept.startswith("1 kept schedule tried first: 1 still fails, nothing else was tried\n1 runs, 3 ")
    assert "  kept from an earlier run; shrunk to 3 operations: " in kept

    again = tmp_path / "again.json"
    with pytest.raises(ConformError, match="differ after operation 3 of ") as caught:
        command("python", BUG, "kafka-4.2", schedule=path, json_file=again)
    assert caught.value.exit_code == 11
    assert capsys.readouterr().out.splitlines()[3:] == shown[5:-1]
    (repeated,) = json.loads(again.read_text())["found"]
    assert repeated["differences"] == result["differences"] and repeated["file"] == str(path)
    command("python", f"{OTHER} --dialect kafka-4.2", "kafka-4.2", schedule=path, json_file=again)
    assert capsys.readouterr().out == "3 of 3 operations, no difference\n"
    assert json.loads(again.read_text())["steps"] == 3


def test_a_waived_difference_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waivers = tmp_path / "waivers.toml"
    expires = date.today() + timedelta(days=2)
    waivers.write_text(f'[[waiver]]\nsignature = "{SIGNATURE}"\nreason = "issue 17"\nexpires = {expires}\n')
    command("python", BUG, "kafka-4.2", steps=1500, out=tmp_path, waivers=waivers)
    assert "issue 17: " in capsys.readouterr().out
    with pytest.raises(ConformError, match="covers nothing") as caught:
        command("python", "python", "kafka-4.2", steps=50, out=tmp_path, waivers=waivers)
    assert caught.value.exit_code == 11


def test_an_impossible_run_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="There is no target 'nobody'") as caught:
        command("python", "nobody", out=tmp_path)
    assert caught.value.exit_code == 2
    with pytest.raises(ConformError, match=r"The schedule .* does not exist") as caught:
        command("python", "python", schedule=tmp_path / "none.json")
    assert caught.value.exit_code == 2
    with pytest.raises(ConformError, match=r"speaks the dialect 'kip-848', not 'kafka-4\.2'") as caught:
        command("python", OTHER, "kafka-4.2", out=tmp_path)


def test_a_target_that_fails_is_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dies = f"stdio:{sys.executable} -c " + shlex.quote(
        "import sys\n"
        "from coordinator import Coordinator\n"
        "from coordinator.stdio import serve\n"
        "lines = (sys.stdin.readline().encode() for _ in range(20))\n"
        "for answer in serve(Coordinator(), lines): print(answer, flush=True)"
    )
    with pytest.raises(ConformError, match=r"(?s)Run 1, operation .* closed its output") as caught:
        command("python", dies, out=tmp_path, json_file=tmp_path / "result.json")
    assert caught.value.exit_code == 3
    assert json.loads((tmp_path / "result.json").read_text())["failed"] == caught.value.message
    path = tmp_path / "failed-848.json"
    assert f"--replay {path}\n" in capsys.readouterr().out
    with pytest.raises(ConformError, match="closed its output") as caught:
        command("python", dies, schedule=path)
    assert caught.value.exit_code == 3
    command("python", OTHER, schedule=path)
    assert re.fullmatch(r"(\d+) of \1 operations, no difference\n", capsys.readouterr().out)
