"""Requests of groups between a client and a broker: their reader, and the refusals of faults."""

from __future__ import annotations

from typing import Any, Final

from kio.index import load_request_schema

from coordinator.serve.frames import HEADER, NUMBERS, Head, Malformed, answer_frame
from coordinator.serve.group_apis import GROUP_APIS
from coordinator.serve.reading import Bytes, Unreadable, read_client, read_request
from harness.targets.base import Json

RECORDED: Final = {
    NUMBERS[name]: name
    for name in (
        *("ConsumerGroupHeartbeat", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"),
        *("OffsetCommit", "OffsetFetch", "DeleteGroups"),
    )
}
"""The APIs of groups that are recorded."""


def read_group_request(head: Head, frame: bytes) -> tuple[str, Json]:
    """The client's id and the body of a request to a group. Malformed, in words, for another frame."""
    api = GROUP_APIS[head.key]
    if not api.first <= head.version <= api.last:
        raise Malformed(f"{api.name} has the versions {api.first} to {api.last} here, not {head.version}")
    schema: Any = load_request_schema(head.key, head.version)
    data = Bytes(frame)
    data.take(HEADER)
    try:
        return read_client(schema, data), read_request(schema, data)
    except Unreadable as error:
        raise Malformed(f"{api.name}, version {head.version}, cannot be read: {error}") from None


def error_frame(head: Head, body: Json, code: int) -> bytes:
    """The frame of an answer that refuses a group's request with an error."""
    return answer_frame(head, _refusal(head, body, code))


def _refusal(head: Head, body: Json, code: int) -> Json:
    api = RECORDED[head.key]
    if api == "OffsetCommit" or (api == "OffsetFetch" and head.version < 2):
        return {"topics": [_refused_topic(topic, code) for topic in body["topics"] or ()]}
    if api == "OffsetFetch" and head.version >= 8:
        groups = [{"groupId": one["groupId"], "topics": [], "errorCode": code} for one in body["groups"]]
        return {"groups": groups}
    if api == "DeleteGroups":
        return {"results": [{"groupId": name, "errorCode": code} for name in body["groupsNames"]]}
    return {"errorCode": code}


def _refused_topic(topic: Json, code: int) -> Json:
    indexes = topic.get("partitionIndexes") or [one["partitionIndex"] for one in topic.get("partitions", ())]
    partitions = [{"partitionIndex": index, "errorCode": code} for index in indexes]
    return {**{name: topic[name] for name in ("name", "topicId") if name in topic}, "partitions": partitions}
