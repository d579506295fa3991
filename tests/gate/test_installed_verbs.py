"""Verbs of the kit from a wheel, in an empty folder: no checkout is at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.main import VERBS
from harness.errors import EVIDENCE_MISSING, HOLDS, USAGE

COMMANDS = (
    ("check MCTour", HOLDS, "1 recorded on"),
    ("replay traces/golden/basic.itf.json --record build/basic.jsonl", HOLDS, "0 differences"),
    ("validate build/basic.jsonl", HOLDS, "a behaviour of the specification"),
    ("scenario traces/golden/basic.yaml", HOLDS, "as written"),
    ("scenario traces/golden/basic.yaml --rewrite", USAGE, "copy the scenario, and name the copy"),
    ("generate MCSmall --simulate 1 --out build/traces", HOLDS, "1 trace"),
    ("graph --trace traces/golden/basic.itf.json --sequence", HOLDS, "basic-sequence.svg"),
    ("shrink traces/golden/basic.itf.json", USAGE, "The trace traces/golden/basic.itf.json does not fail"),
    ("diff MCTour MCTour", HOLDS, "the two versions say the same"),
    ("dialects", HOLDS, "kafka-4.2"),
    ("doctor", HOLDS, "level: loadable"),
    ("identify", HOLDS, "kip-848"),
    ("client reference --seeds 1", HOLDS, "no rule broken"),
    ("simulate --seeds 1 --events 100", HOLDS, "no violation"),
    ("compare --target python --against python --steps 20", HOLDS, "0 kinds of differences"),
    ("gate --only evidence", HOLDS, "gate: everything holds"),
    ("report", EVIDENCE_MISSING, "There is no result of `conform exhaust`"),
    ("coverage", HOLDS, "arms are reached"),
    ("broker --help", HOLDS, "up"),
    ("proxy --help", HOLDS, "conform proxy"),
    ("exhaust --help", HOLDS, "conform exhaust MCTour"),
)
"""The commands in their order: a command may read files of an earlier command. The words are a part of the
output."""
NEED_MORE = {"mutate"}
"""`conform mutate` changes the sources of a checkout."""


def test_each_verb_works_from_the_wheel_in_an_empty_folder(tmp_path: Path, wheel: Path) -> None:
    site, here = tmp_path / "site", tmp_path / "here"
    here.mkdir()
    words = ["pip", "install", "--quiet", "--offline", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "uv", *words, str(wheel)], check=True)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    assert {command.split()[0] for command, _, _ in COMMANDS} | NEED_MORE == set(VERBS)
    place = "import harness; print(harness.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", place], cwd=here, env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith(str(site))
    for command, code, printed in COMMANDS:
        ended = subprocess.run(
            [sys.executable, "-m", "harness", *command.split()],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
        )
        output = ended.stdout + ended.stderr
        assert (ended.returncode, printed in output) == (code, True), f"conform {command}\n{output}"


@pytest.mark.parametrize("name", ["traces/golden/none.itf.json", "traces/none", "spec/MCNone.tla"])
def test_a_file_outside_the_package_is_named_as_typed(name: str, tmp_path: Path) -> None:
    verb = "check" if name.endswith(".tla") else "replay"
    words = [sys.executable, "-m", "harness", verb, name]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == USAGE
    assert f"{name} does not exist" in ended.stderr
