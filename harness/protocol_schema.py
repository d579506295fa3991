"""The JSON Schema of the line protocol, and the types that it gives to fields."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Final

_SCHEMA: Final = Path(__file__).with_name("line-protocol.schema.json")
_TYPES: Final = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the line protocol; treat it as read only."""
    read: dict[str, Any] = json.loads(_SCHEMA.read_text())
    return read


def kinds(definition: str, without: Collection[str] = ()) -> dict[str, tuple[type, ...]]:
    """The Python types of each field of a definition, without those fields."""
    fields = schema()["$defs"][definition]["properties"]
    return {name: _kinds(field) for name, field in fields.items() if name not in without}


def _kinds(field: dict[str, Any]) -> tuple[type, ...]:
    given = field.get("type", "string" if "enum" in field else "object")
    return tuple(_TYPES[one] for one in ([given] if isinstance(given, str) else given))
