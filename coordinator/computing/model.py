"""State of the computation of a target by one of a group's members (A5). All of it is volatile.

It stays in the terms of the specification: `chosen`, `prepared` (there is a base), `tried`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

Json = dict[str, Any]


class Base(NamedTuple):
    """BaseOf (A6): what PrepareAssignment returned, and what an assignment is judged against."""

    epoch: int
    subscribed: Mapping[str, frozenset[str]]
    """Member id -> the ids of the topics that it subscribes to."""
    partitions: Mapping[str, int]
    """Topic id -> how many partitions it has."""
    body: Json
    """The answer, which another PrepareAssignment is given again."""


class Computation(NamedTuple):
    """Nobody is chosen: nothing is in flight."""

    chosen: str = ""
    deadline_ms: int | None = None
    """When another member is chosen; it counts from when the chosen one was told."""
    base: Base | None = None
    """None until it has prepared."""
    tried: frozenset[str] = frozenset()
    """The members that were chosen before for the target that is due, and were too late."""


IDLE: Final = Computation()
