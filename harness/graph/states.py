"""The words of a picture about a state: for groups in the terms of their kind, for others their variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from harness.errors import ConformError
from harness.graph.card import Card, Describer, Key
from harness.kinds.cards import DESCRIBERS
from harness.tlaparse import print_value
from harness.values import State, Value

_WIDTH: Final = 44
_ROWS: Final = 8


def describer(states: Iterable[State]) -> Describer:
    """The group's describer if the states are of a group, else one for their variables."""
    known = list(states)
    for variables, kind in DESCRIBERS:
        if set(variables) <= set(known[0]):
            try:
                return kind(known)
            except ConformError:
                pass  # another specification with variables of these names
    return VariableDescriber(known)


class VariableDescriber:
    """A reader of the states of any specification: the variables that are not equal everywhere."""

    titles: Sequence[str] = ()
    levels: Sequence[str] = ()

    def __init__(self, states: Sequence[State]) -> None:
        names = sorted(states[0])
        first = states[0]
        varying = [name for name in names if any(state[name] != first[name] for state in states)]
        self._names = varying or names

    def card(self, state: State) -> Card:
        """The first variables, each on a line."""
        rows = [(name, shorten(state[name])) for name in self._names[:_ROWS]]
        if len(self._names) > _ROWS:
            rows.append(("…", f"{len(self._names) - _ROWS} more variables"))
        return Card("", rows=tuple(rows))

    def notes(self, level: str) -> Sequence[str]:
        """No notes."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """The key of a state, which stands alone: there are no levels of folding."""
        return tuple(state[name] for name in self._names)

    def folded_card(self, key: Key) -> Card:
        """The values of the variables."""
        return Card("", tuple(shorten(value) for value in key))


def shorten(value: Value) -> str:
    """A TLA+ value on one short line."""
    text = print_value(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
