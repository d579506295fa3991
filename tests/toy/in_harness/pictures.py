"""Cards of states, and sequence diagrams of traces, of the toy protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.kinds.toy.state import ToyReader, ToyState

from harness.graph.card import BY_STATE, Card, Key
from harness.itf import Trace
from harness.report.sequence import Event, Message, Note, Shows, Step
from harness.report.sequence_words import COORDINATOR, natural
from harness.values import State


class ToyDescriber:
    """Cards of toy groups; ConformError for other states."""

    titles: Sequence[str] = ("Dead", "Empty", "Stable")
    levels: Sequence[str] = (BY_STATE,)

    def __init__(self, states: Sequence[State]) -> None:
        read = ToyReader().read(Trace({}, tuple(states[0]), list(states)), "The state graph")
        self._read: dict[State, ToyState] = dict(zip(states, read, strict=True))

    def card(self, state: State) -> Card:
        """The toy group's epoch and those of its members."""
        group = self._read[state].group
        rows = tuple((name, str(epoch)) for name, epoch in group.members.items())
        return Card(group.title, (f"toy epoch {group.epoch}",), ("member", "epoch") if rows else (), rows)

    def notes(self, level: str) -> Sequence[str]:
        """None."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """The group's state."""
        return (self._read[state].group.title,)

    def folded_card(self, key: Key) -> Card:
        """The group's state."""
        return Card(str(key[0]))


def toy_steps(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[Step], list[Event]]:
    """Lanes, rows and what is drawn."""
    states = ToyReader().read(trace, f"The trace {title}")
    members = sorted({state.step.member for state in states} - {""}, key=natural)
    steps = [
        Step(index, state.step.action, "", tuple(failing.get(index, ())))
        for index, state in enumerate(states)
        if index
    ]
    return [*members, COORDINATOR], steps, list(_events(states))


def _events(states: Sequence[ToyState]) -> Iterator[Event]:
    for index, state in enumerate(states[1:], start=1):
        step = state.step
        if step.error:
            yield Message(index, step.member, COORDINATOR, f"toy heartbeat {step.epoch}", "request")
            kind, label = ("answer", str(step.answer)) if step.error == "NONE" else ("error", step.error)
            yield Message(index, COORDINATOR, step.member, label, kind)  # type: ignore[arg-type]
        else:
            yield Note(index, step.member or COORDINATOR, step.action)
        yield Shows(index, (f"toy epoch {state.group.epoch}",))
