"""Damaged copies of JSON values, for tests that give them to the readers of files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

JUNK: Final[tuple[Any, ...]] = (
    *(None, True, -1, 10**30, "", "x", [], {}, {"#map": []}, {"#tup": []}, {"#set": [1]}, {"#bigint": "x"}),
    *({"#map": [[1]]}, [[]], {"#set": [{}]}, {"tag": "None", "value": {}}),
)
"""Values of other types, and some that ITF does not have."""
NUMBERS: Final = [30, pytest.param(150, marks=pytest.mark.fuzz)]
"""Numbers of copies: in each run, and in `make fuzz`."""


def some(examples: int) -> settings:
    """Settings with a number of examples, which are the same in each run."""
    return settings(
        max_examples=examples, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all parts of a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*above, name)
        yield from places(part, (*above, name))


def part_at(value: Any, place: Sequence[Any]) -> Any:
    for name in place:
        value = value[name]
    return value


@st.composite
def damaged(draw: st.DrawFn, text: str) -> Any:
    """A JSON value of which one part is removed, doubled or renamed, of another type, or another part."""
    value = json.loads(text)
    everywhere = list(places(value))
    place = draw(st.sampled_from(everywhere))
    around, last = part_at(value, place[:-1]), place[-1]
    match draw(st.sampled_from(["remove", "replace", "copy", "again"])):
        case "remove":
            del around[last]
        case "replace":
            around[last] = draw(st.sampled_from(JUNK))
        case "copy":
            around[last] = part_at(json.loads(text), draw(st.sampled_from(everywhere)))
        case _ if isinstance(around, list):
            around.insert(last, around[last])
        case _:
            around[f"{last}x"] = around.pop(last)
    return value
