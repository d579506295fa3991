"""Every command of README.md works, gives the exit code that README says, and prints what README shows."""

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
PAIR = re.compile(r"^```\n((?:(?!```).*\n)+)```\n\n```\n((?:(?!```).*\n)+)```$", re.MULTILINE)
"""A block of commands, and directly after it what one of them prints."""


def shown() -> dict[str, list[str]]:
    """Command -> the lines that README shows of its output: those of the last command of a block, or of the
    one with a seed."""
    found = {}
    for commands, printed in PAIR.findall((ROOT / "README.md").read_text()):
        lines = commands.splitlines()
        command = next((line for line in lines if re.search("--seed 7|exhaust MCTour", line)), lines[-1])
        found[command] = printed.splitlines()
    return found


def is_printed(lines: list[str], output: str) -> str:
    """The first line of a transcript that the output does not have, in this order; "" if it has them all.

    `...` stands for anything, and hashes of the specification may be others.
    """
    at = 0
    printed = output.splitlines()
    for line in lines:
        parts = (re.escape(part) for part in re.split(r"\.\.\.", line.rstrip()))
        pattern = re.sub(r"spec\\ [0-9a-f]{12}", "spec [0-9a-f]{12}", ".*".join(parts))
        place = next((n for n in range(at, len(printed)) if re.fullmatch(pattern, printed[n].rstrip())), None)
        if place is None:
            return line
        at = place if line.strip() == "..." else place + 1
    return ""


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
    assert not is_printed(shown().get(command, []), ended.stdout), ended.stdout


def test_transcripts_are_found_and_a_stale_figure_is_noticed() -> None:
    assert len(shown()) >= 4
    transcript = ["17 traces, 128 steps, 1 of them ...", "...", "verdict (spec 0123456789ab)"]
    printed = "17 traces, 128 steps, 1 of them on python\nother\nverdict (spec ba9876543210)\n"
    assert not is_printed(transcript, printed)
    assert is_printed(transcript, printed.replace("128", "342")) == transcript[0]
    assert is_printed([transcript[2], transcript[0]], printed) == transcript[0]


@pytest.mark.parametrize(
    "target", ["all", "test", "test-sparks", "measure", "bench", "gate", "wheel", "soak"]
)
def test_make_knows_its_targets(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
