"""`conform generate --json`: traces of models."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.readers.form import OfFile


class Generation(OfFile, frozen=True, kw_only=True):
    """One run; `unreached` are goals that no behaviour reaches."""

    model: str
    traces: int
    steps: int
    unreached: Sequence[str]
