"""One table of the fields that KIP-848 and Kafka's schemas write differently, for both ends of the wire.

The served coordinator reads requests from Kafka's form and writes answers in it; a target that is a live
broker (`harness/targets/broker/`) does the reverse. Tests of both ends have their expected bytes written by
hand, as one table could hide its own error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator.core.fields import Json

Convert = Callable[[Any, Json], Any]
"""A conversion of a value to the other form; the object that holds the value is passed, too."""


def _same(value: Any, _: Json) -> Any:
    return value


class Row(NamedTuple):
    """A field: its name in KIP-848 and in Kafka's schema, its conversions, and its value in KIP-848 where a
    request leaves it out (a field of an answer is always present)."""

    kip: str
    kafka: str
    to_kafka: Convert = _same
    to_kip: Convert = _same
    absent: Any = None


def _member_or_null(member: Any, body: Json) -> Any:
    """No member is null in Kafka and may be "" in KIP-848. With an epoch "" stays, so that the request is
    refused."""
    return member or (None if body.get(_EPOCH, -1) < 0 else member)


_EPOCH: Final = "generationIdOrMemberEpoch"
ASSIGNMENT: Final = (Row("assignedTopicPartitions", "topicPartitions"),)
"""The assignment in a heartbeat's answer. Kafka's has no pending partitions, error or metadata."""
FETCHING_MEMBER: Final = (
    Row("memberId", "memberId", _member_or_null, lambda value, _: value or "", absent=""),
    Row(_EPOCH, "memberEpoch", absent=-1),
)
"""The member in OffsetFetch: KIP-848 names it once in a request, Kafka with each group."""
GROUP_RESOURCE: Final = 32
"""Kafka's number of the resource type GROUP."""
_RESOURCES: Final[Mapping[int, int]] = {GROUP_RESOURCE: 16, 16: GROUP_RESOURCE}
"""KIP-848 calls GROUP 16; Kafka's 16 is another type."""


def to_kafka(rows: Sequence[Row], body: Json) -> Json:
    """The fields of these rows as Kafka's schema has them."""
    return {row.kafka: row.to_kafka(body.get(row.kip, row.absent), body) for row in rows}


def to_kip(rows: Sequence[Row], body: Json) -> Json:
    """The fields of these rows as KIP-848 has them."""
    return {row.kip: row.to_kip(body.get(row.kafka, row.absent), body) for row in rows}


def of_other_type(resource: Json) -> Json:
    """A resource of the configuration APIs with its type in the numbers of the other form, in both
    directions."""
    kind = resource["resourceType"]
    return {**resource, "resourceType": _RESOURCES.get(kind, kind)}
