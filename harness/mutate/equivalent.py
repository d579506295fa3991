"""Survivors that were argued equivalent one by one: tests/mutants/equivalent.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from harness.errors import USAGE, ConformError
from harness.files import read_text
from harness.forms import Form, formed
from harness.mutate.mutant import KILLED, TIMED_OUT, Judged, Mutant

FILE: Final = Path("tests/mutants/equivalent.toml")


class _Row(Form):
    path: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant by the text of its lines, and the reason why no check can distinguish it from the original."""

    path: str
    before: str
    after: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        """Tell if the entry is about this mutant."""
        return (mutant.path, mutant.before, mutant.after) == (self.path, self.before, self.after)


def read_equivalent(path: Path) -> list[Equivalent]:
    """[[equivalent]] tables with path, before, after and reason. ConformError (exit 2) for anything else."""
    if not path.is_file():
        return []
    try:
        rows = tomllib.loads(read_text(path, "The file")).get("equivalent", [])
    except tomllib.TOMLDecodeError as error:
        raise ConformError(f"{path} is not TOML: {error}.", USAGE) from None
    entries = []
    for number, row in enumerate(rows, start=1):
        read = formed(row, _Row, f"{path}, entry {number}:")
        if not read.reason.strip():
            raise ConformError(f"{path}, entry {number}: say why it is equivalent.", USAGE)
        entries.append(Equivalent(*(text.strip("\n") for text in msgspec.structs.astuple(read))))
    return entries


def stale(known: Sequence[Equivalent], mutants: Sequence[Mutant], judged: Iterable[Judged]) -> Iterator[str]:
    """Faults of the file: an entry whose mutant does not exist any more, or whose mutant a check notices."""
    files = {mutant.path for mutant in mutants}
    for one in known:
        if one.path in files and not any(one.covers(mutant) for mutant in mutants):
            yield f"{one.path} has no mutant {one.before!r} -> {one.after!r} any more: take it out"
    for row in judged:
        if row.outcome in (KILLED, TIMED_OUT) and any(one.covers(row.mutant) for one in known):
            yield f"{row.mutant.place} is said to be equivalent, but {row.outcome} by {row.by}: take it out"
