"""What is known of mutants from runs before: JSON lines, one a mutant, good as long as nothing changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import ConformError
from harness.files import output_folder
from harness.mutate.mutant import SURVIVED, TESTS_OF_ITS_OWN, Judged, Mutant


def digest(root: Path, folders: Iterable[str]) -> str:
    """A hash of all that a judgement depends on: the files in some folders."""
    whole = hashlib.sha256()
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in (".py", ".tla", ".cfg", ".json", ".yaml", ".j2"):
                whole.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _names(more: Iterable[str]) -> set[str]:
    return {one.split()[0] for one in more}


class Journal:
    """Rows of one digest of a file are read; new ones are appended as they come.

    `more` names checks besides those of every run, and which they are ("tests 0123"): what was found without
    some of them, or by others that always come before, is known, too, if the mutant did not survive.
    """

    def __init__(self, path: Path, state: str, more: Sequence[str] = ()) -> None:
        output_folder(path.parent)
        self._path, self._state, self._more = path, state, list(more)
        self._known: dict[str, tuple[str, str, float]] = {}
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self._begin = "" if text.endswith("\n") or not text else "\n"
        for line in text.splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        try:
            row = json.loads(line)
            fewer = _names(row["more"]) <= _names(self._more) and row["outcome"] != SURVIVED
            kept = fewer and row["by"] != TESTS_OF_ITS_OWN
            if row["state"] == self._state and (row["more"] == self._more or kept):
                self._known[row["id"]] = row["outcome"], row["by"], row["seconds"]
        except (ValueError, KeyError, TypeError):
            return  # the last line of a run that was killed

    def known(self, mutant: Mutant) -> Judged | None:
        """What became of it before."""
        row = self._known.get(mutant.id)
        return None if row is None else Judged(mutant, *row)

    def add(self, judged: Judged) -> None:
        """Write one down. ConformError if it cannot be."""
        row = {
            "id": judged.mutant.id,
            "state": self._state,
            "more": self._more,
            "place": judged.mutant.place,
            "outcome": judged.outcome,
            "by": judged.by,
            "seconds": round(judged.seconds, 2),
        }
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(self._begin + json.dumps(row) + "\n")
            self._begin = ""
        except OSError as error:
            raise ConformError(f"{self._path} cannot be written: {error.strerror}.") from None
