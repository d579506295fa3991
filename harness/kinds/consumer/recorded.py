"""Recorded runs of consumer groups: the compared fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.errors import USAGE, ConformError
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.recorded_log import REQUEST, Line, Run, SeenGroup
from harness.kinds.consumer.render import assignments, members_of, render
from harness.kinds.consumer.state import Group, Response, SpecState, StateReader
from harness.kinds.fields import Partition
from harness.replay.compare import Difference
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, shown_differ, trace_of
from harness.values import State

EVENTS: Final = frozenset(
    {"SessionTimeout", "RebalanceTimeout", "DeleteGroup", "FailOver"}
    | {"CreateTopic", "AddPartitions", "DeleteTopic"}
)
MOST: Final = 5_000
"""The most target assignments among which another one is looked for."""
LIMIT: Final = 1_000_000
"""The most elements that TLC puts into one set."""
TOO_MANY: Final = "set with too many elements"
"""TLC's words for a set with more elements."""
EXPLAINED: Final = 1_000
"""The product of lines and members up to which every line is explained at once. In a longer log only a line
that does not fit is explained, in a second run of TLC: a state for each timer that is armed at each line
takes much of its time."""
NO_ANSWER: Final = Response("no answer", "", 0, None, None)
"""A response that no step gives, so that the report keeps every response of the specification."""


class ConsumerRecording(Recording[Run, SpecState]):
    """Consumer groups (spec/Recorded.tla)."""

    module = "Recorded"

    def check(self, run: Run) -> None:
        """ConformError where a new member joins, the target that is computed then was not seen, and there are
        too many candidates."""
        topics, known = dict(run.topics), set[str]()
        for line in run.lines:
            if line.topic:
                topics[line.topic] = line.partitions
            request, answered = line.request, line.response
            if request and answered and line.seen is None and line.member not in known:
                joined = not request.epoch and request.instance is None and answered.error == "NONE"
                there = sum(count for count in topics.values() if count > 0)
                if joined and 2**there > LIMIT:  # each partition may be the member's or free
                    raise too_many(f"line {line.number}")
            known |= {line.member, *(line.seen.members if line.seen else ())}

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """With the dialect's modules."""
        brief = [_at_every_line(run) if _is_brief(run) else run for run in runs]
        return render(brief, dialect, folder)

    def explained(self, run: Run, fits: int) -> Run | None:
        """Explanations at the line that does not fit."""
        if _is_brief(run):
            return None
        return replace(run, explained=[fits + 1])

    def failed(self, log: str) -> ConformError | None:
        """The error of too many target assignments."""
        return too_many("some line") if TOO_MANY in log else None

    def states(self, dumped: Sequence[State]) -> list[SpecState]:
        """The states of the open instance."""
        return StateReader().read(trace_of(dumped), "The state graph")

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """A request is any action that is no event."""
        return step.action not in EVENTS if line.does == REQUEST else step.action == line.does

    def differences(self, run: Run, line: AnyLine, state: SpecState) -> Iterator[Difference]:
        """The response, the event and the group."""
        assert isinstance(line, Line)
        step = state.step
        if line.does != REQUEST:
            yield from differ("member", step.member, line.member)
            yield from differ("topic", step.topic, line.topic)
            yield from differ("partitions", step.partitions, line.partitions)
        if line.response is not None:
            yield from response_differences(step.response, line.response)
        if line.seen is None:
            return
        yield from group_differences(state.group, line.seen, state.topics if run.forgets else None)

    def unseen(self, run: Run, fits: int) -> Run | None:
        """The candidates with another target assignment."""
        line = run.lines[fits]
        if line.seen is None or assignments(run) > MOST:
            return None
        lines = [*run.lines[:fits], replace(line, seen=None, response=NO_ANSWER)]
        return replace(run, lines=lines, explained=[fits + 1])


def _is_brief(run: Run) -> bool:
    return len(run.lines) * len(members_of([run])) <= EXPLAINED


def _at_every_line(run: Run) -> Run:
    return replace(run, explained=range(1, len(run.lines) + 1))


def too_many(line: str) -> ConformError:
    """The error that TLC would have to try too many target assignments."""
    return ConformError(
        f"The log shows no target assignment after {line}, where there could be more than a million: "
        "describe the group after each request, or validate fewer partitions.",
        USAGE,
    )


def response_differences(expected: Response, got: Response) -> Iterator[Difference]:
    """Differences of a response."""
    for name in ("error", "member", "epoch", "assigned", "pending"):
        yield from differ(f"response.{name}", getattr(expected, name), getattr(got, name))


def group_differences(group: Group, seen: SeenGroup, there: Mapping[str, int] | None) -> Iterator[Difference]:
    """Differences of a group; of partitions only those of the topics `there`, if given."""
    if seen.state is not None:
        yield from differ("group.state", group_state(group), seen.state)
    if seen.metadata is not None:
        sizes = frozenset((topic, count) for topic, count in group.metadata.items() if count > 0)
        yield from differ("group.metadata", sizes, seen.metadata)
    yield from differ("group.epoch", group.epoch, seen.epoch)
    yield from differ("group.assignmentEpoch", group.assignment_epoch, seen.assignment_epoch)
    yield from differ("group.members", sorted(group.members), sorted(seen.members))
    for name, member in group.members.items():
        if name not in seen.members:
            continue
        if seen.targets is not None:
            target = _there(group.target(name), there)
            yield from differ(f"target of {name}", target, seen.targets.get(name, frozenset()))
        shown = seen.members[name]
        known = replace(
            member, assigned=_there(member.assigned, there), revoking=_there(member.revoking, there)
        )
        yield from shown_differ(name, known, shown)


def _there(partitions: frozenset[Partition], topics: Mapping[str, int] | None) -> frozenset[Partition]:
    if topics is None:
        return partitions
    return frozenset((topic, index) for topic, index in partitions if index < topics.get(topic, 0))
