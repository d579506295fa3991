"""Recorded runs of groups that migrate: their rendering, and the compared fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from harness.kinds.classic import recorded as old
from harness.kinds.classic import recorded_log as classic
from harness.kinds.classic.subscription_data import Classic, subscription_data
from harness.kinds.consumer import recorded_log as consumer
from harness.kinds.consumer.recorded import (
    LIMIT,
    MOST,
    NO_ANSWER,
    group_differences,
    response_differences,
    too_many,
)
from harness.kinds.consumer.state import Group, read_response
from harness.kinds.fields import Fields, Partition
from harness.kinds.migration.recorded_log import Line, MigrationLogReader, Run
from harness.kinds.migration.state import MigrationReader, MigrationState
from harness.replay.compare import Difference
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, trace_of
from harness.validate.templates import write
from harness.values import State

HEARTBEATS: Final = frozenset({"Join", "Rejoin", "Return", "Heartbeat", "Leave", "LeaveTemporarily"})
"""The actions that a ConsumerGroupHeartbeat may be."""
_SILENT: Final = Classic("", (), frozenset())


class MigrationRecording(Recording[classic.Run, MigrationState]):
    """Groups that migrate in the way of KIP-848's text (spec/RecordedMigration.tla)."""

    module = "RecordedMigration"
    specification: ClassVar = "RecordedSpec"
    kafka: ClassVar = False

    def check(self, run: classic.Run) -> None:
        """ConformError where a target is computed that was not seen, and there are too many candidates."""
        for line in _lines(run) if _choices(run) > LIMIT else ():
            if line.heartbeat and _is_unseen(line):
                raise too_many(f"line {line.number}")

    def render(self, runs: Sequence[classic.Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Render a run; beside the named generations there may be another one after each line that shows
        none."""
        classic.tell_leaders(runs)
        lines = [line for run in runs for line in _lines(run)]
        partitions = {partition for run in runs for partition in _partitions(run)}
        subscribed = {text for line in lines for text in _topics(line)}
        subscribed |= {text for run in runs for text in _topics_at_start(run)}
        values = {
            "kafka": self.kafka,
            "spoken": dialect,
            "specification": self.specification,
            "members": sorted(_members(runs)),
            "topics": {topic for topic, _ in partitions} | subscribed,
            "partitions": partitions,
            "generations": max(map(_epoch, lines))
            + 1
            + max(sum(map(_is_unseen, _lines(run))) for run in runs),
            "runs": runs,
            "no_request": old.NO_REQUEST,
            "silent": _SILENT,
            "seen_member": consumer.member_literal,
            "extensions": runs[0].extensions,
            "max_size": runs[0].constant[1],
        }
        return write(folder, self.module, "kinds/migration/", values)

    def states(self, dumped: Sequence[State]) -> list[MigrationState]:
        """The states of the open instance; the answers of a step are all due ones."""
        states = MigrationReader().read(trace_of(dumped), "The state graph")
        return [
            replace(
                state,
                old=replace(state.old, step=replace(state.old.step, completed=old.due_answers(raw["due"]))),
            )
            for state, raw in zip(states, dumped, strict=True)
        ]

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """A heartbeat of the consumer protocol is one of several actions; a timer is a member's."""
        assert isinstance(line, Line)
        if line.heartbeat is not None:
            return step.action in HEARTBEATS
        return step.action == line.does and (line.request is not None or step.member == line.member)

    def differences(self, run: classic.Run, line: AnyLine, state: MigrationState) -> Iterator[Difference]:
        """The differences of the response of either protocol, the answers to waiting requests, the event and
        the group."""
        assert isinstance(line, Line)
        words = MigrationLogReader.words
        if line.heartbeat is None and line.request is None:
            for name in ("topic", "partitions"):
                yield from differ(name, getattr(state.step, name), getattr(line, name))
        if line.answer is not None:
            yield from response_differences(state.step.response, line.answer)
        if line.response is not None:
            yield from old.response_differences("response", state.old.step.response, line.response, words)
        yield from old.completed_differences(state.old.step, line.completed, words)
        if line.seen is not None:
            yield from old.group_differences(state.old.group, line.seen, words)
        if line.group is not None:
            yield from differ("group.type", "classic" if state.is_classic else "consumer", "consumer")
            yield from group_differences(state.group, line.group, None)
            yield from _words(state.group, line)

    def unseen(self, run: classic.Run, fits: int) -> classic.Run | None:
        """The candidates with another target assignment."""
        line = run.lines[fits]
        if not isinstance(line, Line) or line.group is None or _choices(run) > MOST:
            return None
        again = replace(line, group=None, words=None, answer=NO_ANSWER)
        return replace(run, lines=[*run.lines[:fits], again])


class KafkaMigrationRecording(MigrationRecording):
    """Groups that migrate in Kafka's way, in one of its dialects (spec/RecordedKafkaMigration.tla)."""

    module = "RecordedKafkaMigration"
    specification = "RecordedKafkaSpec"
    kafka = True

    def states(self, dumped: Sequence[State]) -> list[MigrationState]:
        """The states with Kafka's answer to a heartbeat."""
        states = []
        for state, raw in zip(super().states(dumped), dumped, strict=True):
            by_kafka = read_response(Fields(raw["kafkaTold"], "kafkaTold"))
            step = replace(state.step, response=by_kafka)
            states.append(replace(state, shared=replace(state.shared, step=step)))
        return states


def _choices(run: classic.Run) -> int:
    """The number of target assignments that are possible with the names of a run."""
    return int((len(_members([run])) + 1) ** len({*_partitions(run)}))


def _words(group: Group, line: Line) -> Iterator[Difference]:
    if line.words is None:
        return
    for name, member in group.members.items():
        expected, got = member.classic or _SILENT, line.words.get(name, _SILENT)
        yield from differ(f"{name}.phase", expected.phase, got.phase)
        yield from differ(f"{name}.protocols", " ".join(expected.protocols), " ".join(got.protocols))
        yield from differ(f"{name}.subscription", expected.subscription, got.subscription)


def _lines(run: classic.Run) -> Iterator[Line]:
    yield from (line for line in run.lines if isinstance(line, Line))


def _members(runs: Sequence[classic.Run]) -> set[str]:
    """Every member id that the runs name."""
    lines = [line for run in runs for line in _lines(run)]
    members = {member for line in lines for member in old.members_of(line)}
    members |= {member for line in lines if line.group for member in line.group.members}
    return members | {
        member for run in runs if isinstance(run, Run) and run.start for member in run.start.named
    }


def _subscriptions(line: Line) -> Iterator[frozenset[str]]:
    """The subscriptions that a line has."""
    yield line.request.subscription if line.request else frozenset()
    yield from (one.subscription for one in (line.words or {}).values())
    members = line.seen.members.values() if line.seen else ()
    yield from (one.get("subscription", frozenset()) for one in members)


def _topics(line: Line) -> Iterator[str]:
    yield from (topic for content in _subscriptions(line) for topic in subscription_data(content).topics)
    yield from (line.heartbeat.subscription or ()) if line.heartbeat else ()


def _topics_at_start(run: classic.Run) -> Iterator[str]:
    start = run.start if isinstance(run, Run) else None
    for member in start.members.values() if start else ():
        yield from subscription_data(member.get("subscription", frozenset())).topics


def _is_unseen(line: Line) -> bool:
    return line.seen is None and line.group is None


def _epoch(line: Line) -> int:
    """The latest generation or epoch that a line names."""
    sent = [line.request.epoch] if line.request else []
    shown = [line.seen.generation] if line.seen else [line.group.epoch] if line.group else []
    answered = [line.answer.epoch] if line.answer else []
    content = [subscription_data(one).generation or 0 for one in _subscriptions(line)]
    return max([0, *sent, *shown, *answered, *content])


def _partitions(run: classic.Run) -> Iterator[Partition]:
    """Every partition that a run names."""
    assert isinstance(run, Run)
    yield from ((topic, index) for topic, count in run.topics.items() for index in range(count))
    for member in run.start.members.values() if run.start else ():
        yield from member.get("assignment") or ()
    for line in _lines(run):
        yield from ((line.topic, index) for index in range(line.partitions))
        yield from (line.heartbeat.owned or ()) if line.heartbeat else ()
        for given in line.request.assignments.values() if line.request else ():
            yield from given or ()
        for targets in (line.group.targets or {}).values() if line.group else ():
            yield from targets
