"""The tables of docs/fields.md, made from the JSON Schema of the line protocol.

`python -m harness.protocol_page` writes them into the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from harness.kinds.protocol_forms import forms
from harness.protocol_schema import schema

BEGIN: Final = "<!-- python -m harness.protocol_page makes this page -->"
_SECTIONS: Final = (
    ("Operations", "operation."),
    ("Answers", "answer."),
    ("Requests", "request."),
    ("Responses", "response."),
    ("Values of records", "value."),
)


def tables() -> str:
    """Each definition of the schema as a table of its fields."""
    definitions = schema()["$defs"]
    lines = [BEGIN]
    for title, prefix in _SECTIONS:
        lines += ["", f"## {title}"]
        named = {name: one for name, one in definitions.items() if name.startswith(prefix)}
        for name, one in named.items():
            lines += ["", f"### {name}", "", *_table(one)]
    lines += ["", "## Parts"]
    for name, one in definitions.items():
        if "." not in name:
            lines += ["", f"### {name}", "", *_table(one)]
    lines += forms()
    return "\n".join(lines) + "\n"


def _table(definition: dict[str, Any]) -> Iterator[str]:
    yield definition["description"]
    if not definition.get("properties"):
        return
    yield from ("", "| field | type | meaning |", "| --- | --- | --- |")
    required = definition.get("required", ())
    for name, field in definition["properties"].items():
        optional = "" if name in required else ", optional"
        yield f"| `{name}` | {_type(field)}{optional} | {field['description']} |"


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].removeprefix("#/$defs/")
        return f"[{name}](#{name.replace('.', '').lower()})"
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return "one of " + ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return " or ".join(_of_kind(kind, field) for kind in kinds)


def _of_kind(kind: str, field: dict[str, Any]) -> str:
    if kind == "array" and "items" in field:
        return f"list of {_type(field['items'])}"
    if kind == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return kind


def main() -> None:
    """Write the tables into the page."""
    page = Path("docs/fields.md")
    page.write_text(page.read_text().partition(BEGIN)[0] + tables())


if __name__ == "__main__":
    main()
