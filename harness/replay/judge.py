"""One prepared step on a target: do it, and compare all that it did with what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.replay import wire
from harness.replay.calls import Call
from harness.replay.compare import Difference, agree, differences
from harness.targets.base import Answer, Assignments, Json, Refused, Target


class Prepared(Protocol):
    """What judging a step takes of it (see `harness.replay.decode.Step`)."""

    @property
    def tick_ms(self) -> int: ...
    @property
    def lost(self) -> Call | None: ...
    @property
    def new_id(self) -> str: ...
    @property
    def script(self) -> Assignments | None: ...
    @property
    def call(self) -> Call: ...
    @property
    def expected(self) -> Answer: ...
    @property
    def start(self) -> int: ...


def judge(target: Target, step: Prepared, shift: int) -> list[Difference]:
    """All differences of one step on a target that is in the state before it.

    `shift` is how far the target's log is ahead of `start`. ConformError (exit 3) if the target fails.
    """
    early: Sequence[Json] = ()
    try:
        if step.tick_ms:
            early = target.advance(step.tick_ms).fired
        if step.lost is not None:
            step.lost.send(target, 0)
        if step.new_id:
            target.ids([step.new_id])
        if step.script is not None:
            target.assign(wire.GROUP, step.script)
        answer = step.call.send(target, step.start + shift)
    except Refused as refusal:
        return [refused(refusal)]
    if agree(step.expected, answer) and not early:
        return []
    found = differences(step.expected, answer, shift)
    if early:
        found.append(Difference("fired before the step", [], list(early)))
    return found


def refused(refusal: Refused) -> Difference:
    """What a target would not do, as a difference."""
    return Difference(f"operation {refusal.operation}", "done", f"refused: {refusal.reason}")
