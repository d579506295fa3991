"""The choice of the recorded results that the gate computes anew, so that a record is no way to check
nothing.

Every record that a change adds or alters against its base is computed, and of the others the tenth whose turn
it is: ten commits in a row compute each of them once. Models that take longer than `LONGEST` are listed in
place of that; `make soak` computes those, too. Where git cannot tell the change, in a shallow clone say, no
recorded result of the tier is taken.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.evidence import evidence_file
from harness.files import read_text
from harness.manifest import Entry, Manifest

LONGEST: Final = 300
"""Seconds, from the manifest."""
TURNS: Final = 10
BRANCHES: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Branches on which a change may have begun; the first that exists is taken."""
_SAYS: Final = ("entry", "engine", "version", "args", "arguments", "definitions", "facts", "log_sha256")
_ENVIRONMENT: Final = "CONFORM_BASE"


@dataclass(frozen=True)
class Change:
    """The change at hand, as git knows it.

    `altered` are the files of a folder that differ from `base`, committed or not, or None where git cannot
    tell; `commits` is the number of commits up to here.
    """

    base: str
    altered: frozenset[Path] | None
    commits: int


def change_of(folder: Path) -> Change:
    """The change of the files in a folder, against $CONFORM_BASE, or the commit where this branch left
    another, or else the commit before."""
    named = os.environ.get(_ENVIRONMENT, "")
    base = _commit(folder, named) if named else _base(folder)
    count = _git(folder, "rev-list", "--count", "HEAD") or "0"
    if not base or _git(folder, "rev-parse", "--is-shallow-repository") != "false":
        return Change(named, None, int(count))
    changed = _git(folder, "diff", "--name-only", "-z", "--relative", base, "--", ".")
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    if changed is None or new is None:
        return Change(base, None, int(count))
    names = filter(None, f"{changed}\0{new}".split("\0"))
    return Change(base[:12], frozenset((folder / name).resolve() for name in names), int(count))


def _base(folder: Path) -> str:
    """The commit that this branch shares with the main one, and on the main one itself the commit before."""
    head = _git(folder, "rev-parse", "HEAD")
    for branch in BRANCHES:
        shared = _git(folder, "merge-base", "HEAD", branch)
        if shared and shared != head:
            return shared
    return _commit(folder, "HEAD~1")


def _commit(folder: Path, name: str) -> str:
    return _git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") or ""


def _git(folder: Path, *words: str) -> str | None:
    """Git's answer in a folder; None where git is missing or has no answer."""
    try:
        ended = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip("\n")


@dataclass(frozen=True)
class Again:
    """Entries that are computed anew, each with its reason, and those that take too long."""

    why: Mapping[str, str] = field(default_factory=dict)
    listed: tuple[str, ...] = ()


def again(manifest: Manifest, tier: str, change: Change) -> Again:
    """Choose from all records those that the change adds or alters, and from those of a tier a tenth."""
    why: dict[str, str] = {}
    listed: list[str] = []
    turn = change.commits % TURNS
    turns = _turns(entry for entry in manifest.entries if entry.tier == tier)
    for entry in manifest.entries:
        reason = _altered(entry, manifest.folder, tier, change)
        if not reason and turns.get(entry.name) == turn:
            reason = f"its turn ({turn} of {TURNS})"
        if not reason:
            continue
        if entry.seconds > LONGEST:
            listed.append(entry.name)
        else:
            why[entry.name] = reason
    return Again(why, tuple(listed))


def _altered(entry: Entry, folder: Path, tier: str, change: Change) -> str:
    path = evidence_file(entry, folder).resolve()
    if change.altered is None:
        return "git does not say what has changed" if entry.tier == tier and path.is_file() else ""
    if not {path, path.with_suffix(".log")} & change.altered or not path.is_file():
        return ""
    before = _git(folder, "show", f"{change.base}:./{path.relative_to(folder.resolve())}")
    if before and (answer := _answer(before)) and answer == _answer(read_text(path, "The evidence")):
        return ""
    return f"its record is new or other than at {change.base}"


def _answer(text: str) -> dict[str, Any]:
    """The part of a record that has its answer: without the date, and the hash of a parser that reads the
    same log. {} for a text that is no record, as one with the marks of a conflict."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {name: data.get(name) for name in _SAYS} if isinstance(data, dict) else {}


def _turns(entries: Iterable[Entry]) -> dict[str, int]:
    """Name -> turn, with about the same time in each turn."""
    longest = sorted(entries, key=lambda entry: (-entry.seconds, entry.name))
    return {entry.name: number % TURNS for number, entry in enumerate(longest)}
