"""Rows of the tables of state machines.

A table stands at the head of the module that holds its states. The pictures of the states in docs/ are drawn
from these tables (`python tests/graph/state_pictures.py`), and tests compare the tables with runs.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")


class Transition(NamedTuple, Generic[State]):
    """A change from any of the states `before` to the state `after`."""

    before: tuple[State, ...]
    after: State
    reason: str
    """The cause, as people read it in a picture."""
