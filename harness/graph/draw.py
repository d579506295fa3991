"""Pictures of state graphs and traces: their subject, their folding, and their titles."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx

from harness.graph.dump import trace_graph, trace_path
from harness.graph.fold import Drawn, Folder, fold_graph
from harness.graph.picture import Titles, to_graphviz
from harness.graph.render import render
from harness.itf import Trace
from harness.words import counted

FOLDS = ("auto", "none", "state", "actions")


@dataclass(frozen=True)
class Subject:
    """The subject of a picture: its title, a state graph, and a path of its nodes that is shown in it.

    `alone` tells that there is only the path, so that changes from node to node can be highlighted.
    """

    title: str
    graph: nx.MultiDiGraph
    path: tuple[int, ...] = ()
    alone: bool = False


def of_model(name: str, graph: nx.MultiDiGraph, trace: Trace | None = None, trace_name: str = "") -> Subject:
    """A model's state graph, with the path of a trace. ConformError if the trace is not of this graph."""
    if trace is None:
        return Subject(f"State graph of {name}", graph)
    path = trace_path(graph, trace, f"The trace {trace_name}")
    return Subject(f"State graph of {name} with the path of {trace_name}", graph, tuple(path))


def of_trace(name: str, trace: Trace) -> Subject:
    """A trace alone; for a counterexample the title has the violated property."""
    graph, path = trace_graph(trace)
    violated = trace.meta.get("violated")
    title = f"Counterexample {name}: {violated} is violated" if violated else f"Trace {name}"
    return Subject(title, graph, tuple(path), alone=True)


def draw(subject: Subject, folder: Path, name: str, fold: str, variable: str | None) -> dict[str, Any]:
    """Draw NAME.svg and NAME.png in a folder; the answer describes them, as `--json` has it.

    `fold` is one of FOLDS; `variable` folds by a variable's value. ConformError: exit 2 for a folding that
    these states do not have, 3 where graphviz is missing or fails.
    """
    folder_of_states = Folder(subject.graph)
    folding = folder_of_states.choose(fold, variable)
    drawn = fold_graph(subject.graph, folding, subject.path)
    if subject.alone and not folding.by:
        _mark_changes(drawn)
    describer = folder_of_states.describer
    titles = Titles(
        subject.title,
        _subtitle(subject, drawn),
        [title for title in describer.titles if title in _titles(drawn)],
        [
            *describer.notes(folding.by),
            *(["bold: changed by the step"] if subject.alone and not folding.by else []),
        ],
    )
    files = render(to_graphviz(drawn, titles), folder, name)
    return {
        "title": subject.title,
        "states": len(subject.graph),
        "edges": subject.graph.number_of_edges(),
        **({} if subject.alone else {"depths": depths(subject.graph)}),
        "folded_by": folding.by or None,
        "nodes": len(drawn.graph),
        "drawn_edges": drawn.graph.number_of_edges(),
        "path": list(subject.path),
        "actions": _actions(subject.graph),
        "group_states": _group_states(drawn) if describer.titles else {},
        "files": [str(file) for file in files],
    }


def depths(graph: nx.MultiDiGraph) -> list[int]:
    """Numbers of states that are 0, 1, 2 … steps from the initial ones."""
    return [len(layer) for layer in nx.bfs_layers(graph, graph.graph["initial"])]


def _mark_changes(drawn: Drawn) -> None:
    """Highlight in each node the cells that differ from the node before it on the path."""
    cards = dict(drawn.graph.nodes(data="card"))
    seen = {drawn.path[0]}
    for before, node in pairwise(drawn.path):
        if node not in seen:
            seen.add(node)
            drawn.graph.nodes[node]["card"] = cards[node].compared_with(cards[before])


def _subtitle(subject: Subject, drawn: Drawn) -> str:
    size = f"{counted(len(subject.graph), 'state')}, {counted(subject.graph.number_of_edges(), 'edge')}"
    if subject.path:
        size += f", path of {counted(len(subject.path) - 1, 'step')}"
    return f"{size}, folded by {drawn.folded_by}" if drawn.folded_by else size


def _titles(drawn: Drawn) -> set[str]:
    return {card.title for _, card in drawn.graph.nodes(data="card")}


def _actions(graph: nx.MultiDiGraph) -> dict[str, int]:
    counts = Counter(action for *_, action in graph.edges(data="action"))
    return dict(sorted(counts.items()))


def _group_states(drawn: Drawn) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for _, attributes in drawn.graph.nodes(data=True):
        counts[attributes["card"].title] += attributes["states"]
    return dict(sorted(counts.items()))
