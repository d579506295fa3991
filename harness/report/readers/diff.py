"""`conform diff --json`: what an edit of the specification adds and forbids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import field

from harness.report.readers.form import OfFile, Result, decoded


class Effect(Result, frozen=True, kw_only=True):
    """An effect of an answer, in words."""

    effect: str


class Came(Result, frozen=True, kw_only=True):
    """An answer with its effects."""

    answer: str = ""
    effects: Sequence[Effect]

    @property
    def line(self) -> str:
        """The answer with its effects on one line."""
        return "; ".join(word for word in (self.answer, *(one.effect for one in self.effects)) if word)


class Example(Result, frozen=True, kw_only=True):
    """The shortest way to an input with a change, and the answers of both specifications."""

    way: Sequence[str]
    input: str = ""
    a: Sequence[Came]
    b: Sequence[Came]


class Kind(Result, frozen=True, kw_only=True):
    """Inputs with equal changes: their number, the number of states, and the shortest example."""

    kind: str
    action: str
    ways_a: Sequence[str]
    ways_b: Sequence[str]
    inputs: int
    states: int
    requirements: Sequence[str]
    example: Example = Example(way=(), a=(), b=())

    @property
    def ways(self) -> str:
        """The outcomes in both specifications."""
        return " → ".join(", ".join(ways) for ways in (self.ways_a, self.ways_b) if ways)

    @property
    def way(self) -> Sequence[str]:
        """The steps to the example."""
        return self.example.way

    @property
    def input(self) -> str:
        """The input of the example."""
        return self.example.input

    @property
    def a(self) -> Sequence[str]:
        """The answers before the edit."""
        return [one.line for one in self.example.a]

    @property
    def b(self) -> Sequence[str]:
        """The answers after the edit."""
        return [one.line for one in self.example.b]


class Property(Result, frozen=True, kw_only=True):
    """A property, with its result in A and B: "holds", "violated", "" where it was not checked."""

    name: str = field(name="property")
    requirements: Sequence[str] = ()
    verdict: str = ""
    a: str = ""
    b: str = ""


class States(Result, frozen=True, kw_only=True):
    """The numbers of states that both reach, and that one reaches alone."""

    both: int
    only_a: int
    only_b: int


class DiffModel(Result, frozen=True, kw_only=True):
    """Differences within the bounds of one model; `inputs` by the kind of difference, `actions` by action.

    `not_compared` are fields that one of the two does not have.
    """

    name: str = field(name="model")
    bounds: str = ""
    states: States | None = None
    inputs: Mapping[str, int] = field(default_factory=dict)
    actions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    not_compared: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    properties: Sequence[Property]


class Constant(Result, frozen=True, kw_only=True):
    """A constant with its values in A and B."""

    name: str
    sentence: str = ""
    a: Any = None
    b: Any = None


class Edit(Result, frozen=True, kw_only=True):
    """An edited definition."""

    module: str = ""
    definition: str = ""
    change: str = ""


class Diff(OfFile, frozen=True, kw_only=True):
    """One comparison of A and B, and the `page` with the details."""

    a: str
    b: str
    constants: Sequence[Constant]
    definitions: Sequence[Edit] = field(name="edits")
    configuration: Sequence[str]
    models: Sequence[DiffModel]
    page: str = ""

    @property
    def name(self) -> str:
        """The words after the verb in the file's name."""
        return self.source if self.source != "all" else "diff"

    @property
    def edits(self) -> Sequence[str]:
        """The edits in words."""
        constants = [
            f"{one.name}: {decoded(one.a)} → {decoded(one.b)}. {one.sentence}".strip()
            for one in self.constants
        ]
        definitions = [f"{one.module}: {one.definition} {one.change}" for one in self.definitions]
        return [*constants, *definitions, *self.configuration]
