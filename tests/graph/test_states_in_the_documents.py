"""The pictures of states in the documents are drawn from the coordinator's tables. The table of a consumer
group is compared with committed traces here, the others with runs in tests beside the code."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from state_pictures import FOLDER, TABLES, drawn

from coordinator.consumer.model import TRANSITIONS
from harness.itf import read_trace
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import StateReader

ROOT = Path(__file__).parents[2]
PASSED = {"Assigning", "Reconciling"}
"""The states that a step may pass: a server-side assignor installs the target in the same step (E2)."""


def table() -> nx.DiGraph:
    """The changes of a consumer group's state, as a graph."""
    return nx.DiGraph((before, row.after) for row in TRANSITIONS for before in row.before)


def changes() -> set[tuple[str, str]]:
    """Changes of a group's state from one step to the next, in traces of consumer groups."""
    results = set()
    for folder in ("golden", "corpus", "client"):
        for file in sorted((ROOT / "traces" / folder).glob("*.itf.json")):
            states = [group_state(state.group) for state in StateReader().read(read_trace(file), file.name)]
            results |= {pair for pair in pairwise(states) if pair[0] != pair[1]}
    return results


def way(changes: nx.DiGraph, before: str, after: str) -> list[tuple[str, str]]:
    """The edges that a change takes in a table. NetworkXNoPath where there are none."""
    between = changes.subgraph({before, after} | PASSED)
    return list(pairwise(nx.shortest_path(between, before, after)))


@pytest.mark.parametrize("name", TABLES)
def test_a_picture_is_drawn_from_its_table(name: str) -> None:
    file = FOLDER / f"{name}-states.dot"
    assert file.read_text() == drawn(name), "run `python tests/graph/state_pictures.py`"
    assert f"pictures/{file.stem}.svg" in (ROOT / "docs/specification.md").read_text()


def test_groups_change_as_the_table_says_and_make_each_of_its_changes() -> None:
    graph = table()
    assert {edge for change in changes() for edge in way(graph, *change)} == set(graph.edges)


def test_a_change_that_the_table_lacks_fails() -> None:
    graph = table()
    graph.remove_edge("Reconciling", "Empty")
    with pytest.raises(nx.NetworkXNoPath):
        way(graph, "Reconciling", "Empty")
