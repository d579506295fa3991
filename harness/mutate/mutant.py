"""One small change of one file, and its outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from harness.errors import USAGE, ConformError

KILLED: Final = "killed"
TIMED_OUT: Final = "timed out"
SURVIVED: Final = "survived"
UNVIABLE: Final = "unviable"
"""The outcome of a mutant that does not load or parse, which is not counted at all. A mutant that ran out of
time counts as killed."""
TESTS_OF_ITS_OWN: Final = "its own tests"
"""The name of the check by the tests of the coordinator, whether they kill the mutant or not."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant. `path` is that of the file from the folder of the repository, `line` that of the change (from
    1), `text` the whole file with the change."""

    path: str
    line: int
    operator: str
    before: str
    after: str
    text: str

    @property
    def id(self) -> str:
        """A name that stays as long as the file does."""
        return hashlib.sha256(f"{self.path}\n{self.text}".encode()).hexdigest()[:12]

    @property
    def place(self) -> str:
        """file:line"""
        return f"{self.path}:{self.line}"

    @property
    def diff(self) -> list[str]:
        """The lines that are removed and added."""
        return [f"- {line}" for line in self.before.splitlines()] + [
            f"+ {line}" for line in self.after.splitlines()
        ]


class Verdict(NamedTuple):
    """The outcome for a mutant, the check that gave it, and the names of the things on which it rests
    (`harness.mutate.journal`): no names stand for all checks that judged it."""

    outcome: str
    by: str
    on: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant with its outcome, the check that gave it, and the seconds that this took."""

    mutant: Mutant
    outcome: str
    by: str
    seconds: float


def mutants_of(path: str, source: str, changed: Iterable[tuple[str, str]]) -> Iterator[Mutant]:
    """The mutants of a file, from operators with the whole text that each made; no text comes twice."""
    seen = {source}
    old = source.splitlines()
    for operator, text in changed:
        if text in seen:
            continue
        seen.add(text)
        new = text.splitlines()
        most = min(len(old), len(new))
        same = next((at for at in range(most) if old[at] != new[at]), most)
        end = next((at for at in range(most - same) if old[-1 - at] != new[-1 - at]), most - same)
        before, after = old[same : len(old) - end], new[same : len(new) - end]
        yield Mutant(path, same + 1, operator, _flush(before), _flush(after), text)


def _flush(lines: list[str]) -> str:
    """The lines without their common indentation."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines)


@dataclass(frozen=True, slots=True)
class Only:
    """A file or folder, and perhaps lines of a file: `coordinator/consumer/reconcile.py:40-60`."""

    path: Path
    first: int = 1
    last: int = 10**9

    def covers(self, mutant: Mutant) -> bool:
        """Tell if the mutant is in there."""
        inside = Path(mutant.path) == self.path or self.path in Path(mutant.path).parents
        return inside and self.first <= mutant.line <= self.last


def read_only(text: str) -> Only:
    """PATH or PATH:LINE or PATH:FIRST-LAST. ConformError for anything else."""
    path, _, lines = text.partition(":")
    first, _, last = lines.partition("-")
    if not Path(path).exists():
        raise ConformError(f"There is no {path}: --only takes PATH, PATH:LINE or PATH:FIRST-LAST.", USAGE)
    if not lines:
        return Only(Path(path))
    if not first.isdecimal() or not (last or first).isdecimal():
        raise ConformError(f"{text!r} has no lines after the colon: as in {path}:40-60.", USAGE)
    return Only(Path(path), int(first), int(last or first))
