"""Stages: the events, the world and the draws with which whole groups of one kind are simulated."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from harness.errors import USAGE, ConformError
from harness.kinds.registry import KINDS
from harness.targets.base import Json

if TYPE_CHECKING:
    from harness.simulate.groups.story import Counts, Settings, Story

HOW: Final = ("loading", "moved", "unavailable")
"""The ways in which a coordinator may be down."""


class Played(Protocol):
    """A world to which events happen."""

    counts: Counts
    now_ms: int

    def apply(self, event: Json) -> bool:
        """Do one event, and check the touched groups and processes; False if the event is void. Raises
        Violation."""


class Draws(Protocol):
    """Source of events, drawn from a seed."""

    def next(self) -> Json | None:
        """The next event; None where no event will ever come."""

    def saw(self, event: Json, happened: bool) -> None:
        """Plan what follows from an event that was done, or was void."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The parts of a simulation of one kind of group. `events` are the fields that each event needs; `settle`
    ends the faults, and raises Violation where the groups do not come to rest (R8); `snapshot` gives each
    group in a report's form."""

    events: Mapping[str, tuple[str, ...]]
    drawn_settings: Callable[[random.Random, bool, bool], Settings]
    world: Callable[[Any, Settings, Story | None], Played]
    draw: Callable[[Any, random.Random], Draws]
    settle: Callable[[Any], None]
    snapshot: Callable[[Any], dict[str, Json]]
    assumptions: Sequence[str]
    """Assumptions that can be taken away; then a violation must be seen."""
    choices: Mapping[str, Collection[str]]
    """The possible values of fields of events that have few."""


def stages() -> dict[str, str]:
    """The module of the stage of each kind that has one, by the kind's name."""
    return {kind.name: kind.stage for kind in KINDS if kind.stage}


def stage_of(kind: str) -> Stage:
    """The stage of a kind. ConformError (exit 2) where whole groups of it are not simulated."""
    known = stages()
    if kind not in known:
        raise ConformError(
            f"Whole groups of the kind {kind!r} are not simulated; name one of {', '.join(sorted(known))}.",
            USAGE,
        )
    stage: Stage = import_module(known[kind]).STAGE
    return stage
