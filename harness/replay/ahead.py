"""Steps that are written to a target before it has answered the earlier ones, also into the next trace.

The operations of a step do not depend on answers, except in the cases of `Writer.waits` and
`depends_on_answers`. So the target gets many steps at once, and answers are read and judged while it works. A
difference makes the later steps worthless: their answers are discarded, and the state is loaded. So that a
target that often differs does little work in vain, one step is written after a difference, then two, then
four.

Once all steps of a trace are written, the start of the next one follows, and its steps: a load replaces
everything, so that nothing depends on the end of the trace before. Where that trace ends early, everything is
discarded.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from harness.replay.judge import depends_on_answers, perform
from harness.replay.prepared import DecodedTrace, Step
from harness.replay.view import View
from harness.targets.base import Target, Writer, writer_of

STEPS: Final = 64
"""The most steps that are under way."""


class StepsAhead:
    """A writer of the steps of one trace after another; it writes nothing to a target that cannot be written
    ahead."""

    def __init__(self, target: Target, view: View, has: Set[str]) -> None:
        """`has` are the APIs and operations of the target."""
        self._writer = writer_of(target)
        self._view = view
        self._has = has
        self._written = 0
        self._steps = 1
        self._next: DecodedTrace | None = None
        self._next_written = 0

    def begin(self, trace: DecodedTrace) -> None:
        """Begin the next trace. Operations that were written for another trace are discarded."""
        if self._next is not None and self._next is not trace:
            self.discard()
        self._written, self._next, self._next_written = self._next_written, None, 0

    def write(
        self, steps: Sequence[Step], index: int, shift: int, following: DecodedTrace | None = None
    ) -> None:
        """Write the step of that index, which is judged next, and some after it, as far as nothing hinders.
        After the last one come the start and the steps of the trace `following`, whose start must be one that
        the target can load in its configuration.

        More steps are written only when half of them are answered, so that one write carries many.
        """
        writer = self._writer
        if writer is None or 2 * (self._written - index + self._next_written) > self._steps:
            return
        self._written, until = max(self._written, index), index + self._steps
        self._steps = min(2 * self._steps, STEPS)
        self._written += self._write(writer, steps[self._written : until], shift)
        if following is None or self._written < len(steps):
            return
        if self._next is None:
            if writer.full or not writer.loads:
                return
            self._load(writer, following)
        left = following.steps[self._next_written : max(0, until - len(steps))]
        self._next_written += self._write(writer, left, 0)

    def _load(self, writer: Writer, trace: DecodedTrace) -> None:
        """Write the operations of `Replayer` at the beginning of a trace."""
        self._next = trace
        writer.load(trace.start.records, trace.start.topics, trace.start.volatile)
        if self._view.observe is not None:
            writer.describe(self._view.observe)

    def _write(self, writer: Writer, steps: Sequence[Step], shift: int) -> int:
        """Write steps until something hinders; the number of written ones."""
        for count, step in enumerate(steps):
            if writer.full or writer.waits or depends_on_answers(step, self._view):
                return count
            if not step.needs() <= self._has:
                return count
            perform(writer, step, shift, self._view)
        return len(steps)

    def discard(self) -> None:
        """Discard the answers to the written operations: the target is not in the state that the next step
        needs."""
        if self._writer is not None and self._writer.underway:
            self._writer.discard()
        self._steps, self._next, self._next_written = 1, None, 0
