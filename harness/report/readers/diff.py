"""`conform diff --json`: what an edit of the specification adds and forbids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.readers.fields import Fields


@dataclass(frozen=True)
class Kind:
    """Inputs with equal changes: their number, the number of states, and the shortest example."""

    kind: str
    action: str
    ways: str
    inputs: int
    states: int
    requirements: Sequence[str]
    way: Sequence[str]
    input: str
    a: Sequence[str]
    b: Sequence[str]


@dataclass(frozen=True)
class Property:
    """A property, with its result in A and B: "holds", "violated", "" where it was not checked."""

    name: str
    requirements: Sequence[str]
    verdict: str
    a: str
    b: str


@dataclass(frozen=True)
class DiffModel:
    """Differences within the bounds of one model; `inputs` by the kind of difference, `actions` by action.

    `not_compared` are fields that one of the two does not have.
    """

    name: str
    bounds: str
    states: Mapping[str, int]
    inputs: Mapping[str, int]
    actions: Mapping[str, Mapping[str, int]]
    not_compared: Sequence[str]
    kinds: Sequence[Kind]
    properties: Sequence[Property]


@dataclass(frozen=True)
class Diff:
    """One comparison of A and B; `edits` in words, and the `page` with the details."""

    name: str
    a: str
    b: str
    edits: Sequence[str]
    models: Sequence[DiffModel]
    page: str


def diff(data: Fields) -> Diff:
    """The comparison of a file."""
    constants = [
        f"{one.get('name', str)}: {one.decoded('a')} → {one.decoded('b')}. {one.text('sentence')}".strip()
        for one in data.items("constants")
    ]
    definitions = [
        f"{one.text('module')}: {one.text('definition')} {one.text('change')}" for one in data.items("edits")
    ]
    return Diff(
        name=data.stem.removeprefix("diff").strip("-_.") or "diff",
        a=data.get("a", str),
        b=data.get("b", str),
        edits=[*constants, *definitions, *data.get("configuration", list)],
        models=[_model(one) for one in data.items("models")],
        page=data.text("page"),
    )


def _model(one: Fields) -> DiffModel:
    return DiffModel(
        name=one.get("model", str),
        bounds=one.text("bounds"),
        states=one.object_or_none("states"),
        inputs=one.object_or_none("inputs"),
        actions=one.object_or_none("actions"),
        not_compared=one.list_or_none("not_compared"),
        kinds=[_kind(kind) for kind in one.items_or_none("kinds")],
        properties=[
            Property(
                prop.get("property", str),
                prop.list_or_none("requirements"),
                prop.text("verdict"),
                prop.text("a"),
                prop.text("b"),
            )
            for prop in one.items("properties")
        ],
    )


def _kind(one: Fields) -> Kind:
    example = one.part("example")
    ways = [", ".join(one.get(name, list)) for name in ("ways_a", "ways_b")]
    return Kind(
        kind=one.get("kind", str),
        action=one.get("action", str),
        ways=" → ".join(way for way in ways if way),
        inputs=one.get("inputs", int),
        states=one.get("states", int),
        requirements=one.get("requirements", list),
        way=example.get("way", list) if example else [],
        input=example.text("input") if example else "",
        a=_came(example.items("a")) if example else [],
        b=_came(example.items("b")) if example else [],
    )


def _came(came: Sequence[Fields]) -> list[str]:
    """An answer with its effects, one on each line."""
    lines = []
    for one in came:
        effects: list[dict[str, Any]] = one.get("effects", list)
        words = [one.text("answer"), *(effect["effect"] for effect in effects)]
        lines.append("; ".join(word for word in words if word))
    return lines
