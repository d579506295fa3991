"""Readers of fields in JSON objects: the value in its type, or BadInput in one sentence."""

from __future__ import annotations

import binascii
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from coordinator.core.errors import BadInput

Json = dict[str, Any]
"""A JSON object. Objects that the coordinator returns may share parts: callers must not change them."""


def known(source: Mapping[str, object], names: Collection[str], where: str) -> None:
    """BadInput for a field that `where` does not have: most likely its name is misspelt."""
    for name in source:
        if name not in names:
            raise BadInput(f"{where} has no field {name!r}; it has {', '.join(sorted(names))}")


def _typed(source: Mapping[str, object], name: str, kind: type, called: str, where: str) -> Any:
    if name not in source:
        raise BadInput(f"{where} needs the field {name!r}")
    value = source[name]
    if type(value) is not kind:
        raise BadInput(f"{name!r} of {where} must be {called}, not {shown(value)}")
    return value


def shown(value: object) -> str:
    """A value for a message; a long one is cut."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply"
    return text if len(text) <= 100 else f"{text[:100]}..."


def encodable(value: str, name: str, where: str) -> str:
    """`value` itself if it is Unicode text; JSON can also express half of a surrogate pair, which is not."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BadInput(f"{name!r} of {where} is not Unicode text: {shown(value)}") from None
    return value


def fits(value: int, bits: int, name: str, where: str) -> int:
    """`value` itself if it is a signed number of so many bits, as Kafka's int8, int16 and int32 are."""
    limit = 1 << (bits - 1)
    if not -limit <= value < limit:
        raise BadInput(f"{name!r} of {where} must fit into an int{bits}, not {shown(value)}")
    return value


def text(source: Mapping[str, object], name: str, where: str) -> str:
    """A string in a required field."""
    value: str = _typed(source, name, str, "a string", where)
    return encodable(value, name, where)


def integer(
    source: Mapping[str, object], name: str, where: str, least: int | None = 0, bits: int = 64
) -> int:
    """A whole number of so many bits, at least `least`, in a required field: none of Kafka's has more."""
    value: int = _typed(source, name, int, "a whole number", where)
    if least is not None and value < least:
        raise BadInput(f"{name!r} of {where} must be at least {least}, not {shown(value)}")
    return fits(value, bits, name, where)


def boolean(source: Mapping[str, object], name: str, where: str) -> bool:
    """A boolean in a required field."""
    value: bool = _typed(source, name, bool, "true or false", where)
    return value


def items(source: Mapping[str, object], name: str, where: str) -> list[Any]:
    """A list in a required field."""
    value: list[Any] = _typed(source, name, list, "a list", where)
    return value


def mapping(source: Mapping[str, object], name: str, where: str) -> Json:
    """An object in a required field."""
    value: Json = _typed(source, name, dict, "an object", where)
    return value


def as_object(value: object, where: str) -> Json:
    """`value` itself, if it is an object."""
    if not isinstance(value, dict):
        raise BadInput(f"{where} must be an object, not {shown(value)}")
    return value


def optional_text(source: Mapping[str, object], name: str, where: str) -> str | None:
    """A string, or None where the field is null or left out."""
    return None if source.get(name) is None else text(source, name, where)


def optional_integer(source: Mapping[str, object], name: str, where: str) -> int | None:
    """A whole number >= 0, or None where the field is null or left out."""
    return None if source.get(name) is None else integer(source, name, where)


def names(source: Mapping[str, object], name: str, where: str) -> list[str]:
    """A list of strings in a required field."""
    values = items(source, name, where)
    for value in values:
        if type(value) is not str:
            raise BadInput(f"{name!r} of {where} must be a list of strings, not {shown(values)}")
        encodable(value, name, where)
    return values


def from_base64(value: str) -> bytes:
    """The bytes of text that is base64 as a whole. ValueError where it is not."""
    return binascii.a2b_base64(value, strict_mode=True)


def topic_id(value: object, where: str) -> str:
    """A topic id in its normal form: RFC 4122 text in lower case."""
    normal = _normal_uuid(value) if type(value) is str else None
    if normal is None:
        raise BadInput(f"the topic id of {where} must be a UUID as text, not {shown(value)}")
    return normal


@lru_cache(maxsize=4096)
def _normal_uuid(value: str) -> str | None:
    try:
        return str(UUID(value))
    except ValueError:
        return None
