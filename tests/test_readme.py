"""Every command of README.md works, and gives the exit code that it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [
    pytest.param(line, marks=pytest.mark.sparks) if re.search("conform exhaust|--master", line) else line
    for block in BLOCK.findall((ROOT / "README.md").read_text())
    for line in block.splitlines()
    if line.startswith(("conform ", "python -m coordinator groups"))
    and "conform.pex" not in line  # those: tests/pipeline/test_cluster.py
    and not re.search(r"conform broker |--target (broker:|mock)", line)  # tests/broker/test_broker_readme.py
    and not re.search(r"--(target|against) kafka:", line)  # tests/kafka/test_kafka_readme.py
]
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("command", COMMANDS)
def test_command_gives_what_the_readme_says(command: str) -> None:
    if command.startswith("conform graph") and not shutil.which("dot"):
        pytest.skip("graphviz (its program dot) is not on this machine")
    words = re.sub("^conform ", f"{sys.executable} -m harness ", command)
    words = re.sub("^python ", f"{sys.executable} ", words)
    ended = subprocess.run(words, shell=True, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    expected = 11 if "--dialect kafka" in command else 0
    assert ended.returncode == expected, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "target", ["all", "test", "test-sparks", "measure", "bench", "gate", "wheel", "soak"]
)
def test_make_knows_its_targets(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
