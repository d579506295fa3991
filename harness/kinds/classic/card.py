"""Text of pictures about a state of a classic group (spec/ClassicGroups.tla)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.graph.card import BY_MEMBERS, BY_STATE, Card, Key, Row, named, owned_by
from harness.itf import Trace
from harness.kinds.classic.state import ClassicGroup, ClassicReader, ClassicState
from harness.values import State
from harness.words import counted

CLASSIC_STATES: Final = ("Dead", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable")
"""C1, in the order of the legend."""
BY_WAITING: Final = "group state and what members wait for"
JOINING: Final = "waiting to join"
SYNCING: Final = "waiting for the leader"
OWES: Final = "must sync"


class ClassicDescriber:
    """A reader of states with the variable `group` of spec/ClassicTypes.tla; ConformError for other
    states."""

    titles: Sequence[str] = CLASSIC_STATES
    levels: Sequence[str] = (BY_WAITING, BY_MEMBERS, BY_STATE)

    def __init__(self, states: Sequence[State]) -> None:
        read = ClassicReader().read(Trace({}, tuple(states[0]), list(states)), "The state graph")
        self._read: dict[State, ClassicState] = dict(zip(states, read, strict=True))

    def card(self, state: State) -> Card:
        """Group state, generation, leader; the assignment of each member, the request that waits, and its
        client's partitions."""
        group = self._read[state].group
        known = {"leader": group.leader, "protocol": group.protocol}
        led = [f"{name} {value}" for name, value in known.items() if value]
        lines = [", ".join([f"generation {group.generation}", *led])] if group.exists else []
        head: Row = ("member", "assigned", "request")
        rows: list[Row] = [(name, *_member_row(group, name)) for name in sorted(group.members)]
        rows += [(name, "-", "has an id, not joined") for name in sorted(group.pending)]
        if "clients" in state:
            head = (*head, "client owns")
            owned = owned_by(state["clients"])
            rows = [(*row, owned.pop(row[0], "")) for row in rows]
            rows = sorted([*rows, *((name, "-", "-", owns) for name, owns in owned.items())])
        return Card(group.state, tuple(lines), head if rows else (), tuple(rows))

    def notes(self, level: str) -> Sequence[str]:
        """No notes: the words on the nodes explain themselves."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """The group's state, then the node's words about its members."""
        group = self._read[state].group
        words = [group.state]
        waits = [_waits(group, name) for name in group.members]
        if level == BY_MEMBERS and waits:
            words.append(counted(len(waits), "member"))
        elif level == BY_WAITING:
            for kind in (JOINING, SYNCING, OWES, ""):
                if kind in waits:
                    words.append(f"{counted(waits.count(kind), 'member')} {kind}".strip())
            words += [f"{len(group.pending)} not joined"] if group.pending else []
        return tuple(words)

    def folded_card(self, key: Key) -> Card:
        """The group's state, and the numbers of members by the request that waits."""
        title, *counts = key
        return Card(str(title), tuple(str(item) for item in counts))


def _waits(group: ClassicGroup, name: str) -> str:
    member = group.members[name]
    if member.joining:
        return JOINING
    return SYNCING if member.syncing else OWES if member.owes_sync else ""


def _member_row(group: ClassicGroup, name: str) -> Row:
    assigned = group.members[name].assignment
    return "none" if assigned is None else named(assigned), _waits(group, name) or "-"
