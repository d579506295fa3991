"""Commands in one process: one Java for all, and each with its own output and exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sparks
BASIC = Path(__file__).parents[2] / "traces/golden/basic.itf.json"


def test_commands_share_spark_and_nothing_else(tmp_path: Path) -> None:
    logs = [tmp_path / f"{name}.log" for name in ("first", "wrong", "last")]
    commands = [
        ["exhaust", "--input", str(BASIC), "--out", str(tmp_path / "first")],
        ["exhaust"],
        ["exhaust", "--input", str(BASIC), "--out", str(tmp_path / "last")],
    ]
    tasks = [{"arguments": command, "log": str(log)} for command, log in zip(commands, logs, strict=True)]
    done = subprocess.run(
        [sys.executable, "-m", "harness.pipeline", json.dumps(tasks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert [json.loads(line)["code"] for line in done.stdout.splitlines()] == [0, 2, 0], done.stderr
    texts = [log.read_text() for log in logs]
    assert "Say what to judge" in texts[1] and "Say what to judge" not in texts[0] + texts[2]
    for text in (texts[0], texts[2]):
        assert "Spark's start 0" in text, "Spark ran before"
        assert text.count("findings: none") == 1
