"""The card of a state of a group that migrates (spec/OpenMigration.tla) in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from harness.graph.card import BY_MEMBERS, BY_STATE, Card, Key
from harness.itf import Trace
from harness.kinds.classic.card import BY_WAITING, CLASSIC_STATES, ClassicDescriber
from harness.kinds.consumer.card import BY_PROGRESS, GROUP_STATES, MEANINGS, GroupDescriber
from harness.kinds.migration.state import NEW, OLD, MigrationReader, renamed
from harness.values import State

CLASSIC_GROUP: Final = "classic group"
CONSUMER_GROUP: Final = "consumer group"
BY_WAY: Final = "group state and what members wait for, or how far they are"


class MigrationDescriber:
    """A reader of states of groups that migrate (spec/OpenMigration.tla): each as a state of its kind of
    group."""

    titles: Sequence[str] = tuple(dict.fromkeys((*GROUP_STATES[:-1], *CLASSIC_STATES)))
    levels: Sequence[str] = (BY_WAY, BY_MEMBERS, BY_STATE)

    def __init__(self, states: Sequence[State]) -> None:
        trace = Trace({}, tuple(states[0]), list(states))
        self._old = dict(zip(states, renamed(trace, *OLD), strict=True))
        self._new = dict(zip(states, renamed(trace, *NEW), strict=True))
        self._classic = ClassicDescriber(list(self._old.values()))
        self._consumer = GroupDescriber(list(self._new.values()))
        read = MigrationReader().read(trace, "The state graph")
        self._read = dict(zip(states, read, strict=True))

    def card(self, state: State) -> Card:
        """The card of the group's kind; in a consumer group with the phases of members of the classic
        protocol."""
        if self._read[state].is_classic:
            return self._of_kind(state, self._classic.card(self._old[state]))
        card, group = self._of_kind(state, self._consumer.card(self._new[state])), self._read[state].group
        if not card.rows:
            return card
        phases = [one.classic.phase if one.classic else "-" for one in group.members.values()]
        rows = tuple((*row, phase) for row, phase in zip(card.rows, phases, strict=True))
        return replace(card, head=(*card.head, "classic"), rows=rows)

    def _of_kind(self, state: State, card: Card) -> Card:
        return replace(card, lines=(*self._kind(state), *card.lines))

    def _kind(self, state: State) -> Sequence[str]:
        """The kind of group that exists, if any: both kinds have states of the same names."""
        read = self._read[state]
        return (CLASSIC_GROUP,) if read.is_classic else (CONSUMER_GROUP,) if read.group.exists else ()

    def notes(self, level: str) -> Sequence[str]:
        """The legend of the words for a consumer's progress."""
        return MEANINGS if level == BY_WAY else ()

    def key(self, state: State, level: str) -> Key:
        """The key of the group's kind, and that kind."""
        if self._read[state].is_classic:
            title, *words = self._classic.key(self._old[state], BY_WAITING if level == BY_WAY else level)
        else:
            title, *words = self._consumer.key(self._new[state], BY_PROGRESS if level == BY_WAY else level)
        return (title, *self._kind(state), *words)

    def folded_card(self, key: Key) -> Card:
        """The folded card of the group's kind."""
        return self._consumer.folded_card(key)
