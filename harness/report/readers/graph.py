"""`conform graph --json`: the number of states of a state graph at each depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.readers.fields import Fields


@dataclass(frozen=True)
class Graph:
    """A state graph: its title, and the number of states at distance 0, 1, 2 … from the initial ones."""

    name: str
    states: int
    depths: Sequence[int]


def graph(data: Fields) -> Graph:
    """The graph of a file; the path of a trace, or a sequence diagram, has no depths."""
    depths = data.numbers("depths")
    return Graph(data.get("name", str), data.get("states", int), depths)
