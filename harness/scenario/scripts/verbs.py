"""Verbs that several kinds of groups have in scenarios, and parts of their modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.kinds.fields import Partition
from harness.kinds.literals import tla_cases, tla_text
from harness.scenario.fields import Field
from harness.scenario.scripts.model import Universe


def event(action: str) -> Callable[[Field], str]:
    """An action without parameters."""

    def happens(field: Field) -> str:
        field.fields((), ())
        return action

    return happens


def timer(action: str, whose: str = "member") -> Callable[[Field], str]:
    """A timer of a member that runs out."""

    def expired(field: Field) -> str:
        member = field.fields((whose,), ())[whose].name_text()
        return f"{action} /\\ step'.member = {tla_text(member)}"

    return expired


def counts_of(topics: Mapping[str, int]) -> str:
    """The sizes of topics; for other topics 0 follows."""
    return tla_cases("t", {name: str(count) for name, count in topics.items()})


def partitions_of(universe: Universe) -> list[Partition]:
    """Every partition, or resource, that scenarios may name."""
    return [(name, number) for name, most in sorted(universe.topics.items()) for number in range(most)]
