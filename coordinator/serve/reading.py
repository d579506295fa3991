"""Requests from bytes to JSON, with every length checked before anything is allocated.

kio's own reader allocates as much memory as a frame asks for, and a failed allocation ends the process; so
bytes of clients are read here, by kio's schemas. The JSON is that of `codec.to_json`, but for the UUID of
zeros: none of Kafka's UUIDs may be null, and handlers refuse the zeros where they mean no topic.
"""

from __future__ import annotations

import base64
import dataclasses
import struct
from collections.abc import Callable
from functools import cache
from math import inf
from types import NoneType
from typing import Any, Final, NamedTuple, get_args
from uuid import UUID

from coordinator.core.fields import Json
from coordinator.serve.codec import json_names

_FIXED: Final = {
    **{"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "bool": ">?"},
    **{"timedelta_i32": ">i", "timedelta_i64": ">q"},
}


MOST_TEXT: Final = 2**15 - 1
"""The most bytes of a string, as in Kafka: an answer in an older version could not hold a longer one, so that
one member could keep the answers of others from being written."""
MOST_ITEMS: Final = 20_000
"""The most texts and objects in the lists of one request: an answer has some hundred bytes for each of them,
and a coordinator with one thread answers nobody else meanwhile. Numbers in lists do not count."""

_number: Final = cache(struct.Struct)


class Unreadable(ValueError):
    """Bytes that are no such message; the text has the reason."""


class Bytes:
    """The rest of a frame, from the byte `at` on. Lists may have `most` texts and objects together."""

    __slots__ = ("_at", "_data", "_size", "most")

    def __init__(self, data: bytes, at: int = 0, most: float = inf) -> None:
        self._data = data
        self._at = at
        self._size = len(data)
        self.most = most

    @property
    def left(self) -> int:
        """The number of bytes that were not taken yet."""
        return self._size - self._at

    def take(self, size: int) -> bytes:
        """The next bytes."""
        at = self._at
        if not 0 <= size <= self._size - at:
            raise Unreadable(f"{size} bytes are announced and {self.left} are there")
        self._at = at + size
        return self._data[at : self._at]

    def fixed(self, form: str) -> Any:
        """A number of a fixed size."""
        number, at = _number(form), self._at
        if at + number.size > self._size:
            raise Unreadable(f"{number.size} bytes are announced and {self.left} are there")
        self._at = at + number.size
        return number.unpack_from(self._data, at)[0]

    def uvarint(self) -> int:
        """An unsigned number of 1 to 5 bytes."""
        at = self._at
        if at < self._size and (first := self._data[at]) < 0x80:  # nearly all numbers
            self._at = at + 1
            return first
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Unreadable("a number has more than 5 bytes")

    def length(self, flexible: bool, form: str) -> int:
        """The length of the bytes or items that follow; -1 for null. At most the number of bytes left."""
        size: int = self.uvarint() - 1 if flexible else self.fixed(form)
        if size > self._size - self._at:
            raise Unreadable(f"{size} items or bytes are announced and {self.left} bytes are there")
        return size

    def text(self, flexible: bool) -> str | None:
        """A string."""
        at, data = self._at, self._data
        if flexible and at < self._size and (first := data[at]) < 0x80:  # nearly all strings
            size, self._at = first - 1, at + 1
        else:
            size = self.length(flexible, ">h")
        if size > MOST_TEXT:
            raise Unreadable(f"a string has {size} bytes; at most {MOST_TEXT} are read")
        try:
            return None if size < 0 else self.take(size).decode()
        except UnicodeDecodeError:
            raise Unreadable("a string is not UTF-8") from None

    def skip_tags(self) -> None:
        """Skip tagged fields."""
        for _ in range(self.uvarint()):
            self.uvarint()
            self.take(self.uvarint())


def read_request(schema: Any, data: Bytes) -> Json:
    """A request's fields as JSON. Unreadable where the bytes are no such request.

    Bytes after the request are ignored, as in Kafka: librdkafka 2.16 asks for the Metadata of all topics with
    four bytes for an empty list, which needs one byte, so that three bytes follow.
    """
    return _message(schema, data)


def read_client(schema: Any, data: Bytes) -> str:
    """The client id of a request's header, whose first 8 bytes were taken before."""
    client = "" if schema.__header_schema__.__version__ == 0 else data.text(flexible=False) or ""
    if schema.__header_schema__.__flexible__:
        data.skip_tags()
    return client


def _message(schema: Any, data: Bytes) -> Json:
    fields, empty, tagged = _fields(schema)
    body = {name: read(data) for name, read in fields}
    if schema.__flexible__:
        body |= empty
        for _ in range(data.uvarint()):
            tag, content = data.uvarint(), Bytes(data.take(data.uvarint()), most=data.most)
            if tag in tagged:
                name, read = tagged[tag]
                body[name] = read(content)
                data.most = content.most
    return body


class _Fields(NamedTuple):
    untagged: list[tuple[str, Callable[[Bytes], Any]]]
    """Names and readers, in their order."""
    empty: Json
    """The values of tagged fields that a frame leaves out."""
    tagged: dict[int, tuple[str, Callable[[Bytes], Any]]]


@cache
def _fields(schema: Any) -> _Fields:
    names, untagged, tagged = json_names(schema), [], {}
    for one in dataclasses.fields(schema):
        field = names[one.name], _reader(one, schema.__flexible__)
        tag = one.metadata.get("tag")
        if tag is None:
            untagged.append(field)
        else:
            tagged[tag] = field
    return _Fields(untagged, {name: None for name, _ in tagged.values()}, tagged)


class Shape(NamedTuple):
    """The type of a field: that of its value, or of its items where it has `many`."""

    kind: Any
    kafka_type: str | None
    nullable: bool
    many: bool


def shape_of(field: dataclasses.Field[Any]) -> Shape:
    """The type of a field of kio's dataclasses. In answers null stands for a UUID of zeros, whatever the
    schema has."""
    options = [option for option in get_args(field.type) if option is not NoneType]
    nullable = len(options) < len(get_args(field.type))
    kind: Any = options[0] if nullable else field.type
    kafka_type = field.metadata.get("kafka_type")
    if items := [option for option in get_args(kind) if option is not ...]:
        return Shape(items[0], kafka_type, nullable, True)
    return Shape(kind, kafka_type, nullable or kafka_type == "uuid", False)


def _reader(field: dataclasses.Field[Any], flexible: bool) -> Callable[[Bytes], Any]:
    kind, kafka_type, nullable, many = shape_of(field)
    if many:
        item = _value(kind, kafka_type, flexible, kafka_type == "uuid")
        return _array(item, flexible, nullable, counts=kafka_type not in _FIXED)
    return _value(kind, kafka_type, flexible, nullable)


def _array(
    item: Callable[[Bytes], Any], flexible: bool, nullable: bool, counts: bool
) -> Callable[[Bytes], list[Any] | None]:
    def read(data: Bytes) -> list[Any] | None:
        size = data.length(flexible, ">i")
        if size < 0:
            if not nullable:
                raise Unreadable("a list is null that may not be")
            return None
        if counts:
            data.most -= size
            if data.most < 0:
                raise Unreadable(f"its lists have more than {MOST_ITEMS} texts and objects")
        return [item(data) for _ in range(size)]

    return read


def _value(kind: Any, kafka_type: str | None, flexible: bool, nullable: bool) -> Callable[[Bytes], Any]:
    if dataclasses.is_dataclass(kind):
        if nullable:  # a byte before it: below 0 for null
            return lambda data: None if data.fixed(">b") < 0 else _message(kind, data)
        return lambda data: _message(kind, data)
    assert kafka_type is not None
    if (form := _FIXED.get(kafka_type)) is not None:
        return lambda data: data.fixed(form)
    if kafka_type == "uuid":
        return lambda data: str(UUID(bytes=data.take(16)))
    if kafka_type == "string":
        return lambda data: _there(data.text(flexible), nullable)
    assert kafka_type in ("bytes", "records")

    def read(data: Bytes) -> str | None:
        size = data.length(flexible, ">i")
        content = None if size < 0 else base64.b64encode(data.take(size)).decode("ascii")
        return _there(content, nullable)

    return read


def _there(value: str | None, nullable: bool) -> str | None:
    if value is None and not nullable:
        raise Unreadable("a field is null that may not be")
    return value
