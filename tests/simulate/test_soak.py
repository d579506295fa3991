"""The evidence of long simulations: what it says, and that it does not outlive the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import seeded_target
import soak

from harness.sources import verify

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, str(ROOT / "tests" / "simulate" / "soak.py")]


def test_a_result_becomes_evidence_until_the_code_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "evidence.json"
    words = ["--against", "python", "--steps", "120", "--seed", "7", "--evidence", str(path)]
    done = subprocess.run([*PROGRAM, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    evidence = json.loads(path.read_text())
    assert (evidence["steps"], evidence["seed"], evidence["differences"]) == (120, 7, 0)
    assert sum(evidence["ways"].values()) == 120
    assert {"coordinator/consumer/reconcile.py", "harness/simulate/generate.py"} <= evidence["files"].keys()
    assert any(name.endswith("MemoryLog.java") for name in evidence["files"])

    assert verify(path, soak.hashes()) == 0
    evidence["files"]["coordinator/consumer/reconcile.py"] = "another"
    path.write_text(json.dumps(evidence))
    assert verify(path, soak.hashes()) == 12
    assert "changed since are coordinator/consumer/reconcile.py" in capsys.readouterr().out
    assert verify(tmp_path / "none.json", soak.hashes()) == 12


def test_a_difference_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    bug = seeded_target.target("kafka-4.2", "MetadataChange", "at-once")
    words = ["--against", bug, "--steps", "500", "--evidence", str(path)]
    done = subprocess.run([*PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 11 and re.search(r"differ: (ChangeTopics|FailOver): group\.", done.stderr)
    assert not path.exists()
