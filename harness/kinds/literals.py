"""Values in the syntax of TLA+."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.kinds.fields import Partition
from harness.tlaparse import spelled
from harness.values import Value, is_field, sort_key


def tla_text(text: str) -> str:
    """A text in TLA+, which a `Reader` reads as the same text."""
    escaped = spelled(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def tla_partitions(partitions: Iterable[Partition]) -> str:
    """A set of partitions in TLA+."""
    return f"{{{', '.join(f'<<{tla_text(topic)}, {index}>>' for topic, index in sorted(partitions))}}}"


def tla_texts(texts: Iterable[str]) -> str:
    """A set of texts, in their order."""
    return f"{{{', '.join(map(tla_text, texts))}}}"


def tla_list(texts: Iterable[str]) -> str:
    """A sequence of texts."""
    return f"<<{', '.join(map(tla_text, texts))}>>"


def tla_cases(variable: str, values: Mapping[str, str]) -> str:
    """The values of a function at some texts, as literals; its value at all others comes last."""
    return "".join(f"IF {variable} = {tla_text(text)} THEN {value} ELSE " for text, value in values.items())


def tla_ranks(variable: str, texts: Iterable[str]) -> str:
    """The places of texts, from 1."""
    return tla_cases(variable, {text: str(place) for place, text in enumerate(texts, start=1)})


def tla_value(value: Value | Mapping[Any, Any]) -> str:
    """A value in TLA+. A function of names is written as the record that equals it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return tla_text(value)
    if isinstance(value, tuple):
        return f"<<{', '.join(tla_value(item) for item in value)}>>"
    if isinstance(value, frozenset):
        return f"{{{', '.join(tla_value(item) for item in sorted(value, key=sort_key))}}}"
    items = sorted(value.items(), key=lambda item: sort_key(item[0]))
    if items and all(isinstance(key, str) and is_field(key) for key, _ in items):
        return f"[{', '.join(f'{key} |-> {tla_value(item)}' for key, item in items)}]"
    cases = " [] ".join(f"key = {tla_value(key)} -> {tla_value(item)}" for key, item in items)
    domain = ", ".join(tla_value(key) for key, _ in items)
    return f"[key \\in {{{domain}}} |-> {f'CASE {cases}' if cases else '0'}]"
