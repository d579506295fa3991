"""The sequence diagram of a trace of a group of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.itf import Trace
from harness.kinds.classic.description import CLASSIC
from harness.kinds.migration.description import MIGRATION
from harness.kinds.registry import kind_of
from harness.report.classic_sequence import classic_steps
from harness.report.consumer_sequence import consumer_steps
from harness.report.migration_sequence import migration_steps
from harness.report.sequence import sequence
from harness.report.sequence_words import violated

_STEPS: Final = {CLASSIC.name: classic_steps, MIGRATION.name: migration_steps}
"""The lanes, rows and events of a trace, by kind; those of all other kinds are as in a consumer group."""


def sequence_of_trace(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]] | None = None, inline: bool = False
) -> str:
    """The diagram of a trace, its steps numbered as its states are.

    `failing` has words for each step that stands out; of a counterexample that is the last one. ConformError
    (exit 2) for a trace of another specification.
    """
    wrong = violated(trace) if failing is None else failing
    steps = _STEPS.get(kind_of(trace, f"The trace {title}").name, consumer_steps)
    return sequence(title, *steps(trace, title, wrong), inline)
