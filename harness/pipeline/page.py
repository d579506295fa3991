"""The judged state graph as a page to look at, with coverage painted on it (see `harness.graph.web`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import networkx as nx
from frozendict import frozendict
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.graph.web import web_page, web_states
from harness.pipeline.judging import FAIL, PASS
from harness.pipeline.results import left_out
from harness.pipeline.run import Run
from harness.stategraph import HIDDEN
from harness.tlaparse import Reader
from harness.words import counted

FILE: Final = "graph.html"
MOST: Final = 50_000
"""The most states of a graph that a browser can still show."""
_EDGE: Final = ("source", "after", "action", "branch", "member")


def write_page(run: Run, title: str, verdicts: DataFrame) -> str:
    """Write the page into the store; its place, or the reason why there is none."""
    count = run.read("states").count()
    if count > MOST:
        return f"no page: {count:,} states are more than the {MOST:,} that a browser can show"
    graph, tested, failed = _graph(run, verdicts)
    states, edges = web_states(graph, tested, failed)
    notes = ["Tested are the transitions that were judged.", *_left_out(verdicts)]
    run.store.write(FILE, web_page(title, states, edges, notes))
    return run.store.table(FILE)


def _left_out(verdicts: DataFrame) -> Iterator[str]:
    """Sentences about the transitions that need features that the target lacks."""
    for feature, steps in left_out(verdicts.where("trace = ''")).items():
        yield f"{counted(steps, 'transition')} left out: the target lacks {feature}."


Edge = tuple[str, str, tuple[str, ...]]


def _graph(run: Run, verdicts: DataFrame) -> tuple[nx.MultiDiGraph, set[Edge], set[Edge]]:
    """The states, an edge for each action, branch and member between two of them, and its status.

    The page shows each state, so all texts are read here: of MOST states at most.
    """
    graph = nx.MultiDiGraph(initial=[])
    reader, hidden = Reader(), dict[str, Any]()
    for row in run.read("states").orderBy("depth", "state").collect():
        state = reader.state(row["text"])
        hidden = hidden or {name: state[name] for name in HIDDEN if name in state}  # of an initial state
        graph.add_node(row["state"], state=frozendict({**hidden, **state}))
        if row["depth"] == 0:
            graph.graph["initial"].append(row["state"])
    known = verdicts.where("trace = ''").select("step", "verdict")
    steps = run.read("steps", "graph").where("operation IS NOT NULL").select("step", *_EDGE)
    judged = steps.join(known, "step").groupBy(*_EDGE).agg(F.collect_set("verdict").alias("verdicts"))
    tested, failed = set(), set()
    for row in judged.orderBy(*_EDGE).collect():
        names = {name: row[name] for name in _EDGE[2:]}
        edge = row["source"], row["after"], tuple(names.values())
        graph.add_edge(edge[0], edge[1], key=edge[2], **names)
        if FAIL in row["verdicts"]:
            failed.add(edge)
        elif set(row["verdicts"]) == {PASS}:
            tested.add(edge)
    return graph, tested, failed
