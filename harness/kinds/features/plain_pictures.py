"""Cards of states and sequence diagrams of traces, for kinds in which each request is answered in its
step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from harness.graph.card import BY_STATE, Card, Key
from harness.itf import Trace
from harness.kinds.features.sessions import AnyGroup, PlainReader, PlainState, PlainStep
from harness.report.sequence import Event, Message, Note, Shows, Step
from harness.report.sequence_words import COORDINATOR, NOBODY, natural
from harness.values import State

G = TypeVar("G", bound=AnyGroup)
P = TypeVar("P", bound=PlainStep[Any, Any])


class PlainDescriber(ABC, Generic[G, P]):
    """Cards of groups; ConformError for other states."""

    titles: Sequence[str] = ("Dead", "Empty", "Stable")
    levels: Sequence[str] = (BY_STATE,)
    head: ClassVar[tuple[str, ...]]
    """The columns of the table of members."""

    def __init__(self, states: Sequence[State]) -> None:
        read = self.reader().read(Trace({}, tuple(states[0]), list(states)), "The state graph")
        self._read: dict[State, PlainState[G, P]] = dict(zip(states, read, strict=True))

    @staticmethod
    @abstractmethod
    def reader() -> PlainReader[Any, Any]:
        """Reads the states."""

    @staticmethod
    @abstractmethod
    def line(group: Any) -> str:
        """The group in one line."""

    @staticmethod
    @abstractmethod
    def row(member: Any) -> tuple[str, ...]:
        """A member's row without its name."""

    @staticmethod
    @abstractmethod
    def labels(step: Any) -> tuple[str, str]:
        """The labels of a request and of its answer without an error."""

    def card(self, state: State) -> Card:
        """The group in a line, and its members."""
        group = self._read[state].group
        rows = tuple((name, *self.row(member)) for name, member in group.named.items())
        return Card(group.title, (self.line(group),), self.head if rows else (), rows)

    def notes(self, level: str) -> Sequence[str]:
        """None."""
        return ()

    def key(self, state: State, level: str) -> Key:
        """The group's state."""
        return (self._read[state].group.title,)

    def folded_card(self, key: Key) -> Card:
        """The group's state."""
        return Card(str(key[0]))


def plain_steps(
    pictures: type[PlainDescriber[Any, Any]],
) -> Callable[[Trace, str, Mapping[int, Sequence[str]]], tuple[list[str], list[Step], list[Event]]]:
    """Make the sequence diagrams of a kind that has such cards."""

    def steps(
        trace: Trace, title: str, failing: Mapping[int, Sequence[str]]
    ) -> tuple[list[str], list[Step], list[Event]]:
        """Lanes and rows."""
        states = pictures.reader().read(trace, f"The trace {title}")
        members = {state.step.member or (NOBODY if state.step.error else "") for state in states} - {""}
        rows = [
            Step(index, state.step.action, state.step.branch, tuple(failing.get(index, ())))
            for index, state in enumerate(states)
            if index
        ]
        return [*sorted(members, key=natural), COORDINATOR], rows, list(_events(pictures, states))

    return steps


def _events(
    pictures: type[PlainDescriber[Any, Any]], states: Sequence[PlainState[Any, Any]]
) -> Iterator[Event]:
    for index, state in enumerate(states[1:], start=1):
        step, who = state.step, state.step.member or NOBODY
        if step.error:
            request, answered = pictures.labels(step)
            yield Message(index, who, COORDINATOR, request, "request")
            fine = step.error == "NONE"
            yield Message(
                index, COORDINATOR, who, answered if fine else step.error, "answer" if fine else "error"
            )
        else:
            yield Note(
                index,
                step.member or COORDINATOR,
                f"{step.action} {step.topic} {step.partitions}" if step.topic else step.action,
            )
        yield Shows(index, (pictures.line(state.group),))
