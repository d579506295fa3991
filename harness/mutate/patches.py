"""Seeded bugs: patches that must each be caught, or the checks see less than they should.

A seeded bug is a unified diff of the folder `coordinator` or `spec`, which is also the name of the folder
that its file is in, below a header of these lines:

    Bug: one sentence.
    Requirement: R4
    Real bug: 3
    Check: replay

`Real bug` is a row of the list of bugs that real implementations shipped, and may be left out. `Check` says
what must catch the bug: `replay` (of the golden traces and the corpus, or of the folders named behind it, as
in `replay traces/client`), tests as pytest names them, or, for the specification, a model of the manifest,
perhaps with a constant that makes the model small (`MCOpen with MaxEpoch = 2`), or a golden scenario
(`traces/golden/basic.yaml`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import ConformError
from harness.files import read_text

FOLDER: Final = Path("tests/mutants")
"""The patches' folder in the repository: FOLDER/coordinator and FOLDER/spec."""
TARGETS: Final = ("coordinator", "spec")
REPLAY: Final = "replay"
REPLAYED: Final = ("traces/golden", "traces/corpus")
"""The traces of a replay without named folders."""
_HEADER: Final = ("Bug", "Requirement", "Real bug", "Check")
_CHANGED: Final = re.compile(r"^\+\+\+ b/(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Patch:
    """A seeded bug with its header; `target` is the folder that the patch changes, coordinator or spec."""

    path: Path
    bug: str
    requirement: str
    real_bug: int | None
    check: str

    @property
    def target(self) -> str:
        return self.path.parent.name

    @property
    def changed(self) -> list[str]:
        """The files that the patch changes, from the folder of the repository."""
        return _CHANGED.findall(read_text(self.path, "The patch"))


def read_patch(path: Path) -> Patch:
    """Read the header of a patch. ConformError that names the line that is missing or wrong."""
    header, _, patch = read_text(path, "The patch").partition("\n\n")
    lines = dict(line.partition(": ")[::2] for line in header.splitlines())
    for name in _HEADER:
        if not lines.get(name) and name != "Real bug":
            raise ConformError(f"The patch {path} has no line '{name}: …' at its top.")
    if unknown := sorted(set(lines) - set(_HEADER)):
        raise ConformError(f"The patch {path} has the line '{unknown[0]}'; known are {', '.join(_HEADER)}.")
    row = lines.get("Real bug", "")
    if row and not row.isdecimal():
        raise ConformError(f"'Real bug' of the patch {path} must be the number of a row, not {row!r}.")
    if not patch.startswith(f"--- a/{path.parent.name}/"):
        raise ConformError(f"The patch {path} does not change {path.parent.name}/ below an empty line.")
    return Patch(path, lines["Bug"], lines["Requirement"], int(row) if row else None, lines["Check"])


def all_patches(root: Path, target: str) -> list[Patch]:
    """All seeded bugs of a folder, in the order of their files' names."""
    return [read_patch(path) for path in sorted((root / FOLDER / target).glob("*.patch"))]


def apply_patch(patch: Patch, folder: Path) -> None:
    """Put the bug into the copy in `folder`. ConformError if the patch does not apply."""
    # git would take the paths of the patch from a repository above the folder, if there were one
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    command = ["git", "apply", "--whitespace=nowarn", str(patch.path.resolve())]
    applied = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if applied.returncode:
        raise ConformError(
            f"The patch {patch.path} does not apply any more: make it anew for {patch.target}/ as it is now "
            f"({'; '.join(applied.stderr.splitlines())})."
        )


def copy_with(patch: Patch | None, root: Path, target: str, folder: Path) -> None:
    """Copy a folder of the repository into `folder`, with the bug if one is given. ConformError as of
    `apply_patch`."""
    unneeded = shutil.ignore_patterns("__pycache__", "evidence")
    shutil.copytree(root / target, folder / target, ignore=unneeded)
    if patch:
        apply_patch(patch, folder)
