"""Schedules and seeds that failed before: a folder keeps them, and the next run tries them first.

A file has the failures of one verb, target and dialect. An entry that passes is taken out; an empty file is
removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from harness.errors import USAGE, ConformError
from harness.files import read_text, write_text
from harness.forms import formed
from harness.targets.base import Json
from harness.words import counted

T = TypeVar("T")
FOLDER: Final = Path(".conform")
MOST: Final = 20
"""The number of schedules that are kept for one verb, target and dialect: the last that failed."""
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """The entries of one verb, target and dialect, in `folder`; without a folder nothing is kept."""

    folder: Path | None
    verb: str
    target: str
    dialect: str

    @property
    def path(self) -> Path | None:
        """The file."""
        if self.folder is None:
            return None
        key = hashlib.sha256("\n".join((self.target, self.dialect)).encode()).hexdigest()
        return self.folder / f"{self.verb}-{key[:12]}.json"

    def read(self) -> list[Json]:
        """The entries to try first, in order. ConformError (exit 2) for a malformed file."""
        if self.path is None or not self.path.is_file():
            return []
        try:
            data: Any = json.loads(read_text(self.path, "The file of kept schedules"))
        except (ValueError, RecursionError):
            data = None
        kept = data.get("kept") if isinstance(data, dict) and data.get("version") == _VERSION else None
        if not isinstance(kept, list) or not all(isinstance(one, dict) for one in kept):
            raise self._malformed()
        return kept

    def read_as(self, form: type[T]) -> list[T]:
        """The entries to try first, as forms. ConformError (exit 2) for a malformed file or entry."""
        entries = self.read()
        try:
            return [formed(one, form, "in an entry") for one in entries]
        except ConformError as error:
            raise self._malformed(error.message.removesuffix(".")) from None

    def _malformed(self, why: str = "") -> ConformError:
        sentence = f"{self.path} is no file of kept schedules of this version{why and f' ({why})'}"
        return ConformError(f"{sentence}: remove it, or give --no-kept.", USAGE)

    def write(self, failed: Iterable[Json]) -> str:
        """Keep these entries in the place of all others, each once. A sentence where that fails."""
        if self.folder is None or self.path is None:
            return ""
        entries = list({json.dumps(one, sort_keys=True): one for one in failed}.values())[-MOST:]
        try:
            if not entries:
                self.path.unlink(missing_ok=True)
                return ""
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (ignored := self.folder / ".gitignore").exists():
                write_text(ignored, "*\n")
            about = {"version": _VERSION, "verb": self.verb, "target": self.target, "dialect": self.dialect}
            write_text(self.path, json.dumps({**about, "kept": entries}, indent=1) + "\n")
        except (ConformError, OSError) as error:
            return f"The failure is not kept for the next run: {error}"
        return ""


def tried(what: str, number: int, failing: int, rest: str = "") -> str:
    """The line about entries that were tried first: `what` is their kind ("schedule", "seed"); `rest` follows
    where some fail."""
    many = counted(number, f"kept {what}")
    fail = f"{failing} still fail{'s' if failing == 1 else ''}"
    ends = ", ".join(part for part in (fail, rest) if part) if failing else "none fails any more"
    return f"{many} tried first: {ends}"
