"""What a picture says about a state: for groups of the protocol in its terms, for others their variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.errors import ConformError
from harness.graph.card import (
    BY_MEMBERS,
    BY_STATE,
    Card,
    Describer,
    Key,
    Row,
    counted,
    named,
    owned_by,
)
from harness.graph.classic_states import BY_WAITING, CLASSIC_STATES, ClassicDescriber
from harness.graph.closed_states import ClosedDescriber
from harness.itf import Trace
from harness.kinds.classic.description import CLASSIC
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.features.computing_sequence import computes
from harness.kinds.migration.description import MIGRATION
from harness.kinds.migration.state import NEW, OLD, MigrationReader, renamed
from harness.replay.expect import group_state, member_state
from harness.replay.state import Group, SpecState, StateReader
from harness.tlaparse import print_value
from harness.values import State, Value

GROUP_STATES: Final = ("Dead", "Empty", "Assigning", "Reconciling", "Stable")
"""E5, in the order of the legend."""

BEHIND: Final = "behind"
REVOKING: Final = "revoking"
WAITING: Final = "waiting"
UP_TO_DATE: Final = "up to date"
PROGRESS: Final = (BEHIND, REVOKING, WAITING, UP_TO_DATE)
"""How far members are towards their target; MEANINGS says it in words."""
MEANINGS: Final = (
    "behind: below the assignment epoch",
    "revoking: told to revoke, not acknowledged",
    "waiting: others have not released its partitions",
)

BY_PROGRESS: Final = "group state and how far each member is"
CLASSIC_GROUP, CONSUMER_GROUP = "classic group", "consumer group"
BY_WAY: Final = "group state and what members wait for, or how far they are"
BY_REVOKING: Final = "group state, number of members and of those revoking"

_WIDTH: Final = 44
_ROWS: Final = 8


def describer(states: Iterable[State]) -> Describer:
    """The group's describer if the states are of the group protocol, else one for their variables."""
    known = list(states)
    kinds: list[tuple[Sequence[str], Callable[[Sequence[State]], Describer]]]
    kinds = [
        (CONSUMER.variables, GroupDescriber),
        (MIGRATION.variables, MigrationDescriber),
        (CLASSIC.variables, ClassicDescriber),
        (("mixed", "processes"), ClosedDescriber),
        (("group", "computation", "health"), ClosedDescriber),
    ]
    for variables, kind in kinds:
        if set(variables) <= set(known[0]):
            try:
                return kind(known)
            except ConformError:
                pass  # another specification that has variables of these names
    return VariableDescriber(known)


class GroupDescriber:
    """States with the variable `group` of spec/GroupTypes.tla."""

    titles: Sequence[str] = GROUP_STATES
    levels: Sequence[str] = (BY_PROGRESS, BY_REVOKING, BY_MEMBERS, BY_STATE)

    def __init__(self, states: Sequence[State]) -> None:
        read = StateReader().read(Trace({}, tuple(states[0]), list(states)), "The state graph")
        self._read: dict[State, SpecState] = dict(zip(states, read, strict=True))

    def card(self, state: State) -> Card:
        """Group state, epochs, topics; each member's epoch and partitions, and what its client owns."""
        spec = self._read[state]
        group = spec.group
        epochs = f"group epoch {group.epoch}, assignment epoch {group.assignment_epoch}"
        lines = [*([epochs] if group.exists else []), f"partitions: {_topics(spec.topics)}"]
        if computing := computes(state):
            lines.append(computing)
        head: Row = ("member", "epoch", "assigned", "revoking", "target")
        rows = [_member_row(group, name) for name in group.members]
        if "clients" in state:
            head = (*head, "client owns")
            owned = owned_by(state["clients"])
            rows = [(*row, owned.pop(row[0], "")) for row in rows]
            rows = sorted([*rows, *((name, "-", "-", "-", "-", owns) for name, owns in owned.items())])
        return Card(group_state(group), tuple(lines), head if rows else (), tuple(rows))

    def notes(self, level: str) -> Sequence[str]:
        """What the words for a member's progress mean."""
        return {BY_PROGRESS: MEANINGS, BY_REVOKING: MEANINGS[1:2]}.get(level, ())

    def key(self, state: State, level: str) -> Key:
        """The group's state, then what the node says of its members."""
        group = self._read[state].group
        progress = [_progress(group, name) for name in group.members]
        words = [group_state(group)]
        if level == BY_PROGRESS:
            words += [f"{counted(progress.count(stage))} {stage}" for stage in PROGRESS if stage in progress]
        elif level != BY_STATE and progress:
            words.append(counted(len(progress)))
            if level == BY_REVOKING and REVOKING in progress:
                words.append(f"{progress.count(REVOKING)} {REVOKING}")
        return tuple(words)

    def folded_card(self, key: Key) -> Card:
        """The group's state, and how many members are how far."""
        title, *counts = key
        return Card(str(title), tuple(str(item) for item in counts))


def _member_row(group: Group, name: str) -> Row:
    member = group.members[name]
    partitions = (member.assigned, member.revoking, group.target(name))
    return (name, str(member.epoch), *map(named, partitions))


def _progress(group: Group, name: str) -> str:
    member = group.members[name]
    stage = member_state(group, name, member)
    if stage == "UNREVOKED_PARTITIONS":
        return REVOKING
    if stage == "UNRELEASED_PARTITIONS":
        return WAITING
    return UP_TO_DATE if member.epoch == group.epoch else BEHIND


def _topics(topics: Mapping[str, int]) -> str:
    named = [f"{name} {'deleted' if count < 0 else count}" for name, count in sorted(topics.items()) if count]
    return ", ".join(named) or "none"


class MigrationDescriber:
    """States of groups that migrate (spec/OpenMigration.tla): each as one of the kind of group that it is."""

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
        """That of its kind; in a consumer group with where members of the classic protocol are."""
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
        """What kind of group there is, if any: both kinds have states of the same names."""
        read = self._read[state]
        return (CLASSIC_GROUP,) if read.is_classic else (CONSUMER_GROUP,) if read.group.exists else ()

    def notes(self, level: str) -> Sequence[str]:
        """What the words for a consumer's progress mean."""
        return MEANINGS if level == BY_WAY else ()

    def key(self, state: State, level: str) -> Key:
        """That of its kind, and which it is."""
        if self._read[state].is_classic:
            title, *words = self._classic.key(self._old[state], BY_WAITING if level == BY_WAY else level)
        else:
            title, *words = self._consumer.key(self._new[state], BY_PROGRESS if level == BY_WAY else level)
        return (title, *self._kind(state), *words)

    def folded_card(self, key: Key) -> Card:
        """As those of both kinds are."""
        return self._consumer.folded_card(key)


class VariableDescriber:
    """States of any specification: the variables that are not the same everywhere."""

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
        """None."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """There are no levels: every state is alone."""
        return tuple(state[name] for name in self._names)

    def folded_card(self, key: Key) -> Card:
        """The values of the variables."""
        return Card("", tuple(shorten(value) for value in key))


def shorten(value: Value) -> str:
    """A TLA+ value on one short line."""
    text = print_value(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
