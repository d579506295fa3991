"""The sample specifications, in a folder of the test's own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engines.base import Limits, Model, Result
from harness.engines.tlc import Tlc

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A writable copy of tests/data."""
    return Path(shutil.copytree(DATA, tmp_path / "specs"))


class Walks:
    """Checks the module Walk with configurations given as text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(DATA / "Walk.tla", folder)

    def check(self, config: str, limits: Limits | None = None, **args: object) -> Result:
        path = self.folder / "Walk.cfg"
        path.write_text(config)
        model = Model("Walk", self.folder / "Walk.tla", path, {"workers": 1, **args})
        return Tlc().check(model, self.folder / "walk.log", limits or Limits("512m", brief=True))


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[Walks]:
    yield Walks(tmp_path)


@pytest.fixture
def here(specs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a command is run in; specs/ below it. Apalache is not on this machine."""
    monkeypatch.chdir(specs.parent)
    monkeypatch.setenv("APALACHE_HOME", str(specs.parent))
    return specs.parent
