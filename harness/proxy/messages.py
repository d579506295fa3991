"""Kafka's frames between a client and a broker: what is read of them, and the two that are written here.

A frame is passed on as the bytes that it came as. Only answers with addresses or versions (`addresses.py`),
answers that a fault puts in the place of others, and the questions of the recorder itself are encoded here.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from coordinator.serve.codec import fitted, to_json
from coordinator.serve.group_apis import GROUP_APIS
from coordinator.serve.reading import Bytes, Unreadable, read_client, read_request
from harness.targets.base import Json

HEADER: Final = 8
"""Bytes at the beginning of a request: the API's number, the version, the correlation id."""
CLIENT_ID: Final = "conform-proxy"

NUMBERS: Final = {
    "".join(part.capitalize() for part in name.split("_")): key for key, name in api_key_map.items()
}
"""Kafka's numbers of APIs by their names."""
RECORDED: Final = {
    NUMBERS[name]: name
    for name in (
        *("ConsumerGroupHeartbeat", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"),
        *("OffsetCommit", "OffsetFetch", "DeleteGroups"),
    )
}
"""The APIs of groups that the record has."""


class Malformed(Exception):
    """A frame that is no message of Kafka, or of no version that is read here. The text says why."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a request."""

    key: int
    version: int
    correlation_id: int


def head_of(frame: bytes) -> Head:
    """Head of a request's frame. Malformed for a frame that has none."""
    if len(frame) < HEADER:
        raise Malformed(f"a frame of {len(frame)} bytes is no request")
    data = Bytes(frame)
    return Head(data.fixed(">h"), data.fixed(">h"), data.fixed(">i"))


def correlation_of(answer: bytes) -> int:
    """Correlation id of an answer's frame. Malformed for a frame that has none."""
    if len(answer) < 4:
        raise Malformed(f"a frame of {len(answer)} bytes is no answer")
    return int.from_bytes(answer[:4], "big", signed=True)


def read_group_request(head: Head, frame: bytes) -> tuple[str, Json]:
    """The client's id and the body of a request to a group. Malformed, in words, for what is none."""
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


def read_answer(key: int, version: int, frame: bytes) -> Json:
    """The body of an answer. Malformed, in words, for what is none."""
    schema: Any = load_response_schema(key, version)
    try:
        _, start = _reader(schema.__header_schema__)(frame, 0)
        message, _ = _reader(schema)(frame, start)
        return to_json(message)
    except (SerialError, ValueError, IndexError, MemoryError) as error:
        raise Malformed(f"an answer of API {key}, version {version}, cannot be read: {error}") from None


def answer_frame(head: Head, body: Json) -> bytes:
    """The frame of an answer to a request."""
    schema: Any = load_response_schema(head.key, head.version)
    return _written(schema.__header_schema__(correlation_id=head.correlation_id), fitted(schema, body))


def request_frame(api: str, version: int, correlation_id: int, body: Json) -> bytes:
    """The frame of a request that the recorder itself asks."""
    schema: Any = load_request_schema(NUMBERS[api], version)
    named = {"client_id": CLIENT_ID} if schema.__header_schema__.__version__ else {}
    header = schema.__header_schema__(
        request_api_key=schema.__api_key__,
        request_api_version=schema.__version__,
        correlation_id=correlation_id,
        **named,
    )
    return _written(header, fitted(schema, body))


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


def _written(header: Any, message: Any) -> bytes:
    buffer = io.BytesIO()
    for part in (header, message):
        schema: type = type(part)
        _writer(schema)(buffer, part)
    return buffer.getvalue()


@cache
def _writer(schema: type) -> Any:
    return entity_writer(schema)


@cache
def _reader(schema: type) -> Any:
    return entity_reader(schema)
