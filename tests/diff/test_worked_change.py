"""The worked example of docs/change.md: its commands print the page's output, and end with its exit codes."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "change.md").read_text()
BLOCKS = re.findall(r"^```(?:sh)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(script: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """Exit code of the last command, which is of `conform` and runs in this process; the others succeed."""
    *before, command = script.splitlines()
    for line in before:
        subprocess.run(line, shell=True, check=True)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        app()
    return ended.value.code


def test_the_page_shows_what_the_change_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The branch changes no outcome; with the hash that forgets the racks its property is violated."""
    shutil.copytree(ROOT / "spec", tmp_path / "spec", ignore=shutil.ignore_patterns("evidence"))
    shutil.copytree(ROOT / "examples" / "kip-1101", tmp_path / "examples" / "kip-1101")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    compares, effects, breaks, violated = BLOCKS
    for script, shown, code in ((compares, effects, 0), (breaks, violated, 10)):
        assert run(script, monkeypatch) == code
        printed = capfd.readouterr().out
        for line in shown.splitlines():
            assert line.removesuffix(" ...").removesuffix(",") in printed
    assert (tmp_path / "build" / "check" / "MCTour.itf.json").is_file()


def test_the_page_counts_the_lines_of_the_branch() -> None:
    patch = (ROOT / "examples" / "kip-1101" / "racks.patch").read_text()
    new = len(re.findall(r"^\+(?!\+\+)", patch, re.MULTILINE))
    old = len(re.findall(r"^-(?!--)", patch, re.MULTILINE))
    files = re.findall(r"^\+\+\+ b/spec/(\S+)$", patch, re.MULTILINE)
    assert f"{new - old} new lines and {old} lines that change, in six files" in PAGE
    assert len(files) == 6
    assert all(f"`{file}`" in PAGE for file in files)
