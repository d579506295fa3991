"""Verdicts on mutants from earlier runs: JSON lines, one for each verdict, each with the things on which it
rests.

A verdict rests on a trace, a folder of traces, a test or a model, each by its name and with a hash of
everything that a judgement by it reads. The verdict holds while these are unchanged. So a killed mutant stays
killed while its killer is unchanged, and a survivor is judged anew only by checks that are new or have
changed. The file that a mutant changes needs no hash: a mutant's name follows from its text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.errors import ConformError
from harness.files import output_folder
from harness.manifest import Manifest
from harness.modules import dependencies
from harness.mutate.mutant import SURVIVED, Judged, Mutant, Verdict

Needed = Mapping[str, Sequence[str]]
"""The checks that judge a mutant, in their order, and the names of the things on which each rests."""
Reads = Callable[[str], Iterable[Path | str]]
"""The files and texts that a judgement by something reads; none if there is no such thing any more."""
_SUFFIXES: Final = (".py", ".tla", ".cfg", ".json", ".yaml", ".j2", ".toml")


def files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder all files that can change a verdict."""
    inside = sorted(path.rglob("*")) if path.is_dir() else [path]
    return (one for one in inside if one.is_file() and one.suffix in _SUFFIXES)


def of_model(manifest: Manifest, name: str) -> list[Path | str]:
    """Files of a model that TLC and the comparison with the manifest read; none if there is no such model."""
    entry = next((one for one in manifest.entries if one.name == name), None)
    if entry is None:
        return []
    figures = json.dumps([entry.expected(), dict(entry.args)], sort_keys=True)
    return [figures, *dependencies(entry.module), entry.model().configuration]


class Basis:
    """Hashes of the inputs of judgements, by the names of the things on which these rest. Each file is read
    once."""

    def __init__(self, root: Path, reads: Reads) -> None:
        self._root, self._reads = root, reads
        self._names: dict[str, str] = {}
        self._files: dict[Path, str] = {}

    def digest(self, name: str) -> str:
        """The hash of the thing of this name, "" if there is none."""
        if name not in self._names:
            parts = [part if isinstance(part, str) else self._file(part) for part in self._reads(name)]
            self._names[name] = _hash("\0".join(parts).encode())[:16] if parts else ""
        return self._names[name]

    def holds(self, name: str, digest: str) -> bool:
        """Tell if the thing exists, and is unchanged."""
        return bool(digest) and self.digest(name) == digest

    def _file(self, path: Path) -> str:
        if path not in self._files:
            self._files[path] = f"{path.relative_to(self._root)} {_hash(path.read_bytes())}"
        return self._files[path]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Journal:
    """The verdicts of a file that still hold; new ones are appended as they come."""

    def __init__(self, path: Path, basis: Basis) -> None:
        output_folder(path.parent)
        self._path, self._basis = path, basis
        self._ended: dict[str, tuple[str, str, float]] = {}
        self._passed: dict[str, set[str]] = {}
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        self._begin = "" if text.endswith("\n") or not text else "\n"
        for line in text.splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        try:
            row = json.loads(line)
            held = {name for name, digest in row["on"].items() if self._basis.holds(name, digest)}
            if row["outcome"] == SURVIVED:
                self._passed.setdefault(row["id"], set()).update(held)
            elif held == row["on"].keys():
                self._ended[row["id"]] = row["outcome"], row["by"], row["seconds"]
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # the last line of a run that was killed, or of an older kind

    def left(self, mutant: Mutant, needed: Needed) -> list[str]:
        """The checks that must still judge a mutant, of all that are requested."""
        passed = self._passed.get(mutant.id, set())
        return [check for check, names in needed.items() if not passed.issuperset(names)]

    def known(self, mutant: Mutant, needed: Needed) -> Judged | None:
        """The earlier verdict on a mutant: noticed by any check, or noticed by none of the requested checks.
        None where a check is still to be done."""
        if mutant.id in self._ended:
            return Judged(mutant, *self._ended[mutant.id])
        return None if self.left(mutant, needed) else Judged(mutant, SURVIVED, ", ".join(needed), 0.0)

    def add(self, mutant: Mutant, verdict: Verdict, seconds: float, needed: Needed) -> Judged:
        """Write a verdict down: one without names rests on all requested checks. ConformError if the file
        cannot be written."""
        names = verdict.on or [name for names in needed.values() for name in names]
        row = {
            "id": mutant.id,
            "place": mutant.place,
            "outcome": verdict.outcome,
            "by": verdict.by,
            "on": {name: self._basis.digest(name) for name in names},
            "seconds": round(seconds, 2),
        }
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(self._begin + json.dumps(row) + "\n")
            self._begin = ""
        except OSError as error:
            raise ConformError(f"{self._path} cannot be written: {error.strerror}.") from None
        by = ", ".join(needed) if verdict.outcome == SURVIVED else verdict.by
        return Judged(mutant, verdict.outcome, by, seconds)
