"""State of the computation of a target by one of a group's members (A5). All of it is volatile.

The names are those of the specification: `chosen`, `prepared` (there is a base), `tried`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

Json = dict[str, Any]


class Base(NamedTuple):
    """BaseOf (A6): the answer of PrepareAssignment, against which an assignment is checked."""

    epoch: int
    subscribed: Mapping[str, frozenset[str]]
    """Member id -> the ids of the topics that it subscribes to."""
    partitions: Mapping[str, int]
    """Topic id -> how many partitions it has."""
    body: Json
    """The body of the answer, for repeated PrepareAssignment requests."""


class Computation(NamedTuple):
    """A computation in which no member is chosen: nothing is in flight."""

    chosen: str = ""
    deadline_ms: int | None = None
    """The time at which another member is chosen; the time-out starts when the chosen member is told."""
    base: Base | None = None
    """None until the chosen member has prepared."""
    tried: frozenset[str] = frozenset()
    """The members that were chosen before for the due target, and were too late."""


IDLE: Final = Computation()
