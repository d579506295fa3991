"""`conform client`: the table, the shortest schedule of a finding, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def conform(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.run(
        [sys.executable, "-m", "harness", "client", *words, "--no-kept"],
        capture_output=True,
        text=True,
        env=environment,
    )


def test_the_reference_breaks_no_rule() -> None:
    ended = conform("reference", "--seeds", "20")
    assert ended.returncode == 0, ended.stderr
    assert "reference: 20 schedules, no rule broken" in ended.stdout


def test_a_finding_has_its_rule_and_the_shortest_schedule(tmp_path: Path) -> None:
    """The faulty client closes without a leave (H2); joining and closing are enough to see it."""
    file = tmp_path / "client.json"
    ended = conform("faulty:ClosesSilently", "--seeds", "20", "--json", str(file))
    assert ended.returncode == 11
    assert "H2 LeavesWhenClosed: A consumer that closes leaves with epoch -1" in ended.stdout
    assert "faulty:ClosesSilently breaks LeavesWhenClosed." in ended.stderr
    [finding] = json.loads(file.read_text())["findings"]
    assert [step["do"] for step in finding["schedule"]] == ["start"]


def test_a_schedule_keeps_the_steps_that_matter(tmp_path: Path) -> None:
    """The error must be answered to a heartbeat after the join; the release of the callback is what sends
    one before the faults end."""
    file = tmp_path / "client.json"
    assert conform("faulty:StaysWithTheCoordinator", "--seeds", "20", "--json", str(file)).returncode == 11
    [finding] = json.loads(file.read_text())["findings"]
    assert {(step["do"], step.get("error")) for step in finding["schedule"]} >= {("refuse", 16)}
    assert [step["do"] for step in finding["schedule"]] == ["start", "wait", "refuse", "release"]


def test_a_client_that_does_not_exist_is_a_sentence() -> None:
    for name, given in (
        ("nobody", "There is no client 'nobody'. Name `reference`, or MODULE:CLASS.\n"),
        ("referense", "Did you mean reference?"),
        ("json:dumps", "is no subclass of"),
        ("faulty:ClosesSilentlly", "has no class 'ClosesSilentlly'. Did you mean ClosesSilently?"),
    ):
        ended = conform(name)
        assert ended.returncode == 2
        assert given in ended.stderr


def test_the_schedules_of_findings_are_run_again(tmp_path: Path) -> None:
    """The findings of one version of a client are schedules for the next: here for one without the fault."""
    before, pictures = tmp_path / "before.json", tmp_path / "pictures"
    faulty = ("faulty:ClosesSilently", "--seeds", "20", "--json", str(before), "--pictures", str(pictures))
    assert conform(*faulty).returncode == 11
    assert {path.name for path in pictures.iterdir()} == {"LeavesWhenClosed.mmd", "LeavesWhenClosed.svg"}
    again = conform(
        "faulty:ClosesSilently", "--findings", str(before), "--json", str(tmp_path / "again.json")
    )
    assert again.returncode == 11
    [line] = [line for line in again.stdout.splitlines() if line.startswith(f"  schedule 1 of {before}; ")]
    assert line.endswith("; its schedule:"), "a schedule of a file is not shortened"
    [finding] = json.loads((tmp_path / "again.json").read_text())["findings"]
    assert finding["again"] == f"conform client faulty:ClosesSilently --findings {before}"
    mended = conform("reference", "--findings", str(before))
    assert mended.returncode == 0
    assert "reference: 1 schedule, no rule broken" in mended.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no JSON", "is not JSON or is cut off"),
        ("{}", 'there is no list "schedule"'),
        ('{"schedule": [{"do": "wait"}]}', 'step 1 is {"do": "wait"}; the fields of wait are do, ms (int)'),
        ('{"schedule": [{"do": "sleep", "ms": 1}]}', 'a step has "do": one of start, subscribe, wait'),
        ('{"schedule": [{"do": "start", "topics": ["baz"]}]}', "the topics are foo, bar"),
        ('{"schedule": [{"do": "start", "topics": [["foo"]]}]}', "the topics are foo, bar"),
        ('{"schedule": [{"do": "start", "topics": []}]}', "subscribes to []; the topics are foo, bar"),
        (
            '{"schedule": [{"do": "refuse", "error": 42, "times": 1}]}',
            "step 1 refuses with 42; a client goes on after 14, 15, 16, 25, 110",
        ),
        ('{"schedule": [{"do": "lose", "what": "all"}]}', "a request or an answer can be lost"),
        ('{"schedule": [{"do": "wait", "ms": -1}]}', "ms is from 0 to 10000000"),
        ('{"schedule": [{"do": "wait", "ms": 10000001}]}', "ms is from 0 to 10000000"),
        ('{"schedule": [{"do": "release"}]}', "is a start, so nothing would run"),
        ('{"findings": []}', "there is no finding, so no schedule to run"),
        ('{"schedule": [{"do": "release"}], "instance": 1}', '"instance" is a string that is not empty'),
        ('{"schedule": [{"do": "release"}], "instance": ""}', '"instance" is a string that is not empty'),
        ('{"findings": 7}', "it is no JSON object"),
    ],
)
def test_a_file_without_findings_is_a_sentence(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "findings.json").write_text(content)
    ended = conform("reference", "--findings", str(tmp_path))
    assert ended.returncode == 2
    assert message in ended.stderr


def test_a_folder_without_findings_is_a_sentence(tmp_path: Path) -> None:
    ended = conform("reference", "--findings", str(tmp_path))
    assert (ended.returncode, ended.stderr) == (2, f"conform: {tmp_path} has no JSON file with findings.\n")
