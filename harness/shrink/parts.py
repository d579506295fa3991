"""Parts of a trace in one state graph: TLC does all of them in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import networkx as nx
from frozendict import frozendict

from harness.engines.base import Limits
from harness.engines.tlc import run_tlc
from harness.stategraph import read_graph
from harness.values import State

OWN: Final = ("part", "at")
"""The variables of a rendered module that the specification does not have: the number of the part, the number
of done steps."""


def explored(
    render: Callable[[Path], tuple[Path, Path]], library: Path, limits: Limits
) -> tuple[nx.MultiDiGraph, dict[int, int]]:
    """The graph of the module and configuration that `render` writes into a folder, over the modules in
    `library`, and the node at which each part begins, from 1. ConformError (exit 3) if TLC fails."""
    with tempfile.TemporaryDirectory(prefix="conform-shrink-") as name:
        folder = Path(name)
        module, config = render(folder)
        dump = folder / "graph.dot"
        options = ["-deadlock", "-workers", "1", "-dump", "dot", str(dump)]
        brief = replace(limits, brief=True)
        run_tlc(module, config, options, log=folder / "tlc.log", limits=brief, libraries=[library])
        graph = read_graph(dump)
    return graph, {graph.nodes[node]["state"]["part"]: node for node in graph.graph["initial"]}


def own(state: Any) -> State:
    """A state in the specification's form."""
    return frozendict({name: value for name, value in state.items() if name not in OWN})
