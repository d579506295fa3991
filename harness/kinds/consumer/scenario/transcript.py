"""Transcripts of the specification's states in a document's form, and differences of a file's transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.scenario.model import Printed, PrintedMember, Scenario
from harness.kinds.consumer.state import Group, Response, SpecState
from harness.kinds.fields import Partition
from harness.scenario.partitions import format_partitions

Transcript = Mapping[str, Printed]
"""The known states of one step by the names of `SECTIONS`."""


@dataclass(frozen=True)
class Mismatch:
    """One place where a file differs from the specification; `step` counts from 1."""

    step: int
    section: str
    what: str
    file: str
    spec: str
    line: int


def printed(group: Group, response: Response | None = None) -> Printed:
    """A group in the document's form."""
    members = {}
    for name, member in group.members.items():
        target = group.target(name)
        partitions, pending = member.held, frozenset[Partition]()
        if member.epoch == group.assignment_epoch and not member.revoking:
            others = frozenset[Partition]().union(
                *(other.held for key, other in group.members.items() if key != name)
            )
            partitions, pending = target - others, target & others
        members[name] = PrintedMember(member.epoch, partitions, pending)
    targets = {name: partitions for name, partitions in sorted(group.targets.items()) if partitions}
    return Printed(group.epoch, group.assignment_epoch, group_state(group), targets, members, response)


def transcript(after: SpecState, bumped: Group | None) -> Transcript:
    """The states of one step. `bumped` is the group whose members and epoch were updated, if it is known."""
    response = after.step.response
    last = printed(after.group, replace(response, member="") if response.error else None)
    fetched = after.step.offset if after.step.action == "OffsetFetch" and response.error == "NONE" else None
    parts = {"expect": replace(last, fetched=fetched, offsets=dict(sorted(after.offsets.items())))}
    if bumped is not None:
        installed = replace(
            bumped, targets=after.group.targets, assignment_epoch=after.group.assignment_epoch
        )
        parts |= {"bumped": printed(bumped), "installed": printed(installed)}
    return parts


def mismatches(scenario: Scenario, transcripts: Sequence[Transcript]) -> Iterator[Mismatch]:
    """The differences between the file and the transcripts; only states that both have are compared."""
    for number, (step, spec) in enumerate(zip(scenario.steps, transcripts, strict=False), start=1):
        for name, printed in step.states.items():
            if name in spec:
                for what, old, new in _differ(printed, spec[name]):
                    yield Mismatch(number, name, what, old, new, step.sections[name].first_line)


def _differ(file: Printed, spec: Printed) -> Iterator[tuple[str, str, str]]:
    left, right = dict(_facts(file)), dict(_facts(spec))
    for what in [*left, *(what for what in right if what not in left)]:
        if left.get(what) != right.get(what):
            yield what, _shown(left.get(what)), _shown(right.get(what))


def _facts(state: Printed) -> Iterator[tuple[str, Any]]:
    response = state.response
    if response is not None:
        for what in ("error", "epoch", "assigned", "pending"):
            yield f"response {what}", getattr(response, what)
    if state.fetched is not None:
        yield "response offset", state.fetched
    yield "group epoch", state.epoch
    yield "assignment epoch", state.assignment_epoch
    yield "group state", state.state
    for name, target in sorted(state.target.items()):
        yield f"target of {name}", target
    for name, member in sorted(state.members.items()):
        for what in ("epoch", "partitions", "pending"):
            yield f"{name} {what}", getattr(member, what)

    for (topic, index), offset in sorted(state.offsets.items()):
        yield f"offset of {topic}-{index}", offset


def _shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return f"[{', '.join(format_partitions(value))}]"
    return "nothing" if value is None else str(value)
