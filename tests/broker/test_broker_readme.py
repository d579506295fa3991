"""The commands of docs/targets.md for live brokers, as written, on another port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from needed_jars import needs_jars

from harness.errors import NOT_CONFORMANT
from harness.targets.broker.local import free_port

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/targets.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^conform (broker .*|.*--target (?:broker:|mock).*)$", TEXT, re.MULTILINE)
MOCK = [command for command in COMMANDS if "--target mock" in command]
BROKER = [command for command in COMMANDS if command not in MOCK]


def run(command: str, state: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    words = [sys.executable, "-m", "harness", *command.split()]
    return subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.maven
def test_a_broker_goes_up_is_judged_and_goes_down(tmp_path: Path) -> None:
    needs_jars("4.2.1")
    port = str(free_port())
    up, wait, replay, down = (command.replace("9092", port) for command in BROKER)
    try:
        started = run(up, tmp_path)
        assert started.stdout == f"broker:127.0.0.1:{port}\n", started.stderr
        # Kafka departs from KIP-848's text, whose case studies these are.
        judged = run(replay, tmp_path)
        assert judged.returncode == NOT_CONFORMANT, judged.stderr
        assert "not compared, because the target does not show it: " in judged.stdout
        waited = run(wait, tmp_path)
        assert waited.returncode == 0, waited.stderr
        assert "\n  kafka-4.2\n  undecided, for want of a probe" in waited.stdout
        assert " for 3 timers; 1 trace ends before a timer" in waited.stdout
    finally:
        assert run(down, tmp_path).returncode == 0


@pytest.mark.parametrize("command", MOCK)
def test_the_mock_is_judged(command: str, tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="the target mock needs confluent-kafka")
    judged = run(command, tmp_path)
    assert judged.returncode == NOT_CONFORMANT, judged.stderr
    assert "response.memberEpoch (E3)\n    expected 1\n    got      2\n" in judged.stdout


def test_there_are_commands() -> None:
    assert (len(BROKER), len(MOCK)) == (4, 1)
