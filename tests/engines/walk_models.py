"""A small module of random walks, checked with configurations that tests write."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.engines.base import Limits, Model, Result
from harness.engines.tlc import Tlc

DATA = Path(__file__).parent.parent / "data"


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
