"""One prepared step on a target: do the step, and compare all results with the expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

from harness.errors import ENGINE_FAILED, ConformError
from harness.replay import wire
from harness.replay.calls import Call, FireTimer, Restart
from harness.replay.compare import Difference, agree, differences
from harness.replay.view import EVERYTHING, View
from harness.targets.base import Answer, Assignments, Json, Refused, Target


class Prepared(Protocol):
    """The parts of a step that judging takes (see `harness.replay.prepared.Step`)."""

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
    @property
    def there(self) -> frozenset[str]: ...


OPERATION: Final = "operation "
"""The beginning of the path of a refused operation."""
Judged: TypeAlias = tuple[Answer, list[Difference]]
"""Pair of the answer's compared part and all differences."""


class NotFired(ConformError):
    """The target refuses to fire a timer of a kind that it does not show: it has none, and later steps cannot
    be judged. `reason` names the missing timer."""

    def __init__(self, target: str, timer: str, refusal: Refused) -> None:
        self.refusal = refusal
        self.reason = f"fire of the timer {timer}"
        super().__init__(f"The target {target} needs {self.reason}, which it does not show.", ENGINE_FAILED)


def _not_shown(call: Call, view: View) -> str:
    """The kind of timer that a call fires, if the target does not show that kind; else ""."""
    if isinstance(call, FireTimer) and not view.shows(f"timers.{call.timer}"):
        return call.timer
    return ""


def judge(target: Target, step: Prepared, shift: int, view: View = EVERYTHING) -> list[Difference]:
    """All differences of one step on a target that is in the state before it.

    `shift` is the number of records by which the target's log is ahead of `start`; `view` selects the parts
    that the target shows. ConformError (exit 3) if the target fails.
    """
    try:
        return act(target, step, shift, view)[1]
    except NotFired as one:
        return [refused(one.refusal)]


def act(target: Target, step: Prepared, shift: int, view: View) -> Judged:
    """Do a step and judge it, with the target's visible results; none if the target refused. NotFired for a
    timer that the target does not show and does not fire."""
    try:
        early, answer = perform(target, step, shift, view)
    except Refused as refusal:
        if type(refusal) is Refused and (timer := _not_shown(step.call, view)):
            raise NotFired(target.name, timer, refusal) from None
        return Answer(), [refused(refusal)]
    expected = step.expected
    if not view.complete:
        there = step.there if view.forgets else None
        expected, answer = view.of(expected, there), view.of(answer, there)
        expected = view.with_interval(expected, answer)
    ahead = shift if view.counts else 0
    if agree(expected, answer, ahead) and not early:
        return answer, []
    different = differences(expected, answer, ahead)
    if early:
        different.append(Difference("fired before the step", [], list(early)))
    return answer, different


def perform(target: Target, step: Prepared, shift: int, view: View) -> tuple[Sequence[Json], Answer]:
    """Do a step: the timers that run out before its call, and the answer to that."""
    early: Sequence[Json] = ()
    end = step.start + shift if view.reads else None
    if depends_on_answers(step, view):
        end = len(target.records(0))
    if step.tick_ms and view.ticks:
        early = target.advance(step.tick_ms).fired
    if step.lost is not None:
        step.lost.send(target, 0, view.observe)
    if step.new_id:
        target.ids([step.new_id])
    if step.script is not None and view.scripts:
        target.assign(wire.GROUP, step.script)
    return early, step.call.send(target, end, view.observe)


def depends_on_answers(step: Prepared, view: View) -> bool:
    """Tell if the requests of a step depend on the target's answers: on the number of records in a log that
    lacks some of the expected ones."""
    return not view.counts and isinstance(step.call, Restart)


def refused(refusal: Refused) -> Difference:
    """A refused operation as a difference."""
    return Difference(f"{OPERATION}{refusal.operation}", "done", refusal.shown)
