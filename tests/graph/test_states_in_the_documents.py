"""The picture of a consumer group's states in the documents, compared with committed traces."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

from harness.itf import read_trace
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import StateReader

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs/pictures/group-states.dot"
PASSED = {"Assigning", "Reconciling"}
"""The states that a step may pass: a server-side assignor installs the target in the same step (E2)."""


def drawn() -> nx.DiGraph:
    return nx.DiGraph(re.findall(r"^  (\w+) -> (\w+)", PICTURE.read_text(), re.MULTILINE))


def changes() -> set[tuple[str, str]]:
    """Changes of a group's state from one step to the next, in traces of consumer groups."""
    found = set()
    for folder in ("golden", "corpus", "client"):
        for file in sorted((ROOT / "traces" / folder).glob("*.itf.json")):
            states = [group_state(state.group) for state in StateReader().read(read_trace(file), file.name)]
            found |= {pair for pair in pairwise(states) if pair[0] != pair[1]}
    return found


def way(picture: nx.DiGraph, before: str, after: str) -> list[tuple[str, str]]:
    """The edges that a change takes in a picture. NetworkXNoPath where there are none."""
    between = picture.subgraph({before, after} | PASSED)
    return list(pairwise(nx.shortest_path(between, before, after)))


def test_groups_take_the_ways_that_are_drawn_and_no_others() -> None:
    picture = drawn()
    assert {edge for change in changes() for edge in way(picture, *change)} == set(picture.edges)


def test_a_way_that_is_not_drawn_is_found() -> None:
    picture = drawn()
    picture.remove_edge("Reconciling", "Empty")
    with pytest.raises(nx.NetworkXNoPath):
        way(picture, "Reconciling", "Empty")
