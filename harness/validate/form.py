"""The form of the lines of a log: each part that a line has is of the line protocol's type.

A log may leave parts out, and an implementation may answer wrong values, which the specification judges. A
value of another type can be neither: its log is malformed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from harness.errors import USAGE, ConformError
from harness.protocol_schema import schema
from harness.targets.base import Json

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_KEPT: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "type", "items"})
"""Keywords of the schema that give types, and those that choose between types; not `required`, and not the
limits of values."""

_LEAST: Final = 1 << 31
_LONG: Final = re.compile("offset|timestamp|^ms$|(?<!Timeout)Ms$", re.IGNORECASE)
"""Names of the fields that have 64 bits: offsets and times."""


def check_form(name: str, line: Any) -> None:
    """Check the types of one line, whose name is "log.jsonl, line 3", and that its numbers are of 32 bits, as
    those of Kafka's requests are. ConformError (exit 2) with the name and the place in the line."""
    if not is_operation(line):
        return  # the reader says what a line is
    for definition, value, place in parts_of(line):
        if definition in schema()["$defs"] and value is not None:
            for error in _validator(definition).iter_errors(_observed(value)):
                raise ConformError(
                    f"{name} has not the form of the line protocol: "
                    f"{(place + error.json_path[1:]).lstrip('.') or 'the line'}: {error.message[:200]}.",
                    USAGE,
                )
        for path, number in _beyond(value, place):
            raise ConformError(
                f"{name}: {path} is {number}, and a number of the protocol has 32 bits: from -{_LEAST:,} to "
                f"{_LEAST - 1:,}.",
                USAGE,
            )


def _beyond(value: Any, place: str) -> Iterator[tuple[str, int]]:
    """The numbers of a part that have more than 32 bits, with their places; not offsets and times, which have
    64."""
    if isinstance(value, dict):
        for name, part in value.items():
            if not _LONG.search(name):
                yield from _beyond(part, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _beyond(part, f"{place}[{index}]")
    elif isinstance(value, int) and not -_LEAST <= value < _LEAST:
        yield place, value


def is_operation(line: Any) -> bool:
    """Tell if a line names an operation."""
    return isinstance(line, dict) and isinstance(line.get("op"), str)


def parts_of(line: Json) -> list[tuple[str, Any, str]]:
    """The parts of a line: the name of the definition in the schema, the value, and the place in the line. A
    name may have no definition: then the line protocol leaves the part open."""
    name, api, answer = line["op"], line.get("api"), line.get("answer")
    operation = {key: value for key, value in line.items() if key != "answer"}
    parts = [(f"operation.{name}", operation, ""), (f"request.{api}", line.get("body"), "body")]
    if isinstance(answer, dict) and answer.get("error") is None:
        parts += [
            (f"answer.{name}", answer, "answer"),
            (f"response.{api}", answer.get("body"), "answer.body"),
        ]
    return parts


def _observed(value: Any) -> Any:
    """A value without its parts that are null: those were not observed, or the field has no value. A number
    with a point, which JSON Schema takes for an integer, becomes text: the protocol has no such number."""
    if isinstance(value, dict):
        return {name: _observed(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_observed(part) for part in value]
    return str(value) if isinstance(value, float) else value


@cache
def _validator(definition: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": _types()})


@cache
def _types() -> dict[str, Any]:
    """The definitions of the schema, with types alone."""
    return {name: _type(definition) for name, definition in schema()["$defs"].items()}


def _type(part: Any) -> Any:
    """A part of the schema without anything but its types; a condition stays as it is."""
    if not isinstance(part, dict):
        return [_type(one) for one in part] if isinstance(part, list) else part
    kept = {name: value if name == "if" else _type(value) for name, value in part.items() if name in _KEPT}
    if "oneOf" in kept:  # without `required` a value may be of several forms
        kept["anyOf"] = kept.pop("oneOf")
    if "properties" in part:
        kept["properties"] = {name: _type(value) for name, value in part["properties"].items()}
    if isinstance(part.get("additionalProperties"), dict):
        kept["additionalProperties"] = _type(part["additionalProperties"])
    if "type" not in part and all(isinstance(one, str) for one in part.get("enum", [None])):
        kept["type"] = "string"
    return kept
