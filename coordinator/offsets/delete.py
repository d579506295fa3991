"""OffsetDelete (D1): an administrator deletes committed offsets. KIP-848's text has no rule for it; the rules
are Kafka's.

A topic that a live member subscribes to keeps its offsets, and so does a live group of another protocol type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from coordinator.consumer.model import Group
from coordinator.consumer.subscription import topics_of
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Result
from coordinator.offsets.records import OffsetRecord, Offsets
from coordinator.offsets.request import validate_group_id

Subscribed = Callable[[str], bool]
"""Tells if a live member of the group subscribes to this topic."""


class Deletion(NamedTuple):
    """OffsetDelete, version 0: topics by name with their partitions."""

    group_id: str
    topics: list[tuple[str, list[int]]]
    principal: str = ""


def offset_delete(
    env: Env,
    groups: Mapping[str, Group],
    other: Callable[[str], Subscribed | None],
    offsets: Offsets,
    request: Deletion,
) -> Result:
    """One batch of tombstones. Raises RequestRejected where nothing can be deleted.

    `groups` are consumer groups; `other` gives the subscriptions of a group of another kind, or None where
    there is no such group. It raises RequestRejected for a live group whose members are no consumers. A
    request that names no existing topic is not refused for the group's sake, as in Kafka.
    """
    validate_group_id(request.group_id)
    result = Result(request.group_id)
    known = any(name in env.topics for name, _ in request.topics)
    subscribed = _subscribed(env, groups, other, offsets, request.group_id) if known else None
    topics = []
    for name, indexes in request.topics:
        code = ErrorCode.NONE
        if name not in env.topics:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif subscribed is not None and subscribed(name):
            code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        else:
            result.records += _tombstones(offsets, request.group_id, name, indexes)
        answers = [{"partitionIndex": index, "errorCode": int(code)} for index in indexes]
        topics.append({"name": name, "partitions": answers})
    result.response = {"errorCode": 0, "throttleTimeMs": 0, "topics": topics}
    return result


def _tombstones(offsets: Offsets, group_id: str, name: str, indexes: list[int]) -> list[OffsetRecord]:
    """The tombstones of committed offsets; a partition without an offset needs none."""
    known = offsets.get(group_id, {})
    return [
        OffsetRecord(group_id, name, index, None)
        for index in dict.fromkeys(indexes)
        if (name, index) in known
    ]


def _subscribed(
    env: Env,
    groups: Mapping[str, Group],
    other: Callable[[str], Subscribed | None],
    offsets: Offsets,
    group_id: str,
) -> Subscribed | None:
    group = groups.get(group_id)
    if group is not None:
        existing = env.topic_names
        return frozenset[str]().union(*(topics_of(one, existing) for one in group.subscriptions)).__contains__
    subscribed = other(group_id)
    if subscribed is None and group_id not in offsets:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} does not exist.")
    return subscribed


def offset_delete_error(code: ErrorCode, _: str) -> Json:
    """The answer where nothing was deleted; the response has no field for the message."""
    return {"errorCode": int(code), "throttleTimeMs": 0, "topics": []}
