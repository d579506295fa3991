"""State graphs: TLC's dumps, tours that cover them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from frozendict import frozendict
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConformError
from harness.stategraph import Edge, path_to_trace, read_graph, tours

HEAD = 'strict digraph DiskGraph {\nnodesep=0.35;\nsubgraph cluster_graph {\ncolor="white";\n'
DUMP = HEAD + (
    '-1 [label="/\\\\ at = 0\\n/\\\\ by = \\"a\\\\\\"b\\\\\\\\n\\"",style = filled]\n'
    '-1 -> 22 [label="Go",color="black",fontcolor="black"];\n'
    '22 [label="/\\\\ at = 1\\n/\\\\ by = \\"\\""];\n'
    '-1 -> 22 [label="Jump",color="black",fontcolor="black"];\n'
    '-1 -> 22 [label="Go",color="black",fontcolor="black"];\n'
    '22 -> 22 [label="Stay",color="black",fontcolor="black"];\n'
    "{rank = same; -1;22;}\n}\n}"
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "graph.dot"
    path.write_text(text)
    return path


def test_a_dump_with_escapes_and_repeated_edges(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path, DUMP))
    assert graph.nodes[-1]["state"] == frozendict(at=0, by='a"b\\n')
    assert graph.nodes[22]["state"] == frozendict(at=1, by="")
    assert sorted(graph.edges(data="action")) == [(-1, 22, "Go"), (-1, 22, "Jump"), (22, 22, "Stay")]
    assert graph.graph["initial"] == [-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("digraph {}", "is not a state graph of TLC: it has no initial state"),
        (DUMP.replace("at = 1", "at = <<1"), "line 7: in the value of at"),
        (DUMP[: DUMP.index("22 -> 22")], "is cut off: it does not end"),
        (DUMP.replace("22 [label", "23 [label"), "is cut off"),
    ],
)
def test_invalid_dumps(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConformError, match=message):
        read_graph(write(tmp_path, text))


def test_a_missing_dump(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="cannot be read: No such file"):
        read_graph(tmp_path / "none.dot")


def graph_of(edges: set[Edge], initial: list[int]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph(initial=initial)
    graph.add_nodes_from(initial)
    for source, target, action in sorted(edges):
        graph.add_edge(source, target, key=action, action=action)
    return graph


nodes = st.integers(0, 7)
graphs = st.builds(
    graph_of,
    st.sets(st.tuples(nodes, nodes, st.sampled_from("ab")), max_size=30),
    st.lists(nodes, min_size=1, max_size=2, unique=True),
)


def reachable(graph: nx.MultiDiGraph, wanted: Callable[[Edge], bool]) -> set[Edge]:
    near = {node for start in graph.graph["initial"] for node in nx.descendants(graph, start) | {start}}
    return {edge for edge in graph.edges(keys=True) if edge[0] in near and wanted(edge)}


@given(graphs, st.integers(1, 12), st.sampled_from(["ab", "a"]))
def test_tours_cover_every_wanted_edge_by_paths_of_the_graph(
    graph: nx.MultiDiGraph, max_length: int, actions: str
) -> None:
    def wanted(edge: Edge) -> bool:
        return edge[2] in actions

    paths = list(tours(graph, wanted, max_length))
    for path in paths:
        assert path[0][0] in graph.graph["initial"]
        assert all(graph.has_edge(*edge) for edge in path)
        assert all(one[1] == other[0] for one, other in pairwise(path))
        assert wanted(path[-1])
        near = nx.multi_source_dijkstra_path_length(graph, graph.graph["initial"])
        assert len(path) <= max(max_length, max(near[edge[0]] for edge in path) + 1)
    assert {edge for path in paths for edge in path if wanted(edge)} == reachable(graph, wanted)


def test_a_tour_of_a_cycle_is_one_path() -> None:
    graph = graph_of({(0, 1, "a"), (1, 2, "a"), (2, 0, "a"), (1, 0, "b")}, [0])
    assert len(list(tours(graph, max_length=10))) == 1


def test_a_path_as_a_trace(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path, DUMP))
    trace = path_to_trace(graph, [(-1, 22, "Jump"), (22, 22, "Stay")], {"model": "m"})
    assert [state["at"] for state in trace.states] == [0, 1, 1]
    assert trace.actions == ("Init", "Jump", "Stay")
    assert trace.variables == ("at", "by")
    assert trace.meta == {"model": "m"}
