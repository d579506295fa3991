"""The sequence diagram of a trace of a group of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.fields import drawing
from harness.kinds.registry import kind_of
from harness.kinds.sequences import SEQUENCES
from harness.report.mermaid import mermaid
from harness.report.sequence import Event, Step, sequence
from harness.report.sequence_words import violated


def sequence_of_trace(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]] | None = None, inline: bool = False
) -> str:
    """The diagram of a trace, its steps numbered as its states are.

    `failing` has words for each highlighted step; for a counterexample that is the last one. ConformError
    (exit 2) for a trace of another specification.
    """
    return sequence(title, *content_of_trace(trace, title, failing), inline)


def text_of_trace(trace: Trace, title: str) -> str:
    """The diagram of a trace as Mermaid text."""
    return mermaid(*content_of_trace(trace, title))


def content_of_trace(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]] | None = None
) -> tuple[list[str], list[Step], list[Event]]:
    """The lanes, rows and messages of that diagram. ConformError (exit 2) for a trace that cannot be
    drawn."""
    wrong = violated(trace) if failing is None else failing
    kind = kind_of(trace, f"The trace {title}")
    if kind.name not in SEQUENCES:
        raise ConformError(
            f"The trace {title} is of a {kind.adjective} group, which has no sequence diagram."
        )
    with drawing(f"The trace {title}"):
        return SEQUENCES[kind.name](trace, title, wrong)
