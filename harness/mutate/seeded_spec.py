"""What TLC says of a specification with a seeded bug in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.engines.base import Limits, Model, Outcome
from harness.engines.tlc import Tlc
from harness.errors import ConformError
from harness.files import read_text
from harness.manifest import read_manifest
from harness.modules import config_beside
from harness.scenario.files import explain, play_files

_MODEL: Final = re.compile(r"(\w+)(?: with (\w+) = (\S+))?")
_TIMEOUT_S: Final = 240.0


def failing(root: Path, folder: Path, check: str, brief: bool) -> str:
    """The property that a model violates, or what a golden scenario says otherwise than the specification in
    `folder`; "" if nothing is. `brief` says whether TLC is likely to find something soon."""
    return _otherwise(root, folder, check) if check.endswith(".yaml") else _violated(folder, check, brief)


def _otherwise(root: Path, folder: Path, check: str) -> str:
    played = play_files([root / check], folder / "spec")[0]
    return next((line.removeprefix(f"{root}/") for line in explain(played)), "")


def _violated(folder: Path, check: str, brief: bool) -> str:
    limits = Limits(memory="1g", timeout=_TIMEOUT_S, workers=1, brief=brief)
    result = Tlc().check(model_of(folder / "spec", check), folder / "tlc.log", limits)
    if result.outcome is Outcome.HOLDS:
        return ""
    what = f"property {result.violated}" if result.violated else result.outcome.value
    return f"{what} of {check}, after {result.length} steps"


def model_of(spec: Path, check: str) -> Model:
    """The model that a check names, with the constant that the check gives. ConformError if there is none."""
    match = _MODEL.fullmatch(check)
    if match is None:
        raise ConformError(f"The check {check!r} is not 'MODEL' or 'MODEL with CONSTANT = VALUE'.")
    name, constant, value = match.groups()
    model = read_manifest(spec / "manifest.json").entry(name).model()
    if constant is None:
        return model
    config = model.config or config_beside(model.module)
    setting = re.compile(rf"^ *{constant} (?:=|<-) .*$", re.MULTILINE)
    text, count = setting.subn(lambda _: f"  {constant} = {value}", read_text(config, "The configuration"))
    if count != 1:
        raise ConformError(f"The configuration {config.name} of {name} does not say what {constant} is.")
    smaller = spec / "smaller.cfg"
    smaller.write_text(text, encoding="utf-8")
    return Model(name, model.module, smaller)
