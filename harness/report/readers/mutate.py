"""`conform mutate --json`: systematic mutants, with the checks that killed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import field

from harness.report.readers.form import OfFile, Result


class Counted(Result, frozen=True, kw_only=True):
    """Numbers of mutants in a file, in a folder or in all: existing ones, judged ones, and those of each
    verdict. `score` is in per cent; None for no mutants."""

    path: str = ""
    mutants: int
    killed: int
    survived: int
    equivalent: int
    unviable: int
    judged: int
    score: float | None = None


class Survivor(Result, frozen=True, kw_only=True):
    """A mutant that no check kills, with the argument that it is equivalent, if there is one."""

    path: str
    line: int
    operator: str
    lines: Sequence[str] = field(name="diff")
    reason: str = ""

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"

    @property
    def diff(self) -> str:
        """The change."""
        return "\n".join(self.lines)


class Mutation(OfFile, frozen=True, kw_only=True):
    """One run; `stale` are the faults of the arguments for equivalence, `exit_code` that of the verb."""

    total: Counted
    folders: Sequence[Counted] = ()
    files: Sequence[Counted]
    survivors: Sequence[Survivor]
    equivalent: Sequence[Survivor]
    killed_by: Mapping[str, int]
    stale: Sequence[str]
    exit_code: Literal[0, 2, 3, 10, 11, 12, 13]
