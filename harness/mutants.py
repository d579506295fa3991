"""Seeded bugs: patches that must each be caught, or the checks see less than they should.

A mutant is a unified diff of the folder `coordinator` or `spec`, which is also the name of the folder that
it is in, below a header of these lines:

    Bug: one sentence.
    Requirement: R4
    Real bug: 3
    Check: replay

`Real bug` is a row of the list of bugs that real implementations shipped, and may be left out. `Check` says
what must catch the mutant: `replay` (of all traces given, or of the folders named behind it, as in
`replay traces/client`), tests as pytest names them, or, for the specification, a model of the manifest,
perhaps with a constant that makes it small (`MCOpen with MaxEpoch = 2`), or a golden scenario
(`traces/golden/basic.yaml`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.engines.base import Limits, Model, Outcome
from harness.engines.tlc import Tlc
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, ConformError
from harness.files import read_text
from harness.manifest import read_manifest
from harness.modules import config_beside
from harness.scenario.files import explain, play_files

FOLDER: Final = Path("tests/mutants")
"""Where the mutants are in the repository: FOLDER/coordinator and FOLDER/spec."""
REPLAY: Final = "replay"
_HEADER: Final = ("Bug", "Requirement", "Real bug", "Check")
_MODEL: Final = re.compile(r"(\w+)(?: with (\w+) = (\S+))?")
_TIMEOUT_S: Final = 120
_TESTS_FAILED: Final = 1
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) \S*?(tests/.+?)(?: - .*)?$", re.MULTILINE)
"""The first of what pytest sums up, without the way to the repository."""
"""The exit code of pytest when tests ran and some failed."""


@dataclass(frozen=True)
class Mutant:
    """One patch and what its header says; `target` is the folder that it changes, coordinator or spec."""

    path: Path
    bug: str
    requirement: str
    real_bug: int | None
    check: str

    @property
    def target(self) -> str:
        return self.path.parent.name


def read_mutant(path: Path) -> Mutant:
    """Read the header of a patch. ConformError that names the line that is missing or wrong."""
    header, _, patch = read_text(path, "The mutant").partition("\n\n")
    lines = dict(line.partition(": ")[::2] for line in header.splitlines())
    for name in _HEADER:
        if not lines.get(name) and name != "Real bug":
            raise ConformError(f"The mutant {path} has no line '{name}: …' at its top.")
    if unknown := sorted(set(lines) - set(_HEADER)):
        raise ConformError(f"The mutant {path} has the line '{unknown[0]}'; known are {', '.join(_HEADER)}.")
    row = lines.get("Real bug", "")
    if row and not row.isdecimal():
        raise ConformError(f"'Real bug' of the mutant {path} must be the number of a row, not {row!r}.")
    if not patch.startswith(f"--- a/{path.parent.name}/"):
        raise ConformError(f"The mutant {path} has no patch of {path.parent.name}/ below an empty line.")
    return Mutant(path, lines["Bug"], lines["Requirement"], int(row) if row else None, lines["Check"])


def caught_by(root: Path, traces: Sequence[Path], target: str, check: str, mutant: Mutant | None) -> str:
    """What fails of a check on a copy of `target` with the bug of the mutant, if one is given; "": nothing.

    `root` is the folder of the repository, `traces` what `replay` replays. ConformError if the patch does
    not apply or the check could not be made.
    """
    with tempfile.TemporaryDirectory(prefix="conform-mutant-") as name:
        folder = Path(name)
        unneeded = shutil.ignore_patterns("__pycache__", "evidence")
        shutil.copytree(root / target, folder / target, ignore=unneeded)
        if mutant:
            apply_patch(mutant, folder)
        if target == "spec":
            if check.endswith(".yaml"):
                return _otherwise(root, folder, check)
            return _violated(folder, check, brief=mutant is not None)
        if check.startswith(REPLAY):
            named = [root / word for word in check.split()[1:]]
            return _difference(root, folder, named or traces)
        return failed_tests(root, folder, check.split())


def apply_patch(mutant: Mutant, folder: Path) -> None:
    """Put the bug into the copy that is in `folder`. ConformError if the patch does not apply."""
    # git would take the paths of the patch from a repository above the folder, if there were one
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    command = ["git", "apply", "--whitespace=nowarn", str(mutant.path.resolve())]
    applied = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if applied.returncode:
        raise ConformError(
            f"The mutant {mutant.path} does not apply any more: make its patch anew for {mutant.target}/ as "
            f"it is now ({'; '.join(applied.stderr.splitlines())})."
        )


def _run(root: Path, folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A Python program that has the coordinator of `folder` and all else of the repository."""
    try:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(root.resolve()), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise ConformError(
            f"`python -m {' '.join(arguments)}` on a mutant took more than {_TIMEOUT_S} s.", ENGINE_FAILED
        ) from None


def _difference(root: Path, folder: Path, traces: Sequence[Path]) -> str:
    """The first difference of a replay: its step, path, expected and got."""
    paths = [str(path.resolve()) for path in traces]
    ended = _run(root, folder, ["harness", "replay", *paths, "--max-differences", "1"])
    if ended.returncode not in (0, NOT_CONFORMANT):
        raise ConformError(f"Replaying on a mutant failed: {ended.stderr.strip()}", ENGINE_FAILED)
    if ended.returncode == 0:
        return ""
    _, _, report = ended.stdout.partition("first difference:\n")
    step, *lines = report.splitlines()
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith("expected "))
    difference = " ".join(" ".join(lines[at - 1 : at + 2]).split())
    return f"{step.removeprefix(f'{root.resolve()}/')}: {difference}"


def failed_tests(root: Path, folder: Path, tests: list[str]) -> str:
    """The first that fails of the tests of the repository in `root`, on what is in `folder`; "" if none does.

    ConformError if they could not be run, or take too long.
    """
    # the repository itself must not come before the folder: pyproject.toml puts it first
    # a failure ends them, and is not explained: half of the time would go into rewriting what asserts
    options = ["-q", "-x", "--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-o", "pythonpath="]
    ended = _run(
        root,
        folder,
        ["pytest", *options, "--hypothesis-seed=0", *(str(root.resolve() / test) for test in tests)],
    )
    if ended.returncode not in (0, _TESTS_FAILED):
        raise ConformError(f"The tests {', '.join(tests)} could not be run: {ended.stdout.strip()}")
    failed = _FAILED.search(ended.stdout)
    return failed[1] if failed else " ".join(tests) if ended.returncode else ""


def _otherwise(root: Path, folder: Path, check: str) -> str:
    """What a golden scenario says otherwise than the specification in the folder."""
    played = play_files([root / check], folder / "spec")[0]
    return next((line.removeprefix(f"{root}/") for line in explain(played)), "")


def _violated(folder: Path, check: str, brief: bool) -> str:
    """The property that TLC finds violated, and after how many steps: `brief` says whether that is soon."""
    model = _model(folder / "spec", check)
    limits = Limits(memory="1g", timeout=_TIMEOUT_S, workers=1, brief=brief)
    result = Tlc().check(model, folder / "tlc.log", limits)
    if result.outcome is Outcome.HOLDS:
        return ""
    what = f"property {result.violated}" if result.violated else result.outcome.value
    return f"{what} of {check}, after {result.length} steps"


def _model(spec: Path, check: str) -> Model:
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
