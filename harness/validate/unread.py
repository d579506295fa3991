"""Fields of a log that the line protocol does not have: a misspelt field would count as not observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from harness.errors import meant
from harness.protocol_schema import schema
from harness.validate.form import is_operation, parts_of
from harness.validate.log import lines_of
from harness.words import counted

_OF_PROXY: Final = frozenset({"listener", "connection", "delivered", "late"})
"""Fields that `conform proxy` adds to a request (docs/proxy.md)."""


def unread_fields(log: Path) -> list[str]:
    """A sentence for each field that the line protocol does not have, with the number of its lines."""
    lines, hints = Counter[str](), dict[str, str]()
    for _, line in lines_of(log):
        fields = {
            place: hint
            for definition, value, start in (parts_of(line) if is_operation(line) else ())
            if definition in schema()["$defs"]
            for place, hint in _strange(_own_fields(value, start), _form(definition), start)
        }
        lines.update(fields.keys())
        hints |= fields
    return [
        f"not read: {place.lstrip('.')}, in {counted(count, 'line')}.{hints[place]}"
        for place, count in lines.items()
    ]


def _own_fields(value: Any, place: str) -> Any:
    """A part of a line without its body, which is a part of its own, and without the fields of the proxy."""
    others = {"body"} if place else {"body", *_OF_PROXY}
    if not isinstance(value, dict):
        return value
    return {name: part for name, part in value.items() if name not in others}


class _Form:
    """The fields that a value may have, by all definitions that it may be of."""

    def __init__(self, definitions: Iterable[Any]) -> None:
        self._definitions = [part for one in definitions for part in _alternatives(one)]

    @cached_property
    def fields(self) -> Mapping[str, _Form]:
        """The named fields."""
        names = {name for one in self._definitions for name in one.get("properties", ())}
        return {
            name: _Form(
                one["properties"][name] for one in self._definitions if name in one.get("properties", ())
            )
            for name in names
        }

    @cached_property
    def others(self) -> _Form | None:
        """The fields with free names, as ids of members; None where a field must have a known name."""
        free = [one["additionalProperties"] for one in self._definitions if one.get("additionalProperties")]
        return _Form(one for one in free if one is not True) if free or not self.fields else None

    @cached_property
    def items(self) -> _Form:
        """The items of a list."""
        return _Form(one["items"] for one in self._definitions if "items" in one)


def _alternatives(definition: Any) -> Iterator[dict[str, Any]]:
    """A definition, and those that it names or chooses from."""
    if isinstance(definition, dict):
        yield definition
        if "$ref" in definition:
            yield from _alternatives(schema()["$defs"][definition["$ref"].rpartition("/")[2]])
        for keyword in ("allOf", "anyOf", "oneOf"):
            for one in definition.get(keyword, ()):
                yield from _alternatives(one)
        for keyword in ("then", "else"):
            yield from _alternatives(definition.get(keyword))


@cache
def _form(definition: str) -> _Form:
    return _Form([schema()["$defs"][definition]])


def _strange(value: Any, form: _Form, place: str) -> Iterator[tuple[str, str]]:
    """The places of unknown fields in a value, each with the field that was perhaps meant."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name in form.fields:
                yield from _strange(part, form.fields[name], f"{place}.{name}")
            elif form.others is not None:
                yield from _strange(part, form.others, f"{place}.*")
            else:
                yield f"{place}.{name}", meant(name, form.fields)
    elif isinstance(value, list):
        for part in value:
            yield from _strange(part, form.items, place)
