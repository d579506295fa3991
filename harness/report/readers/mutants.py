"""`mutants.json`: the seeded bugs, with the check that caught each."""

from __future__ import annotations

from dataclasses import dataclass

from harness.report.readers.fields import Fields


@dataclass(frozen=True)
class Mutant:
    """A seeded bug and the check that caught it ("" for none); `real_bug` is one that implementations had."""

    name: str
    target: str
    bug: str
    requirement: str
    real_bug: int | None
    caught_by: str


def mutant(one: Fields) -> Mutant:
    """One of the list."""
    return Mutant(
        name=one.get("mutant", str),
        target=one.get("target", str),
        bug=one.get("bug", str),
        requirement=one.get("requirement", str),
        real_bug=one.whole("real_bug"),
        caught_by=one.text("caught_by"),
    )
