"""Partitions in their normal form on the wire: [{"topicId": "<uuid>", "partitions": [0, 1]}], both sorted."""

from __future__ import annotations

from functools import lru_cache

from coordinator import fields
from coordinator.errors import BadInput
from coordinator.fields import Json
from coordinator.model import NOTHING, Partition, Partitions


@lru_cache(maxsize=65536)
def to_wire(partitions: Partitions) -> list[Json]:
    """The normal form. Equal sets share one list: do not change it."""
    topics: dict[str, list[int]] = {}
    for topic_id, index in sorted(partitions):
        topics.setdefault(topic_id, []).append(index)
    return [{"topicId": topic_id, "partitions": indexes} for topic_id, indexes in topics.items()]


def from_wire(value: object, where: str) -> Partitions:
    """The set that the list stands for; BadInput where it is no such list or names a partition twice."""
    if type(value) is not list:
        raise BadInput(f"{where} must be a list of topic partitions, not {value!r}")
    if not value:
        return NOTHING
    found: list[Partition] = []
    for entry in value:
        if type(entry) is not dict or len(entry) != 2 or "topicId" not in entry or "partitions" not in entry:
            raise BadInput(f"{where} must hold objects with topicId and partitions, not {entry!r}")
        topic_id = fields.topic_id(entry["topicId"], where)
        for index in fields.items(entry, "partitions", where):
            if type(index) is not int or index < 0:
                raise BadInput(f"a partition in {where} must be a whole number from 0, not {index!r}")
            found.append((topic_id, index))
    partitions = frozenset(found)
    if len(partitions) != len(found):
        raise BadInput(f"{where} names a partition twice")
    return partitions
