"""State graphs: TLC's `-dump dot,actionlabels` as networkx, tours that cover it, paths as traces.

Under a VIEW a dumped state carries the hidden variables of the edge that *first* reached it. Dump without the
view where that matters (`harness.generate` does).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import networkx as nx

from harness.errors import ConformError
from harness.itf import Trace
from harness.tlaparse import Reader, TlaSyntaxError

_EDGE = re.compile(r'(-?\d+) -> (-?\d+)(?: \[label="([^"\\]*(?:\\.[^"\\]*)*)")?')
_NODE = re.compile(r'(-?\d+) \[label="([^"\\]*(?:\\.[^"\\]*)*)"(,style = filled)?')
_LOOK_AHEAD = 1000
"""The number of edges to look at for a short way to an uncovered one before beginning again."""
_BACKSLASH = "\\\\"

Edge = tuple[int, int, str]
"""From, to, action."""
EdgeFilter = Callable[[Edge], bool]


def read_graph(path: Path) -> nx.MultiDiGraph:
    """Read a dump: nodes are TLC's fingerprints with `state`, edges have `action` (which is also their key).

    `graph.graph["initial"]` lists the initial nodes, in the dump's order. ConformError if the file is no
    dump.
    """
    graph = nx.MultiDiGraph(initial=[])
    reader = Reader()
    line = ""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                _read_line(graph, reader, line, f"{path}, line {number}")
    except OSError as error:
        raise ConformError(f"The state graph {path} cannot be read: {error.strerror}.") from None
    if not graph.graph["initial"]:
        raise ConformError(f"{path} is not a state graph of TLC: it has no initial state.")
    if line.strip() != "}" or any("state" not in attributes for _, attributes in graph.nodes(data=True)):
        raise ConformError(f"The state graph {path} is cut off: it does not end as TLC ends it.")
    return graph


def _read_line(graph: nx.MultiDiGraph, reader: Reader, line: str, place: str) -> None:
    if edge := _EDGE.match(line):
        action = unescape(edge[3] or "")
        graph.add_edge(int(edge[1]), int(edge[2]), key=action, action=action)
    elif node := _NODE.match(line):
        fingerprint = int(node[1])
        try:
            graph.add_node(fingerprint, state=reader.state(unescape(node[2])))
        except TlaSyntaxError as error:
            raise ConformError(f"{place}: {error}.") from None
        if node[3] and fingerprint not in graph.graph["initial"]:
            graph.graph["initial"].append(fingerprint)


def unescape(text: str) -> str:
    r"""Undo dot's escapes: \\ \" and \n (one backslash, two characters)."""
    if "\\" not in text:
        return text
    parts = text.split(_BACKSLASH)
    return "\\".join(part.replace("\\n", "\n").replace('\\"', '"') for part in parts)


def tours(
    graph: nx.MultiDiGraph, edge_filter: EdgeFilter | None = None, max_length: int = 100
) -> Iterator[list[Edge]]:
    """Paths from initial states that together cover every reachable edge which the filter accepts.

    The search is greedy: take an uncovered edge, else a short way to one, else begin again with the nearest.
    A path is at most `max_length` long, unless the way to its first uncovered edge is already longer.
    """
    return _Tour(graph, edge_filter or (lambda _edge: True), max_length).paths()


class _Tour:
    def __init__(self, graph: nx.MultiDiGraph, wanted: EdgeFilter, max_length: int) -> None:
        self.graph = graph
        self.max_length = max_length
        # The last edge of a shortest path to every reachable node, nearest nodes first.
        self.reached_by: dict[int, Edge | None] = {node: None for node in graph.graph["initial"]}
        for edge in _breadth_first(graph, graph.graph["initial"]):
            self.reached_by.setdefault(edge[1], edge)
        self.uncovered: dict[int, list[Edge]] = {}
        for node in self.reached_by:
            if edges := [edge for edge in _out_edges(graph, node) if wanted(edge)]:
                self.uncovered[node] = edges[::-1]
        self.surrounded: set[int] = set()  # nodes without an uncovered edge nearby

    def paths(self) -> Iterator[list[Edge]]:
        for start in self.reached_by:
            while start in self.uncovered:
                path = self._way_to(start)
                self._extend(path, start)
                yield path

    def _way_to(self, node: int) -> list[Edge]:
        path: list[Edge] = []
        while edge := self.reached_by[node]:
            path.append(edge)
            node = edge[0]
        return path[::-1]

    def _extend(self, path: list[Edge], node: int) -> None:
        """Go on from a node with an uncovered edge until the path is long enough or none is near."""
        while True:
            path.append(self._take(node))
            if len(path) >= self.max_length:
                return
            node = path[-1][1]
            if node not in self.uncovered:
                detour = self._detour(node)
                if not detour or len(path) + len(detour) >= self.max_length:
                    return
                path += detour
                node = detour[-1][1]

    def _take(self, node: int) -> Edge:
        edge = self.uncovered[node].pop()
        if not self.uncovered[node]:
            del self.uncovered[node]
        return edge

    def _detour(self, start: int) -> list[Edge]:
        """A shortest way to a node with uncovered edges, if one is near."""
        if start in self.surrounded:
            return []
        came_by: dict[int, Edge] = {}
        for edge in islice(_breadth_first(self.graph, [start]), _LOOK_AHEAD):
            if edge[1] != start and edge[1] not in came_by:
                came_by[edge[1]] = edge
                if edge[1] in self.uncovered:
                    return _walk_back(came_by, start, edge[1])
        self.surrounded.add(start)
        return []


def _walk_back(came_by: dict[int, Edge], start: int, node: int) -> list[Edge]:
    path: list[Edge] = []
    while node != start:
        path.append(came_by[node])
        node = came_by[node][0]
    return path[::-1]


def _out_edges(graph: nx.MultiDiGraph, node: int) -> list[Edge]:
    return [(node, target, key) for target, keys in graph.adj[node].items() for key in keys]


def _breadth_first(graph: nx.MultiDiGraph, start: Iterable[int]) -> Iterator[Edge]:
    """All edges that are reachable, nearest first."""
    seen = set(start)
    queue = deque(start)
    while queue:
        for edge in _out_edges(graph, queue.popleft()):
            yield edge
            if edge[1] not in seen:
                seen.add(edge[1])
                queue.append(edge[1])


def path_to_trace(graph: nx.MultiDiGraph, path: list[Edge], meta: dict[str, Any]) -> Trace:
    """The states along a path as a trace; the edges' labels are its actions."""
    if not path:
        raise ValueError("a path has at least one edge")
    edges = [graph.edges[edge] for edge in path]
    states = [graph.nodes[path[0][0]]["state"]]
    states += [
        edge.get("state", graph.nodes[to]["state"]) for edge, (_, to, _) in zip(edges, path, strict=True)
    ]
    return Trace(meta, tuple(states[0]), states, ("Init", *(edge["action"] for edge in edges)))


HIDDEN: Final = ("step", "admin", "clientStep", "classicStep", "converted", "call")
"""The variables of the group protocol that record how a state was reached, and so make no states."""


def merge_by_hidden(graph: nx.MultiDiGraph, *hidden: str) -> nx.MultiDiGraph:
    """The graph in which states that differ only in the variables `hidden` are one node.

    Without a VIEW a dump has a node for each step *into* a state, and all of these have the same edges out.
    Here an edge stands for one step from one state; its `state` is the one after it, `hidden` included.
    """
    merged = nx.MultiDiGraph(initial=[])
    node_of: dict[Any, int] = {}
    place: dict[int, int] = {}
    for node in (*graph.graph["initial"], *graph):
        state = graph.nodes[node]["state"]
        first = node_of.setdefault(frozenset((k, v) for k, v in state.items() if k not in hidden), node)
        place[node] = first
        if first not in merged:
            merged.add_node(first, **graph.nodes[node])
    merged.graph["initial"] = list(dict.fromkeys(place[node] for node in graph.graph["initial"]))
    for start, end, attributes in graph.edges(data=True):
        merged.add_edge(place[start], place[end], key=str(end), **attributes, state=graph.nodes[end]["state"])
    return merged
