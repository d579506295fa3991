"""`mutants.json`: the seeded bugs, with the check that caught each."""

from __future__ import annotations

from msgspec import field

from harness.report.readers.form import Result


class Mutant(Result, frozen=True, kw_only=True):
    """A seeded bug and the check that caught it ("" for none); `real_bug` is one that implementations had."""

    name: str = field(name="mutant")
    target: str
    bug: str
    requirement: str
    real_bug: int | None = None
    caught_by: str = ""
