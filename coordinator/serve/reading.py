"""Requests from bytes to JSON, with every length checked before anything is made of it.

kio's own reader asks for as much memory as a frame says that it needs, and a failed allocation ends the
process; so bytes of clients are read here, after kio's schemas. The JSON is that of `codec.to_json`.
"""

from __future__ import annotations

import base64
import dataclasses
import struct
from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Any, Final, NamedTuple, get_args
from uuid import UUID

from coordinator.core.fields import Json
from coordinator.serve.codec import json_names

_FIXED: Final = {
    **{"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "bool": ">?"},
    **{"timedelta_i32": ">i", "timedelta_i64": ">q"},
}


class Unreadable(ValueError):
    """Bytes that are no such message; the text says why."""


class Bytes:
    """The rest of a frame."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes that were not taken yet."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if not 0 <= size <= self.left:
            raise Unreadable(f"{size} bytes are announced and {self.left} are there")
        self._at += size
        return self._data[self._at - size : self._at]

    def fixed(self, form: str) -> Any:
        """A number of a fixed size."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def uvarint(self) -> int:
        """An unsigned number of 1 to 5 bytes."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Unreadable("a number has more than 5 bytes")

    def length(self, flexible: bool, form: str) -> int:
        """The length of what follows; -1 for null. No more than there are bytes left."""
        size: int = self.uvarint() - 1 if flexible else self.fixed(form)
        if size > self.left:
            raise Unreadable(f"{size} items or bytes are announced and {self.left} bytes are there")
        return size

    def text(self, flexible: bool) -> str | None:
        """A string."""
        size = self.length(flexible, ">h")
        try:
            return None if size < 0 else self.take(size).decode()
        except UnicodeDecodeError:
            raise Unreadable("a string is not UTF-8") from None

    def skip_tags(self) -> None:
        """Leave out tagged fields."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())


class _Field(NamedTuple):
    name: str
    tag: int | None
    read: Callable[[Bytes], Any]
    empty: Any


def read_request(schema: Any, data: Bytes) -> Json:
    """A request's fields as JSON. Unreadable where the bytes are none.

    Bytes behind the request mean nothing, as for Kafka: librdkafka 2.16 asks for the Metadata of all topics
    with four bytes for a list without items, which has one byte, so three bytes follow.
    """
    return _message(schema, data)


def read_client(schema: Any, data: Bytes) -> str:
    """The client id of a request's header, of which the first 8 bytes were taken before."""
    client = "" if schema.__header_schema__.__version__ == 0 else data.text(flexible=False) or ""
    if schema.__header_schema__.__flexible__:
        data.skip_tags()
    return client


def _message(schema: Any, data: Bytes) -> Json:
    fields = _fields(schema)
    body = {field.name: field.empty if field.tag is not None else field.read(data) for field in fields}
    if schema.__flexible__:
        tagged = {field.tag: field for field in fields if field.tag is not None}
        for _ in range(data.uvarint()):
            tag, content = data.uvarint(), Bytes(data.take(data.uvarint()))
            if tag in tagged:
                body[tagged[tag].name] = tagged[tag].read(content)
    return body


@cache
def _fields(schema: Any) -> list[_Field]:
    names = json_names(schema)
    return [
        _Field(names[one.name], one.metadata.get("tag"), _reader(one, schema.__flexible__), None)
        for one in dataclasses.fields(schema)
    ]


def _reader(field: dataclasses.Field[Any], flexible: bool) -> Callable[[Bytes], Any]:
    options = [option for option in get_args(field.type) if option is not NoneType]
    nullable = len(options) < len(get_args(field.type))
    kind: Any = options[0] if nullable else field.type
    optional = nullable or field.metadata.get("kafka_type") == "uuid"
    if items := [option for option in get_args(kind) if option is not ...]:
        kafka_type = field.metadata.get("kafka_type")
        return _array(_value(items[0], kafka_type, flexible, kafka_type == "uuid"), flexible, nullable)
    return _value(kind, field.metadata.get("kafka_type"), flexible, optional)


def _array(
    item: Callable[[Bytes], Any], flexible: bool, nullable: bool
) -> Callable[[Bytes], list[Any] | None]:
    def read(data: Bytes) -> list[Any] | None:
        size = data.length(flexible, ">i")
        if size < 0:
            if not nullable:
                raise Unreadable("a list is null that may not be")
            return None
        return [item(data) for _ in range(size)]

    return read


def _value(kind: Any, kafka_type: str | None, flexible: bool, nullable: bool) -> Callable[[Bytes], Any]:
    if dataclasses.is_dataclass(kind):
        return lambda data: _message(kind, data)
    assert kafka_type is not None
    if (form := _FIXED.get(kafka_type)) is not None:
        return lambda data: data.fixed(form)
    if kafka_type == "uuid":
        return lambda data: _uuid(data.take(16))
    if kafka_type == "string":
        return lambda data: _there(data.text(flexible), nullable)
    assert kafka_type in ("bytes", "records")

    def read(data: Bytes) -> str | None:
        size = data.length(flexible, ">i")
        content = None if size < 0 else base64.b64encode(data.take(size)).decode("ascii")
        return _there(content, nullable)

    return read


def _uuid(data: bytes) -> str | None:
    return str(UUID(bytes=data)) if any(data) else None


def _there(value: str | None, nullable: bool) -> str | None:
    if value is None and not nullable:
        raise Unreadable("a field is null that may not be")
    return value
