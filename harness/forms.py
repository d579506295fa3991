"""Files that people write, by their form: msgspec compares the data with a class.

A mistake becomes a sentence that names the field and its right form.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

import msgspec

from harness.errors import ConformError

T = TypeVar("T")
_MISSING: Final = re.compile(r"Object missing required field `(?P<field>\w+)`")
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<field>[^`]*)`")
_TYPE: Final = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`")
_BOUND: Final = re.compile(r"Expected `\w+` (?P<side>[<>]=) (?P<bound>[-\d.]+)")
_PATTERN: Final = re.compile(r"Expected `str` matching regex '(?P<pattern>.*)'(?: - at|$)")
_CHOICE: Final = re.compile(r"Invalid enum value (?P<got>.*?)(?: - at|$)")
_AT: Final = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "date": "a day, as 2027-03-01",
    "null": "null",
}


class Form(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of an object in a file; a field without a default must be there, and an unknown field is a
    mistake."""


def formed(data: Any, form: type[T], place: str) -> T:
    """The data of JSON or TOML as a form.

    ConformError (exit 2) for the first mistake: `place`, the words for the place of the object, and a
    sentence.
    """
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise ConformError(f"{place} {sentence(error, form)}") from None


def sentence(error: msgspec.ValidationError, form: type[Any]) -> str:
    """The mistake that msgspec found, in words."""
    text = str(error)
    at = _AT.search(text)
    path = at["path"] if at else ""
    if match := _MISSING.match(text):
        return f'the field "{_joined(path, match["field"])}" is missing.'
    if match := _UNKNOWN.match(text):
        known = "" if path else f"; known are {', '.join(_hints(form))}"
        return f'the field "{_joined(path, match["field"])}" is not known{known}.'
    subject = f'the field "{path}" must' if path else "must"
    if match := _TYPE.match(text):
        expected = " or ".join(_WORDS.get(name, name) for name in match["expected"].split(" | "))
        return f"{subject} be {expected}, not {_WORDS.get(match['got'], match['got'])}."
    if match := _BOUND.match(text):
        return f"{subject} be at {'least' if match['side'] == '>=' else 'most'} {match['bound']}."
    if match := _PATTERN.match(text):
        return f"{subject} match {match['pattern']}."
    if match := _CHOICE.match(text):
        return f"{subject} be one of {', '.join(_choices(form, path))}, not {match['got']}."
    if text.startswith("Invalid RFC3339 encoded date"):
        return f"{subject} be {_WORDS['date']}."
    return f"{subject} be other: {text}."


def _joined(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _hints(form: type[Any]) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(form)}


def _choices(form: type[Any], path: str) -> list[str]:
    """The values of the field at a path, such as `expect.outcome`."""
    hint: Any = form
    for name in path.split("."):
        hint = _hints(hint)[name]
    return [str(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else [str(hint)]
