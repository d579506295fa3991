"""Partitions in their normal form on the wire: [{"topicId": "<uuid>", "partitions": [0, 1]}], both sorted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from coordinator.consumer.model import Partition, Partitions
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

SMALL: Final = 64
"""The most partitions of a set whose normal form is kept: all kept forms together take some 40 MB at most."""


def to_wire(partitions: Partitions) -> list[Json]:
    """The normal form. Equal sets share one list: do not change it."""
    return _kept(partitions) if len(partitions) <= SMALL else _made(partitions)


@lru_cache(maxsize=4096)
def _kept(partitions: Partitions) -> list[Json]:
    return _made(partitions)


def _made(partitions: Partitions) -> list[Json]:
    topics: dict[str, list[int]] = {}
    for topic_id, index in sorted(partitions):
        topics.setdefault(topic_id, []).append(index)
    return [{"topicId": topic_id, "partitions": indexes} for topic_id, indexes in topics.items()]


def partitions_given(value: object, where: str) -> list[Partition]:
    """The partitions of the list, repeated ones included; BadInput where the list is malformed."""
    if type(value) is not list:
        raise BadInput(f"{where} must be a list of topic partitions, not {fields.shown(value)}")
    listed: list[Partition] = []
    for entry in value:
        if type(entry) is not dict or len(entry) != 2 or "topicId" not in entry or "partitions" not in entry:
            raise BadInput(
                f"{where} must hold objects with topicId and partitions, not {fields.shown(entry)}"
            )
        topic_id = fields.topic_id(entry["topicId"], where)
        for index in fields.items(entry, "partitions", where):
            if type(index) is not int:
                raise BadInput(f"a partition in {where} must be a whole number, not {fields.shown(index)}")
            listed.append((topic_id, fields.fits(index, 32, "partitions", where)))
    return listed


def from_wire(value: object, where: str) -> Partitions:
    """The partitions of the list as a set; BadInput where the list repeats a partition or has one below 0."""
    listed = partitions_given(value, where)
    partitions = frozenset(listed)
    if len(partitions) != len(listed):
        raise BadInput(f"{where} names a partition twice")
    for topic_id, index in listed:
        if index < 0:
            raise BadInput(f"a partition of topic {topic_id} in {where} must be at least 0, not {index}")
    return partitions


def scripted(target: Mapping[str, object] | str) -> dict[str, Partitions] | str:
    """A scripted target as members' partitions; the message of an assignor that fails stays as it is."""
    if isinstance(target, str):
        return target
    where = "the scripted target"
    return {name: from_wire(value, f"{where} of {name!r}") for name, value in target.items()}
