"""Kafka's messages as JSON: between kio's dataclasses and objects with the names of Kafka's schemas.

lowerCamelCase for snake_case, `timeoutMs` in milliseconds for a timedelta `timeout` or a point in time, RFC
4122 text for a UUID (null for the zero one), lists for tuples, a number for an error code, base64 for bytes.
Record batches stay bytes. The rules are read off the dataclasses, so that they hold for every API and version
of kio.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import uuid
from collections.abc import Callable
from dataclasses import MISSING, Field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

from kio.serial.readers import tz_aware_from_i64
from kio.static.primitive import Records, i32Timedelta, i64

from coordinator.core.fields import Json

MILLISECOND: Final = timedelta(milliseconds=1)
EPOCH: Final = datetime.fromtimestamp(0, UTC)
Convert = Callable[[Any], Any]


class _Member(NamedTuple):
    """A field of a message: its names, how its values are converted, and its value where it is left out."""

    json_name: str
    name: str
    to_json: Convert
    from_json: Convert
    default: Callable[[], Any]
    inner: Any
    """The dataclass of the field's value, or of its items; None where there is none."""


def to_json(message: Any) -> Json:
    """A message of kio as JSON."""
    members = _members(message.__class__)
    return {member.json_name: member.to_json(getattr(message, member.name)) for member in members}


def from_json(schema: type, body: Json) -> Any:
    """A message of kio from JSON; fields that are left out have the schema's default.

    ValueError, in words, for a field that the schema does not have or a value that the schema cannot hold.
    """
    if not isinstance(body, dict):
        raise ValueError(f"{schema.__name__} is an object, not {body!r}")
    members = _members(schema)
    if unknown := sorted(body.keys() - {member.json_name for member in members}):
        raise ValueError(f"{schema.__name__} has no field {', '.join(unknown)}")
    values: dict[str, Any] = {}
    for member in members:
        if member.json_name not in body:
            values[member.name] = member.default()
            continue
        try:
            values[member.name] = member.from_json(body[member.json_name])
        except ValueError as error:
            raise ValueError(f"{member.json_name}: {error}") from None
    return schema(**values)


def json_names(schema: type) -> dict[str, str]:
    """The names in JSON of a message's fields."""
    return {member.name: member.json_name for member in _members(schema)}


def defaults(schema: type) -> dict[str, Any]:
    """The values in JSON of a message's fields where they are left out, by their names in JSON."""
    return {member.json_name: _to_json_or_none(member) for member in _members(schema)}


def _to_json_or_none(member: _Member) -> Any:
    value = member.default()
    return None if value is None else member.to_json(value)


def fitted(schema: type, body: Json) -> Any:
    """A message of kio from JSON that may have more fields than this version of the message."""
    return from_json(schema, _cut(schema, body))


def _cut(schema: Any, body: Json) -> Json:
    inner = {member.json_name: member.inner for member in _members(schema)}
    return {name: _cut_value(inner[name], value) for name, value in body.items() if name in inner}


def _cut_value(inner: Any, value: Any) -> Any:
    if inner is None or value is None:
        return value
    return [_cut(inner, item) for item in value] if isinstance(value, list) else _cut(inner, value)


@cache
def _members(schema: Any) -> list[_Member]:
    return [_member(field) for field in dataclasses.fields(schema)]


def _member(field: Field[Any]) -> _Member:
    to, back, empty = _converters(field.type)
    first, *rest = field.name.split("_")
    suffix = "Ms" if field.metadata.get("kafka_type", "").startswith(("timedelta", "datetime")) else ""
    json_name = first + "".join(part.capitalize() for part in rest) + suffix

    def default() -> Any:
        return empty if field.default is MISSING else field.default

    return _Member(json_name, field.name, to, back, default, _inner(field.type))


def _inner(kind: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return kind
    options = [option for option in get_args(kind) if option not in (NoneType, ...)]
    return _inner(options[0]) if options else None


def _converters(kind: Any) -> tuple[Convert, Convert, Any]:
    """To JSON, from JSON, and the default of a type for which the schema gives none."""
    if get_origin(kind) in (Union, UnionType):
        [inner] = [option for option in get_args(kind) if option is not NoneType]
        to, back, _ = _converters(inner)
        return (
            lambda value: None if value is None else to(value),
            lambda value: None if value is None else back(value),
            None,
        )
    if get_origin(kind) is tuple:
        to, back, _ = _converters(get_args(kind)[0])
        return lambda value: [to(item) for item in value], lambda value: _tuple(value, back), ()
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return to_json, lambda value: from_json(kind, value), None
    return _scalar(kind)


def _scalar(kind: type) -> tuple[Convert, Convert, Any]:
    if kind is Records:
        return bytes, Records, None
    if issubclass(kind, timedelta):
        return lambda value: value // MILLISECOND, _duration, i32Timedelta.parse(timedelta())
    if issubclass(kind, datetime):
        return _milliseconds, _point, tz_aware_from_i64(i64(0))
    if issubclass(kind, uuid.UUID):
        return str, _uuid, None
    if issubclass(kind, IntEnum):
        return int, lambda value: _error_code(kind, value), kind(0)
    if issubclass(kind, bool):
        return bool, _boolean, False
    if issubclass(kind, int):
        low, high = (int(getattr(kind, bound)) for bound in ("__low__", "__high__"))
        return int, lambda value: _integer(value, low, high), 0
    if issubclass(kind, str):
        return str, _text, ""
    if issubclass(kind, bytes):
        return _base64, _bytes, b""
    raise ValueError(f"a field of type {kind.__name__} has no form in JSON")


def _tuple(value: Any, back: Convert) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")
    return tuple(back(item) for item in value)


def _integer(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{value!r} is not a number from {low} to {high}")
    return value


def _error_code(kind: type[IntEnum], value: Any) -> IntEnum:
    try:
        return kind(_integer(value, -(2**15), 2**15 - 1))
    except ValueError:
        raise ValueError(f"{value!r} is not the code of an error") from None


def _duration(value: Any) -> timedelta:
    return i32Timedelta.parse(timedelta(milliseconds=_integer(value, -(2**31), 2**31 - 1)))


def _milliseconds(value: datetime) -> int:
    return (value - EPOCH) // MILLISECOND


def _point(value: Any) -> datetime:
    return tz_aware_from_i64(i64(_integer(value, 0, 2**47)))


def _boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is not true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value


def _uuid(value: Any) -> uuid.UUID:
    try:
        return uuid.UUID(_text(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a UUID") from None


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except binascii.Error:
        raise ValueError(f"{value!r} is not base64") from None
