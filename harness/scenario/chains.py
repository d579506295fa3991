"""Behaviours of scenarios in the state graph of their module: each scenario is one chain of states."""

from __future__ import annotations

from typing import Any

import networkx as nx

from harness.errors import ConformError


def chains(graph: nx.MultiDiGraph) -> dict[int, list[Any]]:
    """The states from each initial one on, by the number of their scenario. ConformError for a step with
    several outcomes."""
    every = (_from(graph, start) for start in graph.graph["initial"])
    return {states[0]["scenario"]: states for states in every}


def _from(graph: nx.MultiDiGraph, node: Any) -> list[Any]:
    states = [graph.nodes[node]["state"]]
    while following := set(graph.successors(node)):
        if len(following) > 1:
            raise ConformError("A step of a scenario has several outcomes: say more of it, as its target.")
        node = following.pop()
        states.append(graph.nodes[node]["state"])
    return states
