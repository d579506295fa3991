"""From a state graph to the graph that is drawn: states with the same key become one node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import networkx as nx

from harness.errors import ConformError
from harness.graph.card import BY_STATE, Card, Describer, Key
from harness.graph.dump import without_step
from harness.graph.states import describer, shorten
from harness.values import Value

READABLE_NODES: Final = 60
"""A picture of more states than this is folded."""
READABLE_EDGES: Final = 36
"""The most edges of a picture of a folded graph, if some folding has so few."""

StepKind: TypeAlias = tuple[str, str, str]
"""Action, branch, member; "" for a part that a specification does not record."""


@dataclass(frozen=True)
class Folding:
    """A way to fold: words about keys (for the title; "" if none), the key of a node, the words for a key."""

    by: str
    key: Callable[[int], Key]
    card: Callable[[Key], Card]


class Folder:
    """The foldings of one state graph (see `harness.graph.dump`)."""

    def __init__(self, graph: nx.MultiDiGraph) -> None:
        self._graph = graph
        self.describer: Describer = describer(state for _, state in graph.nodes(data="state"))

    def choose(self, fold: str, variable: str | None) -> Folding:
        """The folding for `auto`, `none`, `state` or `actions`, or by a variable.

        ConformError (exit 2) for one that this specification does not have.
        """
        if variable is not None:
            return self._by_variable(variable)
        if fold == "none" or (fold == "auto" and len(self._graph) <= READABLE_NODES):
            nodes = self._graph.nodes
            return Folding("", lambda node: (node,), lambda key: self.describer.card(nodes[key[0]]["state"]))
        if fold == "state" and not self.describer.levels:
            raise ConformError(
                "These states have no `group` of the group protocol to fold by: use --fold actions, "
                f"or --fold-by with one of the variables {', '.join(self._variables())}."
            )
        if fold == "actions":
            return self._by_actions()
        return self._by_level(BY_STATE) if fold == "state" else self._readable()

    def _readable(self) -> Folding:
        """The first folding, from fine to coarse, whose picture can be read; else the one of least edges."""
        sizes: list[tuple[bool, int, int, Folding]] = []
        for folding in self._automatic():
            drawn = fold_graph(self._graph, folding).graph
            nodes, edges = len(drawn), drawn.number_of_edges()
            if 1 < nodes <= READABLE_NODES and edges <= READABLE_EDGES:
                return folding
            sizes.append((nodes == 1, edges, len(sizes), folding))
        return min(sizes, key=lambda size: size[:3])[3]

    def _automatic(self) -> Iterator[Folding]:
        if self.describer.levels:
            yield from map(self._by_level, self.describer.levels)
        else:
            yield self._by_actions()
            values = {name: self._values(name) for name in self._variables()}
            for name in sorted(values, key=lambda name: (-values[name], name)):
                if values[name] <= READABLE_NODES:
                    yield self._by_variable(name)

    def _by_level(self, level: str) -> Folding:
        nodes, describer = self._graph.nodes, self.describer
        return Folding(level, lambda node: describer.key(nodes[node]["state"], level), describer.folded_card)

    def _by_variable(self, name: str) -> Folding:
        if name not in self._variables():
            raise ConformError(
                f"There is no variable `{name}` to fold by; there are {', '.join(self._variables())}."
            )
        nodes = self._graph.nodes
        return Folding(
            f"the value of {name}",
            lambda node: (nodes[node]["state"][name],),
            lambda key: Card("", (f"{name} = {shorten(key[0])}",)),
        )

    def _by_actions(self) -> Folding:
        """A folding in which states with the same possible actions are one node."""

        def possible(node: int) -> Key:
            return tuple(sorted({action for *_, action in self._graph.out_edges(node, data="action")}))

        return Folding(
            "the actions that are possible",
            possible,
            lambda key: Card("", ("possible:", *map(str, key)) if key else ("nothing is possible",)),
        )

    def _values(self, name: str) -> int:
        values: set[Value] = {state[name] for _, state in self._graph.nodes(data="state")}
        return len(values)

    def _variables(self) -> Sequence[str]:
        state = next(iter(self._graph.nodes(data="state")))[1]
        return sorted(without_step(state))


@dataclass(frozen=True)
class Drawn:
    """The graph that is drawn.

    Nodes are numbers with `card`, `states` (the number of states in it), `initial` and `stays` (Counter of
    the kinds of steps that stay in it); edges have `steps` (Counter of kinds of steps to the number of edges
    of the state graph). `path` are the nodes that a trace visits, `folded_by` are words for the common part
    of a node's states ("" if every state is a node).
    """

    graph: nx.DiGraph
    folded_by: str
    path: tuple[int, ...]


def fold_graph(graph: nx.MultiDiGraph, folding: Folding, path: Iterable[int] = ()) -> Drawn:
    """Fold a state graph, and a path of its nodes with it."""
    drawn = nx.DiGraph()
    numbers: dict[Key, int] = {}
    node_of: dict[int, int] = {}
    initial = set(graph.graph["initial"])
    for node in graph:
        key = folding.key(node)
        if key not in numbers:
            numbers[key] = len(numbers)
            drawn.add_node(numbers[key], card=folding.card(key), states=0, initial=False, stays=Counter())
        number = node_of[node] = numbers[key]
        drawn.nodes[number]["states"] += 1
        drawn.nodes[number]["initial"] |= node in initial
    for source, target, attributes in graph.edges(data=True):
        ends = node_of[source], node_of[target]
        kind: StepKind = attributes["action"], attributes["branch"], attributes["member"]
        if ends[0] == ends[1]:
            drawn.nodes[ends[0]]["stays"][kind] += 1
        else:
            if not drawn.has_edge(*ends):
                drawn.add_edge(*ends, steps=Counter())
            drawn.edges[ends]["steps"][kind] += 1
    return Drawn(drawn, folding.by, tuple(node_of[node] for node in path))
