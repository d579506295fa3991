"""The last tables of docs/fields.md: records by dialect, settings of `configure`, names for `unobserved`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.kinds.consumer.records import committed_record
from harness.kinds.consumer.stable import stable_group
from harness.replay import wire
from harness.replay.dialects import FORMS
from harness.replay.view import NAMES
from harness.targets.python import PythonTarget, settings

_MS: Final = "ms"
_MEANINGS: Final = {
    "group.consumer.session.timeout.ms": (_MS, "A consumer that is silent for so long is removed (H8)"),
    "group.consumer.min.session.timeout.ms": (_MS, "The least that a group may set"),
    "group.consumer.max.session.timeout.ms": (_MS, "The most that a group may set"),
    "group.consumer.heartbeat.interval.ms": (_MS, "`heartbeatIntervalMs` of answers to consumers (H9)"),
    "group.consumer.min.heartbeat.interval.ms": (_MS, "The least that a group may set"),
    "group.consumer.max.heartbeat.interval.ms": (_MS, "The most that a group may set"),
    "group.consumer.max.size": ("members", "The most members that a consumer group may have (H5)"),
    "group.consumer.assignors": ("names", "The server-side assignors, the default first (A2)"),
    "group.coordinator.threads": ("threads", "1: a coordinator here has one thread"),
    "group.consumer.assignment.interval.ms": (_MS, "The least time between two targets (E2)"),
    "group.empty.retention.ms": (_MS, "A group that is empty for so long is deleted (E5); not Kafka's"),
    "group.initial.rebalance.delay.ms": (_MS, "The first delay of a new classic group (C1)"),
    "group.min.session.timeout.ms": (_MS, "The least session time-out of a classic member"),
    "group.max.session.timeout.ms": (_MS, "The most of it"),
    "message.max.bytes": ("bytes", "The largest batch of records (P4)"),
    "offset.metadata.max.bytes": ("bytes", "The longest metadata of a committed offset (O1)"),
}


def forms() -> Iterator[str]:
    """The lines of the three tables."""
    yield from ("", "## Records by dialect", "")
    yield (
        "The fields that the value of each record has when a trace of the dialect is loaded; the kit "
        "compares these fields after each step. A field or record that the program has not is to be named in "
        "[`unobserved`](#names-for-unobserved). The log of a group that a trace loads has "
        "`ConsumerGroupPartitionMetadata` in every dialect, as some versions of Kafka keep only a hash of it."
    )
    yield from _records()
    yield from ("", "## Settings of configure", "")
    yield (
        "A program that has `configure` may get these before the first request. A replay always sends those "
        f"that have a value in the last column, and `{wire.MAX_SIZE}`; traces of some models send others."
    )
    yield from ("", "| name | default | unit | meaning | replays send |", "| --- | --- | --- | --- | --- |")
    for name, default in settings().items():
        unit, meaning = _MEANINGS[name]
        sent = f"{wire.CONFIGURATION[name]}" if name in wire.CONFIGURATION else ""
        yield f"| `{name}` | {default} | {unit} | {meaning} | {sent} |"
    yield from ("", "## Names for unobserved", "")
    yield "Parts of a description or record that a program may name in `unobserved`; others are refused."
    yield ""
    yield ", ".join(f"`{name}`" for name in NAMES) + "."


def _records() -> Iterator[str]:
    dialects = list(dict.fromkeys(one.name for one in FORMS.values()))
    known = {dialect: fields(dialect) for dialect in dialects}
    alike: dict[str, list[str]] = {}
    for dialect in dialects:
        alike.setdefault(str(known[dialect]), []).append(dialect)
    groups = list(alike.values())
    yield from ("", "| record | " + " | ".join(", ".join(names) for names in groups) + " |")
    yield "| --- |" + " --- |" * len(groups)
    for kind in known[dialects[0]]:
        cells = [", ".join(f"`{field}`" for field in known[names[0]][kind]) for names in groups]
        yield f"| `{kind}` | " + " | ".join(cells) + " |"


def fields(dialect: str) -> dict[str, list[str]]:
    """Record -> the fields of its value; further fields of a target of the dialect are not compared."""
    listed = [*stable_group(dialect, True).records, committed_record(("foo", 0), 1, 0)]
    by_type = {record["key"]["type"]: list(record["value"]) for record in listed}
    for name in sorted(PythonTarget(dialect).hello().unobserved):
        part, _, field = name.partition(".")
        if part == "records" and field not in by_type:
            by_type["ConsumerGroupCurrentMemberAssignment"].append(f"{field} (not compared)")
    return by_type
