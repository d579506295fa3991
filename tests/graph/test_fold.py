"""Folding: the states of one node, and the counts of a folded picture."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import pytest
from frozendict import frozendict
from graph_states import chain, foo, group_state, member, step

from harness.errors import USAGE, ConformError
from harness.graph.card import BY_STATE
from harness.graph.fold import READABLE_EDGES, READABLE_NODES, Folder, Folding, fold_graph
from harness.kinds.consumer.card import BY_PROGRESS, BY_REVOKING

ALL = {0: "m1", 1: "m1"}


def lives(count: int) -> nx.MultiDiGraph:
    """One member heartbeats at each epoch, leaves and joins again: two states of a member, one of none."""
    states = [group_state(0, {}, {})]
    for epoch in range(1, count + 1):
        joined = {"m1": member(2 * epoch - 1, foo(0, 1))}
        states.append(group_state(2 * epoch - 1, joined, ALL, step("Join", "m1", "advance")))
        states.append(group_state(2 * epoch, {}, {}, step("Leave", "m1", "leave")))
    return chain(states)


def test_a_small_graph_is_not_folded() -> None:
    graph = lives(3)
    drawn = fold_graph(graph, Folder(graph).choose("auto", None))
    assert (drawn.folded_by, len(drawn.graph), drawn.graph.number_of_edges()) == ("", 7, 6)
    assert [node for node, first in drawn.graph.nodes(data="initial") if first] == [0]


def test_a_large_graph_is_folded_and_nothing_is_lost() -> None:
    graph = lives(READABLE_NODES)
    graph.add_edge(1, 1, key=("Heartbeat", "stable", "m1"), action="Heartbeat", branch="stable", member="m1")
    drawn = fold_graph(graph, Folder(graph).choose("auto", None))
    assert drawn.folded_by == BY_PROGRESS
    sizes = {card.title: drawn.graph.nodes[node]["states"] for node, card in drawn.graph.nodes(data="card")}
    assert sizes == {"Dead": 1, "Stable": READABLE_NODES, "Empty": READABLE_NODES}
    steps: Counter[tuple[str, str, str]] = sum(
        (counts for *_, counts in drawn.graph.edges(data="steps")), Counter()
    )
    assert steps == {("Join", "advance", "m1"): READABLE_NODES, ("Leave", "leave", "m1"): READABLE_NODES}
    stays = [counts for _, counts in drawn.graph.nodes(data="stays") if counts]
    assert stays == [{("Heartbeat", "stable", "m1"): 1}]


def test_a_graph_whose_fine_picture_is_a_tangle_is_folded_coarser() -> None:
    """Up to three members, each behind or up to date, and every state leads to every other."""
    states = [group_state(0, {}, {})]
    for size in range(1, 4):
        for behind in range(size + 1):
            for extra in range(8):
                topics: Any = frozendict(foo=extra)
                members = {f"m{at}": member(1 if at < behind else 2) for at in range(size)}
                state = group_state(2, members, {}, step("Join", f"m{size}"))
                states.append(state.set("topics", topics))
    graph = chain(states)
    for source in list(graph)[1:]:
        for target in list(graph)[1:]:
            graph.add_edge(source, target, key="more", action="Heartbeat", branch="", member="m1")
    folder = Folder(graph)
    described, nodes = folder.describer, graph.nodes
    by_progress = Folding(
        BY_PROGRESS, lambda node: described.key(nodes[node]["state"], BY_PROGRESS), described.folded_card
    )
    fine = fold_graph(graph, by_progress)
    chosen = fold_graph(graph, folder.choose("auto", None))
    assert fine.graph.number_of_edges() > READABLE_EDGES >= chosen.graph.number_of_edges()
    assert chosen.folded_by == BY_REVOKING


def test_folding_by_group_state_is_what_e5_has() -> None:
    graph = lives(2)
    drawn = fold_graph(graph, Folder(graph).choose("state", None))
    titles = {node: card.title for node, card in drawn.graph.nodes(data="card")}
    assert drawn.folded_by == BY_STATE
    assert {(titles[source], titles[target]) for source, target in drawn.graph.edges} == {
        ("Dead", "Stable"),
        ("Stable", "Empty"),
        ("Empty", "Stable"),
    }


def test_the_path_of_a_trace_is_folded_too() -> None:
    graph = lives(2)
    drawn = fold_graph(graph, Folder(graph).choose("state", None), [0, 1, 2, 3, 4])
    titles = [drawn.graph.nodes[node]["card"].title for node in drawn.path]
    assert titles == ["Dead", "Stable", "Empty", "Stable", "Empty"]


def other(size: int) -> nx.MultiDiGraph:
    """Another specification: `at` counts and starts again, `half` has its half."""
    graph = nx.MultiDiGraph(initial=[0])
    for number in range(size):
        graph.add_node(number, state=frozendict(at=number, half=number * 2 // size, limit=size))
        action = "Add" if number < size - 1 else "Start"
        graph.add_edge(number, (number + 1) % size, key=action, action=action, branch="", member="")
    return graph


def test_other_specifications_are_folded_by_the_actions_that_are_possible() -> None:
    graph = other(READABLE_NODES + 1)
    drawn = fold_graph(graph, Folder(graph).choose("auto", None))
    assert drawn.folded_by == "the actions that are possible"
    cards = [card.lines for _, card in drawn.graph.nodes(data="card")]
    assert cards == [("possible:", "Add"), ("possible:", "Start")]


def test_where_the_actions_say_nothing_a_variable_is_chosen() -> None:
    graph = other(READABLE_NODES + 1)
    for *_, attributes in graph.edges(data=True):
        attributes["action"] = "Next"
    drawn = fold_graph(graph, Folder(graph).choose("auto", None))
    assert drawn.folded_by == "the value of half"


def test_folding_by_a_variable() -> None:
    graph = other(10)
    drawn = fold_graph(graph, Folder(graph).choose("auto", "half"))
    cards = {card.lines: drawn.graph.nodes[node]["states"] for node, card in drawn.graph.nodes(data="card")}
    assert cards == {("half = 0",): 5, ("half = 1",): 5}


@pytest.mark.parametrize(
    ("fold", "variable", "sentence"),
    [
        ("state", None, "no `group` of the group protocol"),
        ("auto", "step", "There is no variable `step` to fold by; there are at, half, limit."),
    ],
)
def test_a_folding_that_a_specification_does_not_have(fold: str, variable: str | None, sentence: str) -> None:
    with pytest.raises(ConformError, match="variable") as caught:
        Folder(other(3)).choose(fold, variable)
    assert sentence in caught.value.message
    assert caught.value.exit_code == USAGE
