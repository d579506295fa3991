"""Words of the reports: numbers with their nouns."""

from __future__ import annotations


def noun(count: int, one: str) -> str:
    """The noun for a number: "trace", "traces"."""
    return one if count == 1 else f"{one}s"


def counted(count: int, one: str) -> str:
    """A number and its noun: "1 trace", "2,000 traces"."""
    return f"{count:,} {noun(count, one)}"
