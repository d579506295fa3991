"""Two targets that get the same operations, and the comparison of their answers after each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from harness.dialect_name import base_of
from harness.errors import USAGE, ConformError
from harness.replay import wire
from harness.replay.compare import Difference, agree, differences, normal_response
from harness.replay.features import offered
from harness.replay.judge import refused
from harness.replay.signature import place
from harness.replay.view import View
from harness.simulate.schedule import perform, way_of
from harness.targets.base import Answer, Capabilities, Json, Refused, Target

NEEDS: Final = ("topics", "assign", "describe", "records")
"""The operations that both targets must have, beside a load of nothing."""
INTERVAL: Final = "group.consumer.assignment.interval.ms"


class Done(NamedTuple):
    """One operation on both targets: the first one's answer (nothing if it refused), the differences, the key
    by which equal differences are grouped, and a flag for a target that was computed without a script: such a
    target is an assignor's choice, and is not compared."""

    answer: Answer
    differences: list[Difference]
    way: str
    unscripted: bool

    def signatures(self) -> list[str]:
        """The names of the differences."""
        return [f"{self.way}: {place(one.path, one.expected, one.got)}" for one in self.differences]


class Pair:
    """Two targets; the first one gets each operation first. ConformError (exit 2) if one lacks an operation
    that both need.

    `can` are the operations, the requests and the features that both have; `hidden` names the parts that one
    of them cannot show, which are compared on neither.
    """

    def __init__(self, first: Target, second: Target) -> None:
        self.targets = first, second
        known = [target.hello() for target in self.targets]
        for target, one in zip(self.targets, known, strict=True):
            lacking = [name for name in NEEDS if name not in one.controls]
            if not one.controls & {"load", "fresh"}:
                lacking.append("load")
            if wire.HEARTBEAT not in one.apis:
                lacking.append(wire.HEARTBEAT)
            if lacking:
                raise ConformError(
                    f"The target {target.name} has no {', '.join(lacking)}, without which two targets cannot "
                    "be given the same schedule.",
                    USAGE,
                )
        self.dialects = [base_of(one.dialect) for one in known]
        has = [one.controls | wire.served(one) | offered(one) for one in known]
        self.can = has[0] & has[1]
        self._view = View(
            Capabilities("both targets", "", {}, self.can, known[0].unobserved | known[1].unobserved)
        )
        self.hidden = self._view.hidden
        self._intervals = [self._knows_intervals(target) for target in self.targets]
        self._ends = [0, 0]
        self._scripted = False
        self._held: Mapping[str, Any] = {}

    def start(self, settings: Json) -> None:
        """Make both new coordinators with these settings, and with targets that are computed at once."""
        for target, interval in zip(self.targets, self._intervals, strict=True):
            target.load([], [], {"clockMs": 0})
            if "configure" in self.can:
                target.configure({**settings, INTERVAL: 0} if interval else settings)
        self._ends, self._scripted, self._held = [0, 0], False, {}

    def do(self, operation: Json) -> Done:
        """Give both the same operation, and compare. ConformError (exit 3) if a target fails."""
        answers: list[Answer] = []
        refusals: list[Difference | None] = []
        for number, target in enumerate(self.targets):
            try:
                answer, refusal = perform(target, operation, self._ends[number]), None
            except Refused as error:
                answer, refusal = Answer(), refused(error)
            if answer.records:
                self._ends[number] = int(answer.records[-1]["offset"]) + 1
            answers.append(answer)
            refusals.append(refusal)
        return self._done(operation, answers, refusals)

    def _done(self, operation: Json, answers: list[Answer], refusals: list[Difference | None]) -> Done:
        name = way_of(operation, answers[0])
        self._scripted |= "script" in operation
        if any(refusals):
            outcomes = [one.got if one else "done" for one in refusals]
            # An operation that both refuse was never done; their reasons have their own words.
            different = [] if all(refusals) else [Difference(f"operation {operation['op']}", *outcomes)]
            return Done(answers[0], different, name, False)
        if self._unscripted(answers):
            return Done(answers[0], [], name, True)
        return Done(answers[0], self._compare(*answers), name, False)

    def _compare(self, first: Answer, second: Answer) -> list[Difference]:
        left, right = (_in_order(self._view.of(answer)) for answer in (first, second))
        left = left._replace(body=normal_response(left.body, left.body))
        right = right._replace(body=normal_response(left.body, right.body))
        return [] if agree(left, right) else differences(left, right)

    def _unscripted(self, answers: list[Answer]) -> bool:
        """Tell if one of them needed a target assignment that was not scripted, or needed two."""
        scripted, before = self._scripted, self._held
        held = [_targets(answer.group or {}) for answer in answers]
        self._held = held[0]
        used = answers[0].consumed
        self._scripted = scripted and not used
        if scripted:
            return used and len(answers[0].fired) > 1
        return any(target != before.get(name) for one in held for name, target in one.items())

    def _knows_intervals(self, target: Target) -> bool:
        if "configure" not in self.can:
            return False
        try:
            target.load([], [], {"clockMs": 0})
            target.configure({INTERVAL: 0})
        except Refused:
            return False
        return True


def _in_order(answer: Answer) -> Answer:
    """Timers that ran out together, and their records, in one order: no rule decides which of those comes
    first that are due in the same millisecond."""
    if len(answer.fired) < 2:
        return answer._replace(fired=list(answer.fired))
    fired = sorted(answer.fired, key=lambda timer: (timer["timer"], timer["member"]))
    records = [{**record, "offset": 0} for record in answer.records]
    return answer._replace(fired=fired, records=sorted(records, key=lambda record: str(record["key"])))


def _targets(group: Json) -> dict[str, Any]:
    """The target assignments that are not empty, by member. A static member has the same key under every
    member id."""
    return {
        member.get("instanceId") or member["memberId"]: member["target"]
        for member in group.get("members", ())
        if member.get("target")
    }
