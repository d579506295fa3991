"""The state graph of a model for drawing: as few states as possible, every edge with its exact action.

In the group protocol's models the variable `step` must not make states (it records how a state was reached),
but under a view without it the edges lose its content, and TLC's own labels are `Next` wherever Next is not a
plain disjunction. So every step may also end in a leaf, as in `harness.transitions`, but the leaf keeps only
the step's action, branch and member: an edge into a leaf is an edge of the graph.
"""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Final

import networkx as nx
from frozendict import frozendict

from harness.engines.base import Limits, Model, Progress, silent
from harness.engines.tlc import run_tlc, variant
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, Config, read_config
from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.registry import is_of_protocol
from harness.modules import declared_variables
from harness.stategraph import HIDDEN, read_graph
from harness.transitions import behaviour
from harness.values import State, Value

STEP: Final = "step"
INITIAL: Final = "Init"
_MODULE: Final = "ConformGraph"
_LEAF: Final = "conformLeaf"


def state_graph(model: Model, *, limits: Limits, log: Path, progress: Progress = silent) -> nx.MultiDiGraph:
    """Dump a model's state graph and merge the states that differ only in `step`.

    Nodes are numbers from 0 with `state` (for the group protocol with one of the steps into it), edges have
    `action`, `branch` and `member` ("" if there is none). `graph.graph["initial"]` lists the initial nodes.
    The configuration's invariants, properties and symmetry are left out.
    """
    config = read_config(model.configuration)
    plain = config.without((*CHECKS, *UNKNOWN_TO_TLC, "SYMMETRY"))
    variables = declared_variables(model.module)
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        dot = Path(folder) / "graph.dot"
        module, libraries = model.module, model.libraries
        if is_of_protocol(variables):
            module, libraries = Path(folder) / f"{_MODULE}.tla", (model.module.parent, *model.libraries)
            module.write_text(_with_leaves(model, variables, config), encoding="utf-8")
            plain = plain.without(("VIEW", "SPECIFICATION", "INIT", "NEXT"))
            plain = plain.having("VIEW", f"{_MODULE}View").having("SPECIFICATION", f"{_MODULE}Spec")
        options = ["-deadlock", "-workers", "1", "-seed", "0", "-dump", "dot,actionlabels", str(dot)]
        with variant(plain) as path:
            own = limits.of(model)
            run_tlc(module, path, options, log=log, limits=own, progress=progress, libraries=libraries)
        progress("reading the state graph")
        return merge_steps(read_graph(dot))


def _with_leaves(model: Model, variables: list[str], config: Config) -> str:
    """The module whose states are those of the model, and the leaves."""
    init, following = behaviour(model, config)
    others = ", ".join(name for name in variables if name not in HIDDEN)
    view = " ".join(config.names("VIEW")) or f"<<{others}>>"
    kept = ", ".join(f"{STEP}.{name}" for name in ("action", "branch", "member"))
    return f"""---- MODULE {_MODULE} ----
EXTENDS {model.module.stem}
VARIABLE {_LEAF}
{_MODULE}Init == {init} /\\ {_LEAF} = FALSE
{_MODULE}Next == ~{_LEAF} /\\ {following} /\\ {_LEAF}' \\in BOOLEAN
{_MODULE}Spec == {_MODULE}Init /\\ [][{_MODULE}Next]_<<{", ".join(variables)}, {_LEAF}>>
{_MODULE}View == <<{view}, IF {_LEAF} THEN <<{kept}>> ELSE <<>>>>
====
"""


def merge_steps(dumped: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """Merge the states that differ only in `step`, and put the content of `step` on the edges (see
    `state_graph`)."""
    graph = nx.MultiDiGraph(initial=[])
    nodes: dict[State, int] = {}
    merged: dict[int, int] = {}
    with_leaves = any(_LEAF in state for _, state in dumped.nodes(data="state"))
    for node, state in dumped.nodes(data="state"):
        merged[node] = nodes.setdefault(without_step(state), len(nodes))
        graph.add_node(merged[node], state=_without_leaf(state))
    for source, target, label in dumped.edges(keys=True):
        after = dumped.nodes[target]["state"]
        if not with_leaves or after[_LEAF]:
            _add_edge(graph, merged[source], merged[target], label, after)
    for node in dumped.graph["initial"]:
        if merged[node] not in graph.graph["initial"]:
            graph.graph["initial"].append(merged[node])
    return graph


def trace_graph(trace: Trace) -> tuple[nx.MultiDiGraph, list[int]]:
    """A graph of the same kind of a trace's states alone, and the nodes that the trace visits, in order."""
    graph = nx.MultiDiGraph(initial=[0])
    nodes: dict[State, int] = {}
    path: list[int] = []
    for state in trace.states:
        path.append(nodes.setdefault(without_step(state), len(nodes)))
        graph.add_node(path[-1], state=state)
    labels = trace.actions or [_step(state).get("action", "") for state in trace.states]
    for index in range(1, len(path)):
        _add_edge(graph, path[index - 1], path[index], str(labels[index]), trace.states[index])
    return graph, path


def trace_path(graph: nx.MultiDiGraph, trace: Trace, name: str) -> list[int]:
    """The nodes of a state graph that a trace visits; it may have variables that the graph does not have.

    ConformError (exit 2) if the trace is not a path of the graph; `name` begins the sentence.
    """
    nodes = {without_step(state): node for node, state in graph.nodes(data="state")}
    names = next(iter(nodes))
    if missing := sorted(set(names) - set(trace.variables)):
        raise ConformError(f'{name} has no variable "{missing[0]}", so it is not a trace of this model.')
    path: list[int] = []
    for index, state in enumerate(trace.states):
        node = nodes.get(frozendict({variable: state[variable] for variable in names}))
        if node is None:
            raise ConformError(
                f"{name}: state {index} is not in the state graph of this model with these bounds; "
                "draw the trace alone, or with the model that it is of."
            )
        if path and node != path[-1] and not graph.has_edge(path[-1], node):
            raise ConformError(f"{name}: the step into state {index} is no step of this model.")
        path.append(node)
    return path


def path_edges(graph: nx.MultiDiGraph, trace: Trace, path: list[int]) -> set[tuple[int, int, Hashable]]:
    """The edges of a state graph, as networkx names them, that a trace takes along its path.

    The path is that of `trace_path`. Where the trace names a step differently, these are all edges between
    its two nodes.
    """
    steps, visited = trace_graph(trace)
    node_of = dict(zip(visited, path, strict=True))
    taken: set[tuple[int, int, Hashable]] = set()
    for before, after, key in steps.edges(keys=True):
        ends = node_of[before], node_of[after]
        keys = graph.get_edge_data(*ends, default={})
        taken |= {(*ends, one) for one in ([key] if key in keys else keys)}
    return taken


def _add_edge(graph: nx.MultiDiGraph, source: int, target: int, label: str, after: State) -> None:
    """Add the edge into a state: named by the group protocol's `step`, else by the label of the engine."""
    names = {"action": label, "branch": "", "member": ""}
    step = _step(after)
    if is_of_protocol(after) and step.get("action", INITIAL) != INITIAL:
        names = {name: str(step.get(name, "")) for name in names}
    graph.add_edge(source, target, key=tuple(names.values()), **names)


def without_step(state: State) -> State:
    """A state of the group protocol without the step into it; any other state unchanged."""
    if not is_of_protocol(state):
        return state
    return frozendict({name: value for name, value in state.items() if name not in (*HIDDEN, _LEAF)})


def _without_leaf(state: State) -> State:
    return state.delete(_LEAF) if _LEAF in state else state


def _step(state: State) -> Mapping[Any, Value]:
    """The variable `step`, if there is one and its value is a record."""
    step = state.get(STEP)
    return step if isinstance(step, frozendict) else {}
