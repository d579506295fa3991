"""The package for a cluster's workers, on executors that are processes of their own: README's commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from quick_java import quick_java

ROOT = Path(__file__).parents[2]
COMMANDS = [
    line
    for line in (ROOT / "docs/exhaust.md").read_text().splitlines()
    if "conform.pex" in line and line.startswith(("conform ", "spark-submit "))
]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module", autouse=True)
def package() -> None:
    """`make package`, which asks the package index only for the packages that build the wheel."""
    made = subprocess.run(
        ["make", "package", f"BIN={BIN}", f"VENV={BIN}", "-o", f"{BIN}/ready"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=[command.partition(" ")[0] for command in COMMANDS])
def test_workers_of_a_cluster_run_the_package(command: str, tmp_path: Path) -> None:
    """Two executors, which have neither this Python nor this folder, judge every step of a small model."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= quick_java() | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PEX_ROOT": str(tmp_path / "pex"),
    }
    output = tmp_path / "tables"
    words = command.rpartition(" --out ")[0] + f" --out {output.as_uri()}"
    ended = subprocess.run(words, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "7,285 steps over 312 coordinator states hold" in ended.stdout
    assert list((tmp_path / "pex").glob("installed_wheels/*/*/group_conformance-*")), "the workers' own"


def test_readme_has_both_commands() -> None:
    assert [command.partition(" ")[0] for command in COMMANDS] == ["conform", "spark-submit"]
