"""A trace as steps that can be kept or left out, each in a form in which it can be done in another state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, cast

from frozendict import frozendict

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer.scenario.from_trace import steps_of
from harness.kinds.consumer.state import Group, SpecState, StateReader
from harness.kinds.consumer.steps import HANDLERS, OTHER_ACTIONS
from harness.values import Value, as_function, function

MAY_BE_LEFT_OUT: Final = ("owned", "subscription", "regex", "assignor")
"""The fields that a request may leave out (H7)."""
NEEDED_TO_JOIN: Final = ("owned", "subscription")
"""The fields among them that a join must have (H3)."""
NEWER_IN_REQUEST: Final = {"instance": frozenset[str](), "regex": frozenset[str]()}
NEWER_IN_MEMBER: Final = {"instance": "", "regex": ""}
"""Fields that older traces do not have."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One step in the form of spec/Shortened.tla; `request`, `partition` and `target` are the trace's own
    values.

    `lags` tells that a target was due after the step and was left for later (TargetMayLag).
    """

    does: str
    member: str
    request: frozendict[Any, Value]
    epoch_is: str
    later: int
    owns_assigned: bool
    topic: str
    partitions: int
    partition: Value
    offset: int
    target: Value
    lags: bool


def kept_steps(trace: Trace, name: str) -> dict[int, Kept]:
    """The steps of a trace that call the coordinator, by the index of the state after each. ConformError
    (exit 2) for a trace of another specification, or one that begins with committed offsets."""
    states = StateReader().read(trace, f"The trace {name}")
    if states[0].offsets:
        raise ConformError(f"The trace {name} begins with committed offsets, which no part of it would have.")
    known = {*HANDLERS, *OTHER_ACTIONS}
    if unknown := next((state for state in states[1:] if state.step.action not in known), None):
        raise ConformError(f"The trace {name} has the action {unknown.step.action!r}, which there is not.")
    return {
        index: _kept(before, after, trace.states[index])
        for index, (before, after) in enumerate(pairwise(states), start=1)
        if after.step.action not in OTHER_ACTIONS
    }


def _kept(before: SpecState, after: SpecState, raw: Any) -> Kept:
    script = steps_of([before, after])[0]
    step = after.step
    epoch_is, later = _epoch(before.group, step.member, step.request.epoch)
    member = before.group.members.get(step.member)
    return Kept(
        does=script.does,
        member=step.member,
        request=frozendict({**NEWER_IN_REQUEST, **raw["step"]["request"]}),
        epoch_is=epoch_is,
        later=later,
        owns_assigned=member is not None and step.request.owned == member.assigned,
        topic=step.topic,
        partitions=step.partitions,
        partition=raw["step"].get("partition", frozenset()),
        offset=step.offset,
        target=raw["group"]["target"],
        lags=after.group.epoch > after.group.assignment_epoch,
    )


def first_group(trace: Trace) -> frozendict[str, Any]:
    """The group at the beginning of a trace, in the specification's present form."""
    group: Any = trace.states[0]["group"]
    members = as_function(group["members"])
    whole: dict[str, Any] = {
        name: frozendict({**NEWER_IN_MEMBER, **cast(Any, member)}) for name, member in members.items()
    }
    return frozendict({**group, "members": function(whole)})


def _epoch(group: Group, name: str, epoch: int) -> tuple[str, int]:
    """The relation of a request's epoch to the member's."""
    member = group.members.get(name)
    if member is None or epoch <= 0 or member.epoch <= 0:
        return "said", 0
    if epoch == member.previous_epoch != member.epoch:
        return "previous", 0
    return "current", epoch - member.epoch


def simpler(step: Kept) -> Iterator[Kept]:
    """Simpler steps that may stand in a step's place: requests with fewer fields."""
    joins = step.request["epoch"] == 0
    for name in MAY_BE_LEFT_OUT:
        if step.request[name] and not (joins and name in NEEDED_TO_JOIN):
            request = step.request.set(name, frozenset())
            yield replace(step, request=request, owns_assigned=step.owns_assigned and name != "owned")
