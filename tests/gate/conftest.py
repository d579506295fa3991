"""The wheel, built once for all workers that run tests side by side."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from wheel_parts import PARTS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources, so that the build leaves nothing in the checkout."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "wheel"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = [*folder.glob("group_conformance-*.whl")] or _built(folder)
    return result[0]


def _built(folder: Path) -> list[Path]:
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    for name in PARTS:
        here = ROOT / name
        copy = shutil.copytree if here.is_dir() else shutil.copy
        copy(here, source / name)
    stale = source / "build" / "lib" / "harness" / "gone.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("")
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([sys.executable, *words, "--wheel-dir", "../made", "."], cwd=source, check=True)
    (made,) = (folder / "made").glob("group_conformance-*.whl")
    return [made.rename(folder / made.name)]  # the folder of all has a whole wheel, or none
