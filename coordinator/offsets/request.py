"""The requests of OffsetCommit and OffsetFetch, version 9 (O1): their fields and their validation.

A topic is named by its id or by its name. Absent is a null name, an empty one, and the id of zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator.consumer.request import client_of
from coordinator.consumer.validation import MAX_TEXT_BYTES, NO_TOPIC_ID, is_too_long
from coordinator.core import fields
from coordinator.core.errors import ErrorCode, RequestRejected

NO_MEMBER_EPOCH: Final = -1
"""The member epoch of a sender that is no member: a manually assigned consumer, or an administrator (O4)."""


class TopicReference(NamedTuple):
    """A topic by id or by name; the other field is "". Validation rejects a topic with both."""

    id: str
    name: str


class PartitionCommit(NamedTuple):
    """One partition of an OffsetCommit."""

    partition: int
    offset: int
    leader_epoch: int
    metadata: str


class CommitRequest(NamedTuple):
    """OffsetCommit. Member id and epoch fence in consumer groups, in classic ones the instance id too."""

    group_id: str
    member_id: str
    instance_id: str | None
    member_epoch: int
    topics: list[tuple[TopicReference, list[PartitionCommit]]]
    principal: str


class FetchedGroup(NamedTuple):
    """One group of an OffsetFetch; without topics it requests all committed offsets."""

    group_id: str
    topics: list[tuple[TopicReference, list[int]]] | None


class FetchRequest(NamedTuple):
    """OffsetFetch. RequireStable is left out: without transactions every offset is stable."""

    member_id: str
    member_epoch: int
    groups: list[FetchedGroup]
    principal: str


def parse_offset_commit(client: Mapping[str, Any], body: Mapping[str, Any]) -> CommitRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    where = "OffsetCommit"
    names = ("groupId", "generationIdOrMemberEpoch", "memberId", "groupInstanceId", "topics")
    fields.known(body, names, where)
    return CommitRequest(
        fields.text(body, "groupId", where),
        _text(body, "memberId", where),
        fields.optional_text(body, "groupInstanceId", where),
        _number(body, "generationIdOrMemberEpoch", where, default=NO_MEMBER_EPOCH),
        [_committed_topic(topic) for topic in fields.items(body, "topics", where)],
        client_of(client)[2],
    )


def _committed_topic(value: object) -> tuple[TopicReference, list[PartitionCommit]]:
    where = "a topic of OffsetCommit"
    topic = fields.as_object(value, where)
    fields.known(topic, ("name", "topicId", "partitions"), where)
    return _reference(topic, where), [
        _committed_partition(entry) for entry in fields.items(topic, "partitions", where)
    ]


def _committed_partition(value: object) -> PartitionCommit:
    where = "a partition of OffsetCommit"
    partition = fields.as_object(value, where)
    names = ("partitionIndex", "committedOffset", "committedLeaderEpoch", "committedMetadata")
    fields.known(partition, names, where)
    return PartitionCommit(
        _number(partition, "partitionIndex", where),
        _number(partition, "committedOffset", where, 64),
        _number(partition, "committedLeaderEpoch", where, default=-1),
        _text(partition, "committedMetadata", where),
    )


def parse_offset_fetch(client: Mapping[str, Any], body: Mapping[str, Any]) -> FetchRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    where = "OffsetFetch"
    fields.known(body, ("generationIdOrMemberEpoch", "memberId", "groups", "requireStable"), where)
    if "requireStable" in body:
        fields.boolean(body, "requireStable", where)
    return FetchRequest(
        _text(body, "memberId", where),
        _number(body, "generationIdOrMemberEpoch", where, default=NO_MEMBER_EPOCH),
        [_fetched_group(group) for group in fields.items(body, "groups", where)],
        client_of(client)[2],
    )


def _fetched_group(value: object) -> FetchedGroup:
    where = "a group of OffsetFetch"
    group = fields.as_object(value, where)
    fields.known(group, ("groupId", "topics"), where)
    if "topics" in group and group["topics"] is None:
        return FetchedGroup(fields.text(group, "groupId", where), None)
    topics = [_fetched_topic(topic) for topic in fields.items(group, "topics", where)]
    return FetchedGroup(fields.text(group, "groupId", where), topics)


def _fetched_topic(value: object) -> tuple[TopicReference, list[int]]:
    where = "a topic of OffsetFetch"
    topic = fields.as_object(value, where)
    fields.known(topic, ("name", "topicId", "partitionIndexes"), where)
    indexes = fields.items(topic, "partitionIndexes", where)
    return _reference(topic, where), [
        _number({"partitionIndexes": index}, "partitionIndexes", where) for index in indexes
    ]


def _reference(topic: Mapping[str, object], where: str) -> TopicReference:
    given = topic.get("topicId")
    topic_id = NO_TOPIC_ID if given is None else fields.topic_id(given, where)
    return TopicReference("" if topic_id == NO_TOPIC_ID else topic_id, _text(topic, "name", where))


def _number(
    source: Mapping[str, object], name: str, where: str, bits: int = 32, default: int | None = None
) -> int:
    """A signed number of so many bits; `default` where it is left out."""
    if default is not None and name not in source:
        return default
    return fields.integer(source, name, where, None, bits)


def _text(source: Mapping[str, object], name: str, where: str) -> str:
    """A string, "" where it is null or left out."""
    return fields.optional_text(source, name, where) or ""


def validate_offset_commit(request: CommitRequest, topic_names: Mapping[str, str]) -> None:
    """O1. Raises RequestRejected; `topic_names` gives the name of each topic id."""
    validate_group_id(request.group_id)
    _validate_topics(
        [(topic, [partition.partition for partition in partitions]) for topic, partitions in request.topics],
        topic_names,
    )


def validate_group_id(group_id: str) -> None:
    """Raises RequestRejected where no group can have the id."""
    if not group_id:
        raise RequestRejected(ErrorCode.INVALID_GROUP_ID, "GroupId is empty; name the group.")
    if is_too_long(group_id):
        raise _invalid(f"GroupId is longer than {MAX_TEXT_BYTES} bytes; shorten it.")


def validate_offset_fetch(request: FetchRequest, topic_names: Mapping[str, str]) -> None:
    """O1: the faults that make the whole request invalid. Raises RequestRejected."""
    if request.member_id and len(request.groups) > 1:
        raise _invalid("MemberId can only be given for one group: a member is a member of one.")
    if len({group.group_id for group in request.groups}) < len(request.groups):
        raise _invalid("A group is given twice; give it once, with all its topics.")
    for group in request.groups:
        _validate_topics(group.topics or (), topic_names)


def _validate_topics(
    topics: Sequence[tuple[TopicReference, Sequence[int]]], topic_names: Mapping[str, str]
) -> None:
    """A topic with both a name and an id, or with neither; a partition that is given twice, also once by
    each."""
    seen = set[tuple[str, int]]()
    for topic, indexes in topics:
        if topic.id and topic.name:
            raise _invalid(f"Topic {topic.name} must be given by name or by id, not by both.")
        name = topic_names.get(topic.id, topic.id) or topic.name
        if not name:
            raise _invalid("A topic must be given by name or by id.")
        for index in indexes:
            if (name, index) in seen:
                raise _invalid(f"Partition {index} of topic {name} is given twice.")
            seen.add((name, index))


def _invalid(message: str) -> RequestRejected:
    return RequestRejected(ErrorCode.INVALID_REQUEST, message)
