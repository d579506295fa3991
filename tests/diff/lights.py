"""A counter of ten lines and edits of it, of which every difference is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from harness.cli.main import app

MODULE = """---- MODULE Light ----
EXTENDS Naturals
VARIABLES at, step
Says(action, response) == step' = [action |-> action, response |-> response]
Init == at = 0 /\\ step = [action |-> "Init", response |-> ""]
Up == at' = at + 1 /\\ Says("Up", "ok")
Down == at > 0 /\\ at' = at - 1 /\\ Says("Down", "ok") \\* back to where it came from
Reset == at = 2 /\\ at' = 0 /\\ Says("Reset", "ok")
Next == Up \\/ Down \\/ Reset
Bounded == Next /\\ at' <= 3
Spec == Init /\\ [][Bounded]_<<at, step>>
AtMostThree == at <= 3
AtMostTwo == at <= 2
NeverZeroAgain == [][at' # 0]_<<at, step>>
====
"""
CONFIG = "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"
REFUSES = {
    "Up == at' = at + 1 /\\ Says": 'Up == IF at = 2 THEN UNCHANGED at /\\ Says("Up", "full")\n'
    "  ELSE at' = at + 1 /\\ Says"
}
"""At 2 the light does not go up."""


def light(folder: Path, edit: Mapping[str, str] | None = None, config: str = CONFIG) -> Path:
    """The module, edited, with a configuration beside it, in a new folder."""
    folder.mkdir(parents=True)
    text = MODULE
    for old, new in (edit or {}).items():
        assert old in text
        text = text.replace(old, new)
    (folder / "Light.tla").write_text(text)
    (folder / "Light.cfg").write_text(config)
    return folder / "Light.tla"


def conform(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in ("diff", *words)])


def diff(folder: Path, a: object, b: object, *options: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON and output of `conform diff`."""
    file = folder / "diff.json"
    ended = conform(a, b, *options, "--out", folder / "out", "--json", file, "--memory", "512m")
    assert ended.exit_code in (0, 10), ended.output
    return ended.exit_code, json.loads(file.read_text()), ended.output
