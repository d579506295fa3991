"""OffsetCommit and OffsetFetch (O1, O2, O4), and offsets that are deleted with their topic or group (T2).

A commit is fenced by member id and member epoch alone: a former owner of a partition is no longer a member,
or has an older epoch than the one at which it was told to give the partition up. A commit is no heartbeat:
the session's timer stays as it is, and a member that is fenced here stays a member.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from coordinator.consumer.model import AWAY, Group, Topics
from coordinator.consumer.partition_epochs import held_since
from coordinator.consumer.validation import NO_TOPIC_ID
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Result
from coordinator.offsets.records import CommittedOffset, OffsetRecord, Offsets, OffsetsOfGroup
from coordinator.offsets.request import (
    NO_MEMBER_EPOCH,
    CommitRequest,
    FetchedGroup,
    FetchRequest,
    PartitionCommit,
    TopicReference,
    validate_group_id,
    validate_offset_commit,
    validate_offset_fetch,
)

_NO_OFFSETS: Final[OffsetsOfGroup] = {}
_UNKNOWN: Final = CommittedOffset(-1, -1, "", 0, "")
"""The answer to a fetch of a partition without a committed offset."""


def offset_commit(env: Env, group: Group | None, request: CommitRequest, now_ms: int) -> Result:
    """OffsetCommit (O1, O2): one batch of all valid partitions. Raises RequestRejected where none can be
    committed.

    A partition that is not valid has its own error, and the others are committed all the same.
    """
    validate_offset_commit(request, env.names_by_id)
    simple = not request.member_id and request.member_epoch == NO_MEMBER_EPOCH
    if not simple or (group is not None and group.members):
        _verify_commit(env, group, request)
    result = Result(request.group_id)
    topics = []
    for topic, partitions in request.topics:
        answers = []
        for partition in partitions:
            code = _commit_error(env, topic, partition)
            if not code:
                result.records.append(_committed(env, request.group_id, topic, partition, now_ms))
            answers.append({"partitionIndex": partition.partition, "errorCode": int(code)})
        topics.append({**_named(topic), "partitions": answers})
    result.response = {"throttleTimeMs": 0, "topics": topics}
    return result


def _verify_commit(env: Env, group: Group | None, request: CommitRequest) -> None:
    """O2, PartitionEpochs, for the valid partitions. Raises RequestRejected as `verify_member`."""
    member = group.members.get(request.member_id) if group else None
    if member is not None and env.dialect.PartitionEpochs:
        committed = (
            (env.topics[_name(env, topic)].id, partition.partition)
            for topic, partitions in request.topics
            for partition in partitions
            if not _commit_error(env, topic, partition)
        )
        if held_since(member, request.member_epoch, committed):
            return
    verify_member(env, group, request.group_id, request.member_id, request.member_epoch)


def verify_member(env: Env, group: Group | None, group_id: str, member_id: str, member_epoch: int) -> None:
    """O2. Raises RequestRejected with UNKNOWN_MEMBER_ID (or GROUP_ID_NOT_FOUND) or STALE_MEMBER_EPOCH.

    A member that is away has no process that could commit: any epoch of its is stale (S1), unless the dialect
    accepts -2 (AwayCommits).
    """
    if group is None:
        raise RequestRejected(ErrorCode[env.dialect.UnknownGroupError], f"Group {group_id} does not exist.")
    member = group.members.get(member_id)
    if member is None:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id!r} is not in group {group_id}; join it first."
        )
    if member_epoch != member.epoch and member.metadata.classic is not None:
        raise RequestRejected(
            ErrorCode.ILLEGAL_GENERATION,
            f"Generation {member_epoch} is not that of member {member_id}; rejoin.",
        )
    if member_epoch != member.epoch or (member.epoch == AWAY and not env.dialect.AwayCommits):
        raise RequestRejected(
            ErrorCode.STALE_MEMBER_EPOCH,
            f"Member epoch {member_epoch} of member {member_id} is not its current one; "
            "retry after the next heartbeat.",
        )


def _commit_error(env: Env, topic: TopicReference, partition: PartitionCommit) -> ErrorCode:
    """The error that keeps one partition from being committed (O1)."""
    error = _topic_error(env, topic, partition.partition)
    if error:
        return error
    if partition.offset < 0 or partition.leader_epoch < -1:
        return ErrorCode.INVALID_REQUEST
    if len(partition.metadata.encode()) > env.config.max_offset_metadata_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def _topic_error(env: Env, topic: TopicReference, index: int) -> ErrorCode:
    name = _name(env, topic)
    if name not in env.topics:
        return ErrorCode.UNKNOWN_TOPIC_ID if topic.id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not 0 <= index < env.topics[name].partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _name(env: Env, topic: TopicReference) -> str:
    """The name of the topic; "" where no topic has the id."""
    return env.names_by_id.get(topic.id, topic.name)


def _committed(
    env: Env, group_id: str, topic: TopicReference, partition: PartitionCommit, now_ms: int
) -> OffsetRecord:
    name = _name(env, topic)
    value = CommittedOffset(
        partition.offset, partition.leader_epoch, partition.metadata, now_ms, env.topics[name].id
    )
    return OffsetRecord(group_id, name, partition.partition, value)


def _named(topic: TopicReference) -> Json:
    """A topic of a response, with the name or the id that the request had."""
    return {"name": topic.name or None, "topicId": topic.id or NO_TOPIC_ID}


def offset_commit_error(request: CommitRequest, code: ErrorCode, message: str) -> Json:
    """The answer to a commit of which nothing was kept: every partition has the error.

    The response has no field for the message. A batch that is too large has an error of its own here (P4).
    """
    if code == ErrorCode.UNKNOWN_SERVER_ERROR:
        code = ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return {
        "throttleTimeMs": 0,
        "topics": [
            {
                **_named(topic),
                "partitions": [
                    {"partitionIndex": partition.partition, "errorCode": int(code)}
                    for partition in partitions
                ],
            }
            for topic, partitions in request.topics
        ],
    }


def offset_fetch(
    env: Env,
    offsets: Offsets,
    request: FetchRequest,
    admit: Callable[[str], None],
    verify: Callable[[str, str, int], None],
) -> Json:
    """OffsetFetch (O1, O4): the response. Fenced only if the request has a member id or an epoch.

    `admit` raises RequestRejected for a group that the client may not see, `verify` for a member id and an
    epoch or generation that no member of the group has. An error of the whole request is the error of every
    group.
    """
    answers = []
    whole = _fault_of_all(env, request)
    for group in request.groups:
        try:
            admit(group.group_id)
            if whole:
                raise RequestRejected(whole, "The request is invalid, whatever the group.")
            validate_group_id(group.group_id)
            if request.member_id or request.member_epoch != NO_MEMBER_EPOCH:
                verify(group.group_id, request.member_id, request.member_epoch)
            known = offsets.get(group.group_id, _NO_OFFSETS)
            answers.append({"groupId": group.group_id, "topics": _fetched(env, known, group), "errorCode": 0})
        except RequestRejected as rejected:
            answers.append({"groupId": group.group_id, "topics": [], "errorCode": int(rejected.code)})
    return {"throttleTimeMs": 0, "groups": answers}


def _fault_of_all(env: Env, request: FetchRequest) -> ErrorCode:
    """The error that every group gets (O1)."""
    try:
        validate_offset_fetch(request, env.names_by_id)
    except RequestRejected as rejected:
        return rejected.code
    return ErrorCode.NONE


def _fetched(env: Env, known: OffsetsOfGroup, group: FetchedGroup) -> list[Json]:
    if group.topics is None:
        return _all_topics(env, known)
    return [
        {**_named(topic), "partitions": [_fetched_partition(env, known, topic, index) for index in indexes]}
        for topic, indexes in group.topics
    ]


def _all_topics(env: Env, known: OffsetsOfGroup) -> list[Json]:
    """All committed offsets, by name and partition, with name and id of each topic."""
    topics: dict[str, list[Json]] = {}
    for (name, index), committed in sorted(known.items()):
        if _applies(env.topics, name, committed):
            topics.setdefault(name, []).append(_answer(index, committed))
    return [
        {"name": name, "topicId": env.topics[name].id, "partitions": partitions}
        for name, partitions in topics.items()
    ]


def _fetched_partition(env: Env, known: OffsetsOfGroup, topic: TopicReference, index: int) -> Json:
    error = _topic_error(env, topic, index)
    name = _name(env, topic)
    committed = known.get((name, index), _UNKNOWN)
    if error or not _applies(env.topics, name, committed):
        committed = _UNKNOWN
    return _answer(index, committed, error)


def _answer(index: int, committed: CommittedOffset, error: ErrorCode = ErrorCode.NONE) -> Json:
    return {
        "partitionIndex": index,
        "committedOffset": committed.offset,
        "committedLeaderEpoch": committed.leader_epoch,
        "metadata": committed.metadata,
        "errorCode": int(error),
    }


def _applies(topics: Topics, name: str, committed: CommittedOffset) -> bool:
    """T2: an offset belongs to the topic for which it was committed, not to another that has its name now."""
    return name in topics and topics[name].id == committed.topic_id


def offsets_of_deleted_topics(offsets: Offsets, group_id: str, topics: Topics) -> list[OffsetRecord]:
    """Tombstones of a group's committed offsets of topics that exist no more (T2), by name and partition."""
    return [
        OffsetRecord(group_id, name, index, None)
        for (name, index), committed in sorted(offsets.get(group_id, _NO_OFFSETS).items())
        if not _applies(topics, name, committed)
    ]


def offsets_of_deleted_group(offsets: Offsets, group_id: str) -> list[OffsetRecord]:
    """Tombstones of all committed offsets of a group (E5 DEAD), by name and partition."""
    return offsets_of_deleted_topics(offsets, group_id, {})
