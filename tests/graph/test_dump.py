"""State graphs for drawing, by TLC: no state is lost or made, and every edge is named exactly."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from frozendict import frozendict
from graph_states import foo, group_state, member, step

from harness.engines.base import Limits, Model
from harness.errors import USAGE, ConformError
from harness.generate import dump_graph
from harness.graph.dump import merge_steps, state_graph, trace_graph, trace_path, without_step
from harness.itf import Trace, read_trace
from harness.stategraph import HIDDEN
from harness.values import State

ROOT = Path(__file__).parent.parent.parent
LIMITS = Limits("1g")


def spec(name: str, config: Path) -> Model:
    return Model(name, ROOT / "spec" / f"{name}.tla", config)


def edges(graph: nx.MultiDiGraph) -> set[tuple[State, str, str, str, State]]:
    states = {node: without_step(state) for node, state in graph.nodes(data="state")}
    return {
        (states[source], names["action"], names["branch"], names["member"], states[target])
        for source, target, names in graph.edges(data=True)
    }


def test_merging_steps_loses_nothing(tmp_path: Path) -> None:
    """The merged graph is that of a dump in which every step is a state of its own, which is the plain
    way."""
    config = tmp_path / "MCSmall.cfg"
    text = (ROOT / "spec" / "MCSmall.cfg").read_text()
    config.write_text(text.replace("Budget = 2", "Budget = 0"))
    model = spec("MCSmall", config)
    plain = dump_graph(model, limits=LIMITS, log=tmp_path / "plain.log")
    graph = state_graph(model, limits=LIMITS, log=tmp_path / "merged.log")
    assert len({without_step(state) for _, state in plain.nodes(data="state")}) == len(graph) < len(plain)
    assert edges(graph) == edges(merge_steps(plain))
    assert len(graph.graph["initial"]) == 2


def test_the_case_study_basic() -> None:
    trace = read_trace(ROOT / "traces" / "golden" / "basic.itf.json")
    graph, path = trace_graph(trace)
    actions = Counter((action, branch) for *_, action, branch, _, _ in edges(graph))
    assert actions == {
        ("Join", "advance"): 3,
        ("Heartbeat", "revoke"): 2,
        ("Heartbeat", "acknowledge"): 2,
        ("Heartbeat", "assign"): 2,
        ("Heartbeat", "advance"): 1,
        ("Heartbeat", "stable"): 2,
    }
    assert len(path) == 13
    assert trace_path(graph, trace, "The trace") == path


def test_another_specification_keeps_its_view_and_the_engines_labels(tmp_path: Path) -> None:
    """The view hides the variable `step`: its value in a dumped state belongs to another edge."""
    folder = ROOT / "tests" / "data"
    model = Model("Counter", folder / "Counter.tla", folder / "Counter.cfg")
    graph = state_graph(model, limits=LIMITS, log=tmp_path / "log")
    assert len(graph) == 9
    assert {action for *_, action in graph.edges(data="action")} == {"Inc", "Dec", "Reset"}
    start = graph.graph["initial"][0]
    assert all(
        action == "Inc" for *_, target, action in graph.out_edges(start, data="action") if target != start
    )


def states() -> list[State]:
    stable = {"m1": member(1, foo(0, 1))}
    both = {0: "m1", 1: "m1"}
    return [
        group_state(0, {}, {}),
        group_state(1, stable, both, step("Join", "m1", "advance")),
        group_state(1, stable, both, step("Heartbeat", "m1", "stable")),
        group_state(0, {}, {}, step("DeleteGroup")),
    ]


def trace_of(values: list[State]) -> Trace:
    return Trace({}, tuple(values[0]), values)


def test_a_trace_alone_names_its_steps_and_meets_states_again() -> None:
    graph, path = trace_graph(trace_of(states()))
    assert (len(graph), path) == (2, [0, 1, 1, 0])
    assert {(names["action"], names["member"]) for *_, names in graph.edges(data=True)} == {
        ("Join", "m1"),
        ("Heartbeat", "m1"),
        ("DeleteGroup", ""),
    }


def test_a_trace_of_another_specification_has_the_names_that_the_engine_gave() -> None:
    values: list[State] = [frozendict(at=0), frozendict(at=1)]
    graph, _ = trace_graph(Trace({}, ("at",), values, ("Init", "Up")))
    assert list(graph.edges(data="action")) == [(0, 1, "Up")]


def test_a_trace_with_more_variables_than_the_graph_has() -> None:
    graph, _ = trace_graph(trace_of(states()))
    longer = [state.set("at", index) for index, state in enumerate(states())]
    assert trace_path(graph, trace_of(longer), "The trace") == [0, 1, 1, 0]


def test_a_trace_may_stand_still() -> None:
    graph, _ = trace_graph(trace_of(states()[:2]))
    still = [states()[0], states()[3], states()[1]]
    assert trace_path(graph, trace_of(still), "The trace") == [0, 0, 1]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([frozendict(at=0)], 'The trace has no variable "group", so it is not a trace of this model.'),
        ([group_state(7, {}, {})], "The trace: state 0 is not in the state graph"),
        ([states()[1], states()[0]], "The trace: the step into state 1 is no step"),
    ],
)
def test_a_trace_that_is_no_path_of_the_graph(values: list[State], sentence: str) -> None:
    graph, _ = trace_graph(trace_of(states()[:2]))
    with pytest.raises(ConformError) as caught:
        trace_path(graph, trace_of(values), "The trace")
    assert caught.value.message.startswith(sentence)
    assert caught.value.exit_code == USAGE


@pytest.mark.parametrize("module", sorted((ROOT / "spec").glob("Open*.tla")), ids=lambda path: path.stem)
def test_fields_outside_the_state_are_hidden(module: Path) -> None:
    """Else the same state appears once for each way into it: 376,104 of MCConnectTour's 6,747."""
    text = module.read_text(encoding="utf-8")
    named = r"^\w*[vV]{} == <<(.*?)>>"
    every, viewed = (re.search(named.format(name), text, re.MULTILINE) for name in ("ars", "iew"))
    if every and viewed:
        own = set(re.findall(r"\w+", every[1])) - set(re.findall(r"\w+", viewed[1]))
        assert {name for name in own if not name.lower().endswith("vars")} <= {*HIDDEN}
