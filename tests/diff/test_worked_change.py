"""The worked example of docs/change.md: its commands print what the page shows, and end as the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "change.md").read_text()
BLOCKS = re.findall(r"^```(sh)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=place,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )


def test_the_page_shows_what_the_change_does(tmp_path: Path) -> None:
    """The branch changes no outcome; with the hash that forgets the racks its property is violated."""
    shutil.copytree(ROOT / "spec", tmp_path / "spec", ignore=shutil.ignore_patterns("evidence"))
    shutil.copytree(ROOT / "examples" / "kip-1101", tmp_path / "examples" / "kip-1101")
    (tmp_path / "build").mkdir()
    (_, compares), (_, effects), (_, breaks), (_, violated) = BLOCKS
    for script, shown, code in ((compares, effects, 0), (breaks, violated, 10)):
        done = run(script, tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        for line in shown.splitlines():
            assert line.removesuffix(" ...").removesuffix(",") in done.stdout
    assert (tmp_path / "build" / "check" / "MCTour.itf.json").is_file()


def test_the_page_counts_the_lines_of_the_branch() -> None:
    patch = (ROOT / "examples" / "kip-1101" / "racks.patch").read_text()
    new = len(re.findall(r"^\+(?!\+\+)", patch, re.MULTILINE))
    old = len(re.findall(r"^-(?!--)", patch, re.MULTILINE))
    files = re.findall(r"^\+\+\+ b/spec/(\S+)$", patch, re.MULTILINE)
    assert f"{new - old} new lines and {old} lines that change, in six files" in PAGE
    assert len(files) == 6
    assert all(f"`{file}`" in PAGE for file in files)
