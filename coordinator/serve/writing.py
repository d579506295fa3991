"""Answers from JSON to bytes, by kio's schemas: a server does this once for each request.

kio's own writer makes objects of a message first and checks each of their values, which takes about ten times
as long. Messages with tagged fields are left to kio; no API of groups has any.
"""

from __future__ import annotations

import base64
import dataclasses
import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final
from uuid import UUID

from coordinator.serve.codec import defaults, json_names
from coordinator.serve.reading import Shape, shape_of

Write = Callable[[bytearray, Any], None]
"""A function that appends the bytes of a JSON value; ValueError, TypeError or struct.error for a value
without bytes."""
_FIXED: Final = {
    **{"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "bool": ">?", "error_code": ">h"},
    **{"timedelta_i32": ">i", "timedelta_i64": ">q"},
}
_TIME: Final = struct.Struct(">q")
_TO_BYTES: Final[dict[str, Callable[[Any], bytes]]] = {
    **{"string": str.encode, "bytes": base64.b64decode, "records": bytes},
}
_NO_UUID: Final = bytes(16)


class NotHere(Exception):
    """An error: only kio can write this message."""


@cache
def writer(schema: Any) -> Write | None:
    """The writer of a message, whose JSON may have more fields than the message; None where only kio can
    write it."""
    try:
        return _message(schema)
    except NotHere:
        return None


def _message(schema: Any) -> Write:
    names, empty = json_names(schema), defaults(schema)
    fields = []
    for one in dataclasses.fields(schema):
        if one.metadata.get("tag") is not None:
            raise NotHere
        name = names[one.name]
        fields.append((name, empty[name], _writer(shape_of(one), schema.__flexible__)))
    end = b"\0" if schema.__flexible__ else b""  # no tagged fields

    def write(out: bytearray, body: Any) -> None:
        for name, default, write_field in fields:
            write_field(out, body.get(name, default))
        out += end

    return write


def _writer(shape: Shape, flexible: bool) -> Write:
    if not shape.many:
        return _value(shape, flexible)
    item = _value(shape._replace(nullable=shape.kafka_type == "uuid"), flexible)
    length = _length(flexible, ">i")

    def write(out: bytearray, value: Any) -> None:
        if value is None and not shape.nullable:
            raise ValueError("a list is null that may not be")
        length(out, -1 if value is None else len(value))
        for one in value or ():
            item(out, one)

    return write


def _value(shape: Shape, flexible: bool) -> Write:
    kafka_type = shape.kafka_type
    if dataclasses.is_dataclass(shape.kind):
        return _nullable_message(_message(shape.kind)) if shape.nullable else _message(shape.kind)
    if kafka_type is None:
        raise NotHere
    if kafka_type in _FIXED:
        pack = struct.Struct(_FIXED[kafka_type]).pack

        def write_number(out: bytearray, value: Any) -> None:
            out += pack(value)

        return write_number
    if kafka_type == "datetime_i64":
        return lambda out, value: out.extend(_TIME.pack(-1 if value is None else value))
    if kafka_type == "uuid":
        return _uuid
    if kafka_type not in _TO_BYTES:
        raise NotHere
    length = _length(flexible, ">h" if kafka_type == "string" else ">i")
    to_bytes = _TO_BYTES[kafka_type]

    def write_bytes(out: bytearray, value: Any) -> None:
        if value is None:
            if not shape.nullable:
                raise ValueError("a field is null that may not be")
            length(out, -1)
            return
        data = to_bytes(value)
        length(out, len(data))
        out += data

    return write_bytes


def _nullable_message(write_message: Write) -> Write:
    def write(out: bytearray, value: Any) -> None:
        out += b"\xff" if value is None else b"\1"
        if value is not None:
            write_message(out, value)

    return write


def _length(flexible: bool, form: str) -> Callable[[bytearray, int], None]:
    """Writes a length, -1 for null."""
    if flexible:
        return lambda out, size: _uvarint(out, size + 1)
    pack = struct.Struct(form).pack

    def write(out: bytearray, size: int) -> None:
        out += pack(size)

    return write


def _uvarint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _uuid(out: bytearray, value: Any) -> None:
    out += _NO_UUID if value is None else UUID(value).bytes
