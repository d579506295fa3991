"""The documents' commands on Kafka's own coordinator, as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import all_text
from kafka_driver import skip_without_jars

from harness.errors import HOLDS, NOT_CONFORMANT

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^conform (.*--(?:target|against) kafka:.*)$", all_text(), re.MULTILINE)
ENDS = {
    "doctor": (HOLDS, "loadable"),
    "replay traces/golden": (NOT_CONFORMANT, "\ncause 1, the most serious: "),
    "replay traces/dialects": (HOLDS, "0 differences"),
    "replay traces/kafka": (HOLDS, "0 differences"),
    "compare": (HOLDS, "0 kinds of differences"),
    "identify": (HOLDS, "kafka-4.2"),
}


def end(command: str) -> str:
    return next(beginning for beginning in ENDS if command.startswith(beginning))


@pytest.mark.maven
@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_the_readme(command: str) -> None:
    skip_without_jars(re.findall(r"kafka:(\S+)", command)[0])
    words = command.split()
    done = subprocess.run([sys.executable, "-m", "harness", *words], cwd=ROOT, capture_output=True, text=True)
    exit_code, given = ENDS[end(command)]
    assert done.returncode == exit_code, done.stderr
    assert given in done.stdout


def test_there_are_commands() -> None:
    assert {end(command) for command in COMMANDS} == ENDS.keys()
