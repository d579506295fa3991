"""The card of a state of a consumer group (spec/GroupTypes.tla) in pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.graph.card import BY_MEMBERS, BY_STATE, Card, Key, Row, named, owned_by
from harness.itf import Trace
from harness.kinds.consumer.expect import group_state, member_state
from harness.kinds.consumer.state import Group, SpecState, StateReader
from harness.kinds.features.computing_sequence import computes
from harness.values import State
from harness.words import counted

GROUP_STATES: Final = ("Dead", "Empty", "Assigning", "Reconciling", "Stable")
"""E5, in the order of the legend."""

BEHIND: Final = "behind"
REVOKING: Final = "revoking"
WAITING: Final = "waiting"
UP_TO_DATE: Final = "up to date"
PROGRESS: Final = (BEHIND, REVOKING, WAITING, UP_TO_DATE)
"""The progress of members towards their target; MEANINGS has the words."""
MEANINGS: Final = (
    "behind: below the assignment epoch",
    "revoking: told to revoke, not acknowledged",
    "waiting: others have not released its partitions",
)

BY_PROGRESS: Final = "group state and how far each member is"
BY_REVOKING: Final = "group state, number of members and of those revoking"


class GroupDescriber:
    """States with the variable `group` of spec/GroupTypes.tla."""

    titles: Sequence[str] = GROUP_STATES
    levels: Sequence[str] = (BY_PROGRESS, BY_REVOKING, BY_MEMBERS, BY_STATE)

    def __init__(self, states: Sequence[State]) -> None:
        read = StateReader().read(Trace({}, tuple(states[0]), list(states)), "The state graph")
        self._read: dict[State, SpecState] = dict(zip(states, read, strict=True))

    def card(self, state: State) -> Card:
        """Group state, epochs, topics; each member's epoch and partitions, and its client's partitions."""
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
        """The legend of the words for a member's progress."""
        return {BY_PROGRESS: MEANINGS, BY_REVOKING: MEANINGS[1:2]}.get(level, ())

    def key(self, state: State, level: str) -> Key:
        """The group's state, then the node's words about its members."""
        group = self._read[state].group
        progress = [_progress(group, name) for name in group.members]
        words = [group_state(group)]
        if level == BY_PROGRESS:
            members = {stage: counted(progress.count(stage), "member") for stage in PROGRESS}
            words += [f"{members[stage]} {stage}" for stage in PROGRESS if stage in progress]
        elif level != BY_STATE and progress:
            words.append(counted(len(progress), "member"))
            if level == BY_REVOKING and REVOKING in progress:
                words.append(f"{progress.count(REVOKING)} {REVOKING}")
        return tuple(words)

    def folded_card(self, key: Key) -> Card:
        """The group's state, and the numbers of members by progress."""
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
