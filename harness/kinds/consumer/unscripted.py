"""Steps that install a target assignment, on a target whose assignor decides and cannot be scripted.

A trace goes on with the target assignment that its next states have (A3: every legal one is in the model). So
on such a target:

- Where only one target assignment is legal (A4), as with one member, the step is judged like any other.
- Where the target shows its target assignment, in a description or in the response to the member whose it
  is, and it is the trace's, the step is judged like any other, too.
- Where it has another one that is legal, nothing is wrong, but the rest of the trace is about a state that
  the target is not in: the trace ends before the step. Only differences that follow from the target
  assignment are excused so; an error code or an epoch of the group is compared all the same, and what a
  response gives a member must be of topics that it subscribes to (A4) and not held by another (R7).
- A target that does not describe its target assignment may show it a few steps later. Until a member was
  given all of its part, its responses may turn out to be of another legal one, with the same consequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, TypeAlias

import re2

from harness.kinds.consumer.state import Group, Member
from harness.kinds.fields import Partition
from harness.replay import wire
from harness.replay.compare import Difference
from harness.replay.judge import Judged, act
from harness.replay.prepared import Step
from harness.replay.signature import place
from harness.replay.view import View
from harness.targets.base import Answer, Target

OnWire: TypeAlias = frozenset[tuple[str, int]]
"""Topic ids and indices."""

_FOLLOWS: Final = re.compile(
    r"response\.assignment|response\.memberEpoch$|group\.state$|group\.timers\[rebalance\]"
    r"|group\.members\[\]\.(target|assigned|pendingRevocation|acknowledged|state)\b"
    r"|group\.members\[\]\.(memberEpoch|previousMemberEpoch)$"
    r"|group\.(timers|members) in this order"
    r"|records\[ConsumerGroup(TargetAssignmentMember|CurrentMemberAssignment)\]|records( in this order)?$"
    r"|record offsets$"
)
"""The places of differences that may follow from a target assignment."""


class Unscripted:
    """Judges the steps of traces, one after another, on a target without `assign`."""

    def __init__(self, target: Target, view: View) -> None:
        self._target = target
        self._view = view
        self._unseen: set[str] = set()

    def begin(self) -> None:
        """Begin a trace."""
        self._unseen.clear()

    def judge(self, step: Step, before: Group, shift: int) -> Judged | None:
        """Judge the step from the state `before`; None if its differences follow from another target."""
        answer, different = act(self._target, step, shift, self._view)
        group = step.load.state.group
        if step.script is not None:
            self._unseen = set() if _is_forced(group) else set(step.script)
        if not different:
            self._see(step, answer)
            return answer, different
        independent = [one for one in different if not _FOLLOWS.match(place(one.path, one.expected, one.got))]
        if independent or not self._unseen:
            return answer, different
        return None if self._is_another(step, before, answer, different) else (answer, different)

    def _see(self, step: Step, answer: Answer) -> None:
        """Note the members whose part of the target assignment was shown to be the trace's."""
        group, member = step.load.state.group, step.load.state.step.member
        if self._view.shows("members.target"):
            self._unseen.clear()
        elif _given(answer) == _on_wire(group.target(member)):
            self._unseen.discard(member)

    def _is_another(self, step: Step, before: Group, answer: Answer, different: list[Difference]) -> bool:
        """Tell if the target's visible state is possible with another legal target assignment."""
        group, member = step.load.state.group, step.load.state.step.member
        answered = [one.path for one in different if one.path.startswith("response.")]
        # A member epoch follows from the partitions that the member is given.
        given = any(path.startswith("response.assignment") for path in answered)
        if answered and not (given and _is_possible(step, before, answer)):
            return False
        if self._view.shows("members.target"):
            return any(one.path.endswith("].target") for one in different) and _is_legal(group, answer)
        return member in self._unseen if answered else True


def _is_possible(step: Step, before: Group, answer: Answer) -> bool:
    """Tell if a response gives a member only partitions that some legal target assignment would (A4, R5,
    R7)."""
    group, member = step.load.state.group, step.load.state.step.member
    if member not in group.members or answer.body is None:
        return False
    if answer.body.get("assignment") is None:  # the member has its partitions, and has reported that
        return step.action == "Heartbeat"
    assigned, given = _listed(answer, "assignedTopicPartitions"), _given(answer)
    held = [one.held for name, one in group.members.items() if name != member]
    if not given <= _may_own(group, group.members[member]) or assigned & _on_wire(frozenset().union(*held)):
        return False
    if step.action != "Heartbeat":  # another incarnation of the member, with nothing to revoke
        return True
    had = _on_wire(before.members[member].assigned)
    return assigned <= had or had <= assigned


def _is_legal(group: Group, answer: Answer) -> bool:
    """Tell if the description has a target assignment that A4 allows."""
    shown = (answer.group or {}).get("members", [])
    owned = {one.get("memberId"): _partitions(one.get("target")) for one in shown}
    every = [partition for partitions in owned.values() for partition in partitions]
    return sorted(every) == sorted(_on_wire(_all(group))) and all(
        name in group.members and partitions <= _may_own(group, group.members[name])
        for name, partitions in owned.items()
    )


def _is_forced(group: Group) -> bool:
    """Tell if every partition has only one member that may own it: then there is one legal target
    assignment."""
    return all(
        sum(_subscribes(member, topic) for member in group.members.values()) <= 1 for topic in group.metadata
    )


def _all(group: Group) -> frozenset[Partition]:
    """All partitions that have an owner (A4)."""
    return frozenset((topic, index) for topic, count in group.metadata.items() for index in range(count))


def _may_own(group: Group, member: Member) -> OnWire:
    return _on_wire(partition for partition in _all(group) if _subscribes(member, partition[0]))


def _subscribes(member: Member, topic: str) -> bool:
    name = wire.topic_name(topic)
    return name in member.subscription or bool(member.regex and _matches(member.regex, name))


@cache
def _matches(regex: str, name: str) -> bool:
    return re2.fullmatch(regex, name) is not None


def _on_wire(partitions: Iterable[Partition]) -> OnWire:
    return frozenset((wire.topic_id(topic), index) for topic, index in partitions)


def _given(answer: Answer) -> OnWire:
    """The part of the target assignment that a response shows: the member's partitions, and those that it
    waits for."""
    return _listed(answer, "assignedTopicPartitions") | _listed(answer, "pendingTopicPartitions")


def _listed(answer: Answer, name: str) -> OnWire:
    assignment = (answer.body or {}).get("assignment")
    return _partitions(assignment.get(name)) if isinstance(assignment, dict) else frozenset()


def _partitions(listed: Any) -> OnWire:
    try:
        return frozenset((one["topicId"], index) for one in listed or () for index in one["partitions"])
    except (TypeError, KeyError):  # of another form, so not legal
        return frozenset({("", 0)})
