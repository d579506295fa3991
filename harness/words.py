"""Words of the reports: numbers with what they count."""

from __future__ import annotations


def counted(count: int, one: str, more: str = "") -> str:
    """A number and its noun: "1 trace", "2 traces"; `more` is the plural where it has no plain s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
