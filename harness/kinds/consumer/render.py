"""Recorded runs as a TLA+ module over spec/Recorded.tla, with its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.kinds.consumer.recorded_log import Line, Run, member_literal
from harness.kinds.consumer.scenario.render import matching
from harness.kinds.fields import Partition
from harness.replay.dialects import operator_of
from harness.replay.wire import topic_name
from harness.validate.templates import write


def render(runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
    """Write the modules and their configuration into a folder. The runs have one configuration.

    `dialect` is a name as of --dialect, which may have departures.
    """
    named = operator_of(dialect)
    partitions = {partition for run in runs for partition in _partitions(run)}
    topics = {topic for topic, _ in partitions} | {topic for run in runs for topic in run.topics}
    names = {topic_name(topic) for topic in topics}
    lines = [line for run in runs for line in run.lines]
    requested = {line.request.regex for line in lines if line.request and line.request.regex}
    regexes = {regex: matching(regex, names) for regex in sorted(requested)}
    values = {
        "kafka": named.startswith("Kafka"),
        "members": members_of(runs),
        "topics": topics,
        "partitions": partitions,
        "regexes": {regex: matched for regex, matched in regexes.items() if matched is not None},
        "runs": runs,
        "seen_member": member_literal,
        "spoken": dialect,
        "max_size": runs[0].max_size,
    }
    return write(folder, "Recorded", "kinds/consumer/", values)


def assignments(run: Run) -> int:
    """The number of target assignments that are possible with the names of a run."""
    return int((len(members_of([run])) + 1) ** len(set(_partitions(run))))


def members_of(runs: Sequence[Run]) -> set[str]:
    """Every member that the runs name."""
    return {member for run in runs for line in run.lines for member in _members(line)}


def _members(line: Line) -> Iterator[str]:
    yield from [line.member] if line.member else []
    yield from line.seen.members if line.seen else ()
    yield from line.script or ()


def _partitions(run: Run) -> Iterator[Partition]:
    """Every partition that a run names."""
    yield from ((topic, index) for topic, count in run.topics.items() for index in range(count))
    for line in run.lines:
        yield from ((line.topic, index) for index in range(line.partitions))
        yield from (line.request.owned or ()) if line.request else ()
        if line.response:
            yield from (line.response.assigned or frozenset()) | (line.response.pending or frozenset())
        yield from (partition for owned in (line.script or {}).values() for partition in owned)
        if line.seen:
            yield from (partition for owned in (line.seen.targets or {}).values() for partition in owned)
            for member in line.seen.members.values():
                yield from member.get("assigned", frozenset()) | member.get("revoking", frozenset())
