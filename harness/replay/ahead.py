"""Steps of a trace that are written to a target before it has answered those before them.

What a step sends does not depend on answers, but for what `Writer.waits` and `depends_on_answers` say. So the
target gets many steps at once, and answers are read and judged while it works. A difference makes what came
after it worthless: those answers are discarded, and the state is loaded. So that a target that often differs
does little work in vain, one step is written after a difference, then two, then four.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from harness.replay.judge import depends_on_answers, perform
from harness.replay.prepared import Step
from harness.replay.view import View
from harness.targets.base import Target, writer_of

STEPS: Final = 64
"""How many steps are underway at most."""


class StepsAhead:
    """Writes the steps of one trace after another; of a target that cannot be written ahead, nothing."""

    def __init__(self, target: Target, view: View, has: Set[str]) -> None:
        """`has` are the APIs and operations of the target."""
        self._writer = writer_of(target)
        self._view = view
        self._has = has
        self._written = 0
        self._steps = 1

    def begin(self) -> None:
        """A trace begins; nothing is underway."""
        self._written = 0

    def write(self, steps: Sequence[Step], index: int, shift: int) -> None:
        """Before the step of that index is judged: write it and some after it, as far as nothing hinders.

        More are written only when half of them are answered, so that one write carries many.
        """
        writer = self._writer
        if writer is None or 2 * (self._written - index) > self._steps:
            return
        self._written, until = max(self._written, index), index + self._steps
        self._steps = min(2 * self._steps, STEPS)
        for step in steps[self._written : until]:
            if writer.full or writer.waits or depends_on_answers(step, self._view):
                return
            if not step.needs() <= self._has:
                return
            perform(writer, step, shift, self._view)
            self._written += 1

    def discard(self) -> None:
        """The target is not where the next step needs it: forget what it answers to what was written."""
        if self._writer is not None and self._writer.underway:
            self._writer.discard()
        self._steps = 1
