"""The account of processes, and the edit that the benchmark of `make` does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.account import account
from benchmarks.make import EDITED

ROOT = Path(__file__).parents[2]
BURN = "import time\nwhile time.process_time() < 0.4: pass"
LEAVES = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}]); sys.exit(3)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt what is left over")
def test_a_process_that_nobody_waits_for_counts(tmp_path: Path) -> None:
    taken = account([sys.executable, "-c", LEAVES], tmp_path / "log")
    assert taken.cpu_s >= 0.4, "what was left over used that much"
    assert taken.exit_code == 3


def test_the_output_of_a_command_goes_to_the_log(tmp_path: Path) -> None:
    words = "import os, sys; print(os.getcwd()); print('no', file=sys.stderr)"
    assert account([sys.executable, "-c", words], tmp_path / "log", tmp_path).exit_code == 0
    assert sorted((tmp_path / "log").read_text().splitlines()) == sorted([str(tmp_path), "no"])


def test_the_operator_that_is_edited_is_there() -> None:
    file, before, after = EDITED
    text = (ROOT / file).read_text(encoding="utf-8")
    assert text.count(before) == 1 and after not in text
