"""Text in the nodes of pictures, and the readers that make it from states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from frozendict import frozendict

from harness.values import State, Value, as_function, sort_key

BY_MEMBERS: Final = "group state and number of members"
BY_STATE: Final = "group state"

Row: TypeAlias = tuple[str, ...]
Key: TypeAlias = tuple[Value, ...]
"""The values that states share which are drawn as one node."""


@dataclass(frozen=True)
class Card:
    """Text of a node: a title that also chooses the colour, lines, and a table under them.

    `changed` are the cells of the table (row and column, from 0) that are highlighted.
    """

    title: str
    lines: tuple[str, ...] = ()
    head: Row = ()
    rows: tuple[Row, ...] = ()
    changed: frozenset[tuple[int, int]] = frozenset()

    def compared_with(self, before: Card) -> Card:
        """This card, with the cells marked that differ from the row of the same name in another card."""
        rows = {row[0]: row for row in before.rows}
        changed = {
            (number, column)
            for number, row in enumerate(self.rows)
            for column, (cell, old) in enumerate(zip(row, rows.get(row[0], ("",) * len(row)), strict=False))
            if cell != old
        }
        return replace(self, changed=frozenset(changed))


class Describer(Protocol):
    """A reader of the states of one specification."""

    titles: Sequence[str]
    """All titles that cards may have, for a legend; empty if titles mean nothing."""
    levels: Sequence[str]
    """Ways to fold, the finest first, in words for the picture's title; empty if there are none."""

    def card(self, state: State) -> Card:
        """All facts about one state."""

    def notes(self, level: str) -> Sequence[str]:
        """Explanations of the words on the nodes of a picture with this folding ("" without folding)."""

    def key(self, state: State, level: str) -> Key:
        """The key of a state: states with the same key are folded."""

    def folded_card(self, key: Key) -> Card:
        """The card of all states with a key."""


def named(partitions: Iterable[Value]) -> str:
    """Partitions by name, sorted; "-" for none."""
    ordered = sorted(partitions, key=sort_key)
    pairs = (item for item in ordered if isinstance(item, tuple) and len(item) == 2)
    return " ".join(f"{topic}-{index}" for topic, index in pairs) or "-"


def owned_by(clients: Value) -> dict[str, str]:
    """The partitions that each client process really owns; a process that is down owns none."""
    owned = {}
    for name, client in as_function(clients).items():
        if isinstance(client, frozendict) and isinstance(partitions := client.get("owned"), frozenset):
            owned[str(name)] = named(partitions) if client.get("up") else "down"
    return owned
