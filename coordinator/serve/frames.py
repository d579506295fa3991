"""Kafka's frames between a client and another broker: their heads, and the answers that are read or written.

A frame is passed on byte for byte. Only two kinds are encoded here: answers that must name other addresses or
versions (`addresses.py`), and requests of our own.
"""

from __future__ import annotations

import io
import struct
from functools import cache
from typing import Any, Final, NamedTuple

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from coordinator.core.fields import Json
from coordinator.serve.codec import fitted, from_json, to_json
from coordinator.serve.writing import writer

_HEAD: Final = struct.Struct(">hhi")
HEADER: Final = _HEAD.size
"""Bytes at the beginning of a request: the API's number, the version, the correlation id."""
NUMBERS: Final = {
    "".join(part.capitalize() for part in name.split("_")): key for key, name in api_key_map.items()
}
"""Kafka's numbers of APIs by their names."""


class Malformed(Exception):
    """A frame that is no message of Kafka, or has a version that is not read here. The text has the
    reason."""


class Head(NamedTuple):
    """The beginning of a request."""

    key: int
    version: int
    correlation_id: int


def head_of(frame: bytes) -> Head:
    """Head of a request's frame. Malformed for a frame that has none."""
    if len(frame) < HEADER:
        raise Malformed(f"a frame of {len(frame)} bytes is no request")
    return Head(*_HEAD.unpack_from(frame))


def correlation_of(answer: bytes) -> int:
    """Correlation id of an answer's frame. Malformed for a frame that has none."""
    if len(answer) < 4:
        raise Malformed(f"a frame of {len(answer)} bytes is no answer")
    return int.from_bytes(answer[:4], "big", signed=True)


def read_answer(key: int, version: int, frame: bytes) -> Json:
    """The body of an answer. Malformed, in words, for bytes that are no answer."""
    schema: Any = load_response_schema(key, version)
    try:
        _, start = _reader(schema.__header_schema__)(frame, 0)
        message, _ = _reader(schema)(frame, start)
        return to_json(message)
    except (SerialError, ValueError, IndexError, MemoryError) as error:
        raise Malformed(f"an answer of API {key}, version {version}, cannot be read: {error}") from None


def answer_frame(head: Head, body: Json) -> bytes:
    """The frame of an answer to a request."""
    schema = _answers(head.key, head.version)
    header = schema.__header_schema__
    write_header, write = writer(header), writer(schema)
    if write_header is None or write is None:
        return _written(header(correlation_id=head.correlation_id), fitted(schema, body))
    out = bytearray()
    write_header(out, {"correlationId": head.correlation_id})
    write(out, body)
    return bytes(out)


def request_frame(client_id: str, api: str, version: int, correlation_id: int, body: Json) -> bytes:
    """The frame of a request of our own. ValueError, in words, for a body that cannot be sent."""
    schema: Any = load_request_schema(NUMBERS[api], version)
    named = {"client_id": client_id} if schema.__header_schema__.__version__ else {}
    header = schema.__header_schema__(
        request_api_key=schema.__api_key__,
        request_api_version=schema.__version__,
        correlation_id=correlation_id,
        **named,
    )
    try:
        return _written(header, from_json(schema, body))
    except SerialError as error:
        raise ValueError(f"{api} cannot be encoded: {error}") from None


def _written(header: Any, message: Any) -> bytes:
    buffer = io.BytesIO()
    for part in (header, message):
        schema: type = type(part)
        _writer(schema)(buffer, part)
    return buffer.getvalue()


@cache
def _answers(key: int, version: int) -> Any:
    return load_response_schema(key, version)


@cache
def _writer(schema: type) -> Any:
    return entity_writer(schema)


@cache
def _reader(schema: type) -> Any:
    return entity_reader(schema)
