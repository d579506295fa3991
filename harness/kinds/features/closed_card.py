"""Words of a picture about a state of a closed model that does not name its steps: of groups that migrate
(spec/ClosedMigration.tla), and of members that compute (spec/ClosedClient.tla)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from harness.errors import ConformError
from harness.graph.card import BY_MEMBERS, BY_STATE, Card, Key, Row, named
from harness.kinds.classic.card import CLASSIC_STATES
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import Group, read_group
from harness.kinds.fields import BadField, Fields, read_function
from harness.values import State
from harness.words import counted

GROUP_STATES: Final = (*CLASSIC_STATES[:2], "Assigning", "Reconciling", *CLASSIC_STATES[2:])
"""The states of consumer groups and of classic groups, in the order of the legend."""
BY_PROTOCOL: Final = "group state and the protocols of its members"
_WAITING: Final = (("prepare", "PreparingRebalance"), ("complete", "CompletingRebalance"))


class _Closed(NamedTuple):
    """A state: the group and its kind ("" where there is only one), the phase of each member of the classic
    protocol ("" for other members), and each process's partitions."""

    kind: str
    group: Group
    phases: Mapping[str, str]
    owned: Mapping[str, str]

    @property
    def title(self) -> str:
        """The group's state; for a classic group by the members that it waits for."""
        if self.kind != "classic" or not self.group.members:
            return group_state(self.group)
        waiting = {self.phases[name] for name in self.group.members}
        return next((state for phase, state in _WAITING if phase in waiting), "Stable")


class ClosedDescriber:
    """A reader of states with the variables `mixed` and `processes`, or `group` and `computation` and
    `health`. ConformError for other states."""

    titles: Sequence[str] = GROUP_STATES

    def __init__(self, states: Sequence[State]) -> None:
        try:
            self._read = {state: _read(state) for state in states}
        except (BadField, KeyError) as error:
            raise ConformError(f"The state graph: {error}.") from None
        kinds = any(read.kind for read in self._read.values())
        self.levels: Sequence[str] = (*([BY_PROTOCOL] if kinds else []), BY_MEMBERS, BY_STATE)

    def card(self, state: State) -> Card:
        """Kind and epochs of the group; of each member its protocol, epoch, partitions, and its process's
        partitions."""
        kind, group, phases, owned = read = self._read[state]
        lines = [f"{kind} group"] if kind else []
        lines.append(f"group epoch {group.epoch}, assignment epoch {group.assignment_epoch}")
        head: Row = ("member", "classic", "epoch", "assigned", "target", "owns")
        rows = [
            (name, phases[name] or "-", str(one.epoch), named(one.assigned), named(group.target(name)))
            for name, one in group.members.items()
        ]
        rows += [(name, "-", "-", "-", "-") for name in sorted(owned.keys() - group.members.keys())]
        return Card(read.title, tuple(lines), head, tuple((*row, owned[row[0]]) for row in rows))

    def notes(self, level: str) -> Sequence[str]:
        """No notes: the words on the nodes explain themselves."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """The group's state and kind, then the node's words about its members."""
        read = self._read[state]
        words = [read.title, *([f"{read.kind} group"] if read.kind else [])]
        uses = ["classic" if read.phases[name] else "consumer" for name in read.group.members]
        if level == BY_PROTOCOL and read.kind == "consumer":
            protocols = (one for one in ("classic", "consumer") if one in uses)
            words += [f"{counted(uses.count(one), 'member')} ({one})" for one in protocols]
        elif level != BY_STATE and uses:
            words.append(counted(len(uses), "member"))
        return tuple(words)

    def folded_card(self, key: Key) -> Card:
        """The group's state, and its members."""
        title, *words = key
        return Card(str(title), tuple(map(str, words)))


def _read(state: State) -> _Closed:
    if "mixed" in state:
        mixed = Fields(state["mixed"], "mixed")
        phases = mixed.function("phase")
        processes = {name: Fields(raw, "processes") for name, raw in _function(state, "processes").items()}
        owned = {
            name: named(process.partitions("owned")) if process.get("up", bool) else "down"
            for name, process in processes.items()
        }
        group = read_group(mixed.record("group").raw, "mixed.group")
        return _Closed(
            mixed.get("kind", str), group, {str(name): str(phase) for name, phase in phases.items()}, owned
        )
    health = _function(state, "health")
    owned = {
        name: named(partitions) if health[name] in ("well", "hung") else health[name] or "not started"
        for name, partitions in _function(state, "owned").items()
    }
    return _Closed("", read_group(state["group"], "group"), dict.fromkeys(health, ""), owned)


def _function(state: State, name: str) -> Mapping[Any, Any]:
    return read_function(state[name], name)
