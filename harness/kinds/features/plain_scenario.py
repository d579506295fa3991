"""Scenarios of kinds whose groups begin empty: events, topics, definitions, and printed facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from harness.itf import Trace
from harness.kinds.features.sessions import DELETION, FAIL_OVER, TIMEOUT, PlainReader, PlainState
from harness.kinds.literals import tla_text, tla_texts
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Facts, Universe
from harness.scenario.scripts.verbs import counts_of, event, timer


def events_of(word: str) -> dict[str, Callable[[Field], str]]:
    """The verbs of events whose actions begin with a word; the module's `Change` changes a topic."""
    return {
        "topic": _topic,
        "session timeout": timer(f"{word}{TIMEOUT}"),
        "fail-over": event(f"{word}{FAIL_OVER}"),
        "delete group": event(f"{word}{DELETION}"),
    }


def request_of(
    epoch: int | None, optional: Sequence[str], request: Callable[[int, Mapping[str, Field]], str]
) -> Callable[[Field], str]:
    """The verb of a request of that epoch, or of the epoch in the file; `request` makes the request of its
    epoch and of the fields, some of which are `optional`."""

    def action(field: Field) -> str:
        given = field.fields(("member",) if epoch is not None else ("member", "epoch"), optional)
        arguments = request(given["epoch"].number() if epoch is None else epoch, given)
        return f"Request({tla_text(given['member'].name_text())}, {arguments})"

    return action


def _topic(field: Field) -> str:
    given = field.fields(("topic", "partitions"), ())
    return f"Change({tla_text(given['topic'].name_text())}, {given['partitions'].number(-1)})"


def first_of(variable: str, none: str) -> Callable[[Field | None, Mapping[str, int]], str]:
    """The initial state: no group, and the topics of the file."""

    def first(field: Field | None, topics: Mapping[str, int]) -> str:
        if field is not None:
            raise field.wrong("such a group begins with nothing")
        there = f"topics = [t \\in Topics |-> {counts_of(topics)}0]"
        return f"{variable} = {none} /\\ {there} /\\ step = NoStep"

    return first


def definitions(universe: Universe) -> str:
    """The names in the file, and no others."""
    members, topics = tla_texts(sorted(universe.members)), tla_texts(sorted(universe.topics))
    return f"GoldenMembers == {members}\nGoldenTopics == {topics}\nNothing == {{}}"


CONFIG: Final = "CONSTANTS\n  MemberIds <- GoldenMembers\n  Topics <- GoldenTopics\n"


def facts_of(
    reader: Callable[[], PlainReader[Any, Any]], printed: Callable[[Any], Facts]
) -> Callable[[Trace], list[Facts]]:
    """Print each state but the first."""

    def facts(trace: Trace) -> list[Facts]:
        states: list[PlainState[Any, Any]] = reader().read(trace, "The behaviour")
        return [printed(state) for state in states[1:]]

    return facts
