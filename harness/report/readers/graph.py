"""`conform graph --json`: the number of states of a state graph at each depth."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.readers.form import OfFile


class Graph(OfFile, frozen=True, kw_only=True):
    """A state graph: its title, and the number of states at distance 0, 1, 2 … from the initial ones. The
    path of a trace, or a sequence diagram, has no depths."""

    name: str
    states: int
    depths: Sequence[int] = ()
