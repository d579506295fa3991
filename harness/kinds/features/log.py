"""The specification's log: the records that a step appends to it must be those that `records.written` expects
of a target (P1).

Traces of the models with a log (spec/OpenLog.tla) have the variable `log`: a set of records with offsets,
from which compaction removes some (P3). The records that a target must write come from the states before and
after a step. Both are derived from P1, so they must agree in all fields of the specification's records.
Fields that the specification's records leave out (client ids, time-outs) are not compared.

A contradiction ends the decoding of the trace and is no difference of a step: the specification and the
harness, or the trace and the specification, contradict each other, which is not the target's fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from frozendict import frozendict

from harness.kinds.consumer.records import group_key, offset_key
from harness.kinds.consumer.state import SpecState
from harness.kinds.fields import Fields
from harness.replay import wire
from harness.replay.compare import differences, record_name
from harness.targets.base import Answer, Json

_Readers: TypeAlias = dict[str, Callable[[Fields], Any]]
"""Field of a record's value in JSON -> its reader in the specification's value."""


def _epoch(value: Fields) -> int:
    return value.get("epoch", int)


def _partitions(value: Fields) -> list[Json]:
    return wire.topic_partitions(value.partitions("partitions"))


_READERS: Final[dict[str, _Readers]] = {
    "OffsetCommit": {
        "offset": lambda value: value.get("committed", int),
        "topicId": lambda value: wire.topic_id(value.get("topic", str)),
    },
    "ConsumerGroupMetadata": {"epoch": _epoch},
    "ConsumerGroupPartitionMetadata": {
        "epoch": _epoch,
        "topics": lambda value: wire.metadata(value.metadata("metadata")),
    },
    "ConsumerGroupMemberMetadata": {
        "instanceId": lambda value: value.get("instance", str) or None,
        "subscribedTopicNames": lambda value: sorted(value.names("subscription")),
        "subscribedTopicRegex": lambda value: value.get("regex", str) or None,
        "serverAssignor": lambda value: value.get("assignor", str) or None,
    },
    "ConsumerGroupTargetAssignmentMetadata": {"assignmentEpoch": _epoch},
    "ConsumerGroupTargetAssignmentMember": {"topicPartitions": _partitions},
    "ConsumerGroupCurrentMemberAssignment": {"memberEpoch": _epoch, "topicPartitions": _partitions},
}
"""The fields of the specification's records (spec/GroupLog.tla, `RecordsOf`), by their type."""


def check_log(before: SpecState, after: SpecState, expected: Sequence[Json]) -> None:
    """Check that a step appends the records `expected` and removes none (P1); a Compact only removes some
    (P3).

    ValueError, in words, if the specification's log contradicts that; states without a log pass.
    """
    if before.log is None or after.log is None:
        return
    action = after.step.action
    appended = sorted((Fields(raw, "log") for raw in after.log - before.log), key=_offset)
    if action == "Compact":
        if appended:
            raise ValueError("a Compact adds records to the log, but may only take some out")
        return
    if lost := [_offset(Fields(raw, "log")) for raw in before.log - after.log]:
        raise ValueError(f"{action} takes the record at offset {min(lost)} out of the log or changes it")
    end = max((_offset(Fields(raw, "log")) for raw in before.log), default=-1) + 1
    offsets = [_offset(record) for record in appended]
    if offsets != list(range(end, end + len(offsets))):
        raise ValueError(f"the log ends before offset {end}, but {action} appends at {offsets}")
    _compare([_record_json(record) for record in appended], expected)


def _offset(record: Fields) -> int:
    return record.get("offset", int)


def _record_json(record: Fields) -> Json:
    """A record of the specification as JSON, with the fields that it has."""
    kind, member = record.get("type", str), record.get("member", str)
    if kind not in _READERS:
        raise ValueError(f"log has a record of the type {kind!r}; there are {', '.join(_READERS)}")
    partition = record.partition("partition")
    key = group_key(kind, member or None)
    if partition is not None:  # The name is the specification's: only the fact that it is no id counts.
        key = {**offset_key(partition), "topic": partition[0]}
    place = f"log[{record_name(key)}]"
    raw = Fields(record.raw, place).option("value", frozendict)
    if raw is None:
        return {"key": key, "value": None}
    value = Fields(raw, f"{place}.value")
    return {"key": key, "value": {name: read(value) for name, read in _READERS[kind].items()}}


def _with_given_fields(record: Json) -> Json:
    """A record that a target must write, without the fields that the specification's record does not have."""
    key, value = record["key"], record["value"]
    given = _READERS.get(key["type"], {})
    return {"key": key, "value": value and {name: value[name] for name in value if name in given}}


def _compare(seen: Sequence[Json], expected: Sequence[Json]) -> None:
    """ValueError, in words, with the first place where they differ."""
    comparable = [_with_given_fields(record) for record in expected]
    different = differences(_answer(seen), _answer(comparable))
    if not different:
        return
    first = different[0]
    place = first.path.replace("records", "log", 1)
    raise ValueError(
        f"of {place} the spec's log says {json.dumps(first.expected)}, and the states before and after it "
        f"{json.dumps(first.got)}; so spec/GroupLog.tla and harness/kinds/consumer/records.py contradict "
        "each other, or the trace was altered"
    )


def _answer(records: Sequence[Json]) -> Answer:
    return Answer(records=[{"offset": offset, **record} for offset, record in enumerate(records)])
