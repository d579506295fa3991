"""The sample specifications, in a folder of the test's own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from walk_models import DATA, Walks


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A writable copy of tests/data."""
    return Path(shutil.copytree(DATA, tmp_path / "specs"))


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[Walks]:
    yield Walks(tmp_path)


@pytest.fixture
def here(specs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a command is run in; specs/ below it. Apalache is not on this machine."""
    monkeypatch.chdir(specs.parent)
    monkeypatch.setenv("APALACHE_HOME", str(specs.parent))
    return specs.parent
