"""A scenario of a classic or Connect group in memory, and the parts in which kinds of groups differ.

A printed state is plain: names to texts, lists of texts, and more of the same. So reading, comparing and
writing are the same for all kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

from harness.itf import Trace
from harness.scenario.fields import Field

Facts: TypeAlias = Mapping[str, Any]
"""Printed facts: name -> text, tuple of texts, or `Facts`."""


@dataclass(frozen=True, slots=True)
class Universe:
    """Names in the scenarios of one run: members, topics (or connectors) and the most partitions (or
    resources) of each."""

    members: frozenset[str]
    topics: Mapping[str, int]


@dataclass(frozen=True)
class Language:
    """A kind of group. `name` is the word in `protocol:` of a file, `module` its open instance.

    `topics` is the field of a file with the assigned things, and `whole` is 1 where such a thing is itself
    assigned, beside its parts. `first` makes the initial state of a file, `verbs` make a TLA+ action of a
    step; `definitions` are the values of the module's constants, `config` gives them to the module. `facts`
    prints the states of a behaviour, each but the initial one; `tall` are the parts that are written with one
    entry on a line, `optional` those that a file may leave out.
    """

    name: str
    module: str
    first: Callable[[Field | None, Mapping[str, int]], str]
    verbs: Mapping[str, Callable[[Field], str]]
    definitions: Callable[[Universe], str]
    config: str
    facts: Callable[[Trace], list[Facts]]
    topics: str = "topics"
    whole: int = 0
    tall: frozenset[str] = frozenset({"members"})
    optional: frozenset[str] = frozenset({"response"})


@dataclass(frozen=True, slots=True)
class Expected:
    """The state after a step in a file, with its lines from 0, both included; no facts: yet to be written."""

    facts: Facts
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the TLA+ action, and its words in the file."""

    action: str
    words: str
    expect: Expected | None
    first_line: int
    last_line: int
    column: int


@dataclass(frozen=True, slots=True)
class Erratum:
    """The values that the document prints after a step (from 1), and the right ones."""

    step: int
    where: str
    says: str
    holds: str
    uncorrected: Facts
    line: int


@dataclass(frozen=True)
class Script:
    """A scenario file of such a group."""

    file: str
    name: str
    source: str
    shows: str
    requirements: tuple[str, ...]
    kind: Language
    universe: Universe
    first: str
    steps: tuple[Step, ...]
    errata: tuple[Erratum, ...] = ()
    link: str = ""
    caught: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Hash of the operations, 12 hexadecimal digits: a trace with this hash is of this script."""
        done = "\n".join([self.first, *(step.action for step in self.steps)])
        return sha256(done.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class PlayedScript:
    """The result of playing a script: the behaviour as far as it goes, and its printed states."""

    scenario: Script
    trace: Trace
    transcripts: Sequence[Facts] = field(default_factory=list)

    @property
    def stuck(self) -> int:
        """The number of the first step (from 1) that the specification does not have; 0 if it has all."""
        done = len(self.transcripts)
        return done + 1 if done < len(self.scenario.steps) else 0

    @property
    def mismatches(self) -> list[tuple[int, str, str, str]]:
        """Differences of the file: step, name, value in the file, value in the specification."""
        wrong = []
        for number, (step, spec) in enumerate(zip(self.scenario.steps, self.transcripts, strict=False), 1):
            if step.expect is not None and step.expect.facts:
                left_out = self.scenario.kind.optional - step.expect.facts.keys()
                given = {name: value for name, value in spec.items() if name not in left_out}
                wrong += [(number, *one) for one in differ(step.expect.facts, given)]
        return wrong

    @property
    def missing(self) -> list[int]:
        """The steps whose state is yet to be written."""
        steps = enumerate(self.scenario.steps, start=1)
        return [number for number, step in steps if step.expect is None or not step.expect.facts]

    @property
    def accepted(self) -> list[Erratum]:
        """Errata whose uncorrected state the specification gives."""
        return [
            erratum
            for erratum in self.scenario.errata
            if erratum.step <= len(self.transcripts)
            and not list(
                differ(
                    over(self.transcripts[erratum.step - 1], erratum.uncorrected),
                    self.transcripts[erratum.step - 1],
                )
            )
        ]

    @property
    def broken(self) -> bool:
        """Tell if the written part of the file is no behaviour of the specification."""
        return bool(self.stuck or self.mismatches)

    @property
    def holds(self) -> bool:
        """Tell if the script is a behaviour of the specification as written, and its errata are not."""
        return not (self.stuck or self.missing or self.mismatches or self.accepted)


def over(facts: Facts, others: Facts) -> Facts:
    """Facts with others in their place, to any depth; an empty text removes a fact."""
    result = dict(facts)
    for name, value in others.items():
        if value == "":
            result.pop(name, None)
            continue
        old = result.get(name)
        both = isinstance(value, Mapping) and isinstance(old, Mapping)
        result[name] = over(old, value) if both else value  # type: ignore[arg-type]
    return result


def flat(facts: Facts, before: str = "") -> dict[str, Any]:
    """Facts by the names on the way to them, like "group epoch"."""
    named: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, Mapping):
            named |= flat(value, f"{before}{name} ")
        else:
            named[f"{before}{name}"] = tuple(sorted(value)) if isinstance(value, tuple) else value
    return named


def differ(file: Facts, spec: Facts) -> Sequence[tuple[str, str, str]]:
    """Differences: the name, the value in the file, the value in the specification."""
    left, right = flat(file), flat(spec)
    names = [*left, *(name for name in right if name not in left)]
    return [
        (name, shown(left.get(name)), shown(right.get(name)))
        for name in names
        if left.get(name) != right.get(name)
    ]


def shown(value: Any) -> str:
    """A fact in a message."""
    if value is None:
        return "nothing"
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)
