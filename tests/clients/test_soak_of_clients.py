"""The evidence of many schedules: its content, and its end when the code changes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.clients.judge import Breach, Judged
from harness.errors import ConformError
from harness.sources import verify

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests/clients/soak.py"


def soak() -> Any:
    """The program as a module; another folder of the tests has one of the same name."""
    spec = importlib.util.spec_from_file_location("soak_of_clients", PROGRAM)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_result_becomes_evidence_until_the_code_changes(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    words = ["--seeds", "30", "--sockets", "1", "--evidence", str(path)]
    done = subprocess.run([sys.executable, str(PROGRAM), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    evidence = json.loads(path.read_text())
    assert (evidence["simulated"]["schedules"], evidence["sockets"]["schedules"]) == (30, 1)
    assert {"coordinator/members/consumer/machine.py", "harness/clients/rules.py"} <= evidence["files"].keys()
    module = soak()
    assert verify(path, module.hashes()) == 0
    evidence["files"]["coordinator/members/consumer/machine.py"] = "another"
    path.write_text(json.dumps(evidence))
    assert verify(path, module.hashes()) == 12
    assert verify(tmp_path / "none.json", module.hashes()) == 12


def test_a_breach_is_no_evidence() -> None:
    breach = Breach("H2", "LeavesWhenClosed", "closes without leaving the group", 7)
    with pytest.raises(ConformError, match="seed 3: H2 LeavesWhenClosed"):
        soak().counted([(3, Judged((breach,), {}))])
