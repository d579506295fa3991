"""A scenario in memory: the content of a file, checked, with its places.

Requests, responses and groups are those of `harness.kinds.consumer.state`, so that a scenario and its trace
are compared directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from harness.kinds.consumer.state import Group, Request, Response
from harness.kinds.fields import Partition

REQUEST: Final = "Request"
"""The action of a step that sends a ConsumerGroupHeartbeat. Other steps have the names of the actions of the
specification."""

Target: TypeAlias = Mapping[str, frozenset[Partition]]
"""A target assignment: member id -> partitions; members without any are left out."""

SECTIONS: Final = ("bumped", "installed", "expect")
"""The states of a step that the document may print: the group epoch bumped and the member updated; the new
target installed; and the end, with the response."""


@dataclass(frozen=True, slots=True)
class PrintedMember:
    """A member in the document's form. `partitions` are all that it holds while it is behind the assignment
    epoch, else those of its target that no other member holds; `pending` is the rest of its target."""

    epoch: int
    partitions: frozenset[Partition]
    pending: frozenset[Partition]


@dataclass(frozen=True, slots=True)
class Printed:
    """One state in the document's form, with the group's state (E5).

    The last one of a step also has the response, the fetched offset (O1) and the committed offsets.
    """

    epoch: int
    assignment_epoch: int
    state: str
    target: Target
    members: Mapping[str, PrintedMember]
    response: Response | None = None
    fetched: int | None = None
    offsets: Mapping[Partition, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """One state of a step in a file (None: yet to be written), with its lines from 0, both included."""

    printed: Printed | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One step: the action and its sender, the target that is installed where one is due, the expected
    result.

    `does` is `REQUEST` or an action of the specification. `target` None leaves the target as it is.
    `sections` has those of `SECTIONS` that the file has. `first_line`, `last_line` and `column` are its place
    in the file.
    """

    does: str
    member: str = ""
    request: Request | None = None
    topic: str = ""
    partitions: int = 0
    partition: Partition | None = None
    offset: int = 0
    target: Target | None = None
    says: str = ""
    sections: Mapping[str, Section] = field(default_factory=dict)
    first_line: int = 0
    last_line: int = 0
    column: int = 0

    @property
    def states(self) -> dict[str, Printed]:
        """The states that are written, by their names in `SECTIONS`."""
        return {name: section.printed for name, section in self.sections.items() if section.printed}


@dataclass(frozen=True, slots=True)
class Erratum:
    """The values that the document prints after a step (from 1), and the right ones. `printed` is the
    transcript of that state (`section`) with the uncorrected values, which the specification must reject;
    None if it is not written."""

    step: int
    where: str
    says: str
    holds: str
    section: str
    printed: Printed | None
    line: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario file. `topics` are the partitions of each topic that exists at the start, `first` the group
    at the start (None: there is none). `caught` names the mutants or properties that a bug here would
    break."""

    file: str
    name: str
    source: str
    shows: str
    requirements: tuple[str, ...]
    topics: Mapping[str, int]
    first: Group | None
    steps: tuple[ScriptStep, ...]
    errata: tuple[Erratum, ...] = ()
    link: str = ""
    caught: tuple[str, ...] = ()
