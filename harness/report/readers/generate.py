"""`conform generate --json`: traces of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.readers.fields import Fields, source


@dataclass(frozen=True)
class Generation:
    """One run; `unreached` are goals that no behaviour reaches."""

    source: str
    model: str
    traces: int
    steps: int
    unreached: Sequence[str]


def generation(data: Fields) -> Generation:
    """The run of a file."""
    return Generation(
        source=source(data.stem, "generate"),
        model=data.get("model", str),
        traces=data.get("traces", int),
        steps=data.get("steps", int),
        unreached=data.get("unreached", list),
    )
