"""Traces by TLC: random, to goals, tours."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict

from harness.engines.base import EngineError, Failure, Limits, Model
from harness.errors import ConformError
from harness.generate import dump_graph, edge_action, reach_goals, simulate, step_graph, tour_traces
from harness.itf import Trace
from harness.spechash import spec_hash
from harness.stategraph import merge_by_hidden

LIMITS = Limits("512m", brief=True)


@pytest.fixture
def counter(specs: Path) -> Model:
    # Its configuration has an invariant that random behaviours would violate.
    return Model("Counter", specs / "Counter.tla", specs / "CounterFails.cfg")


def counts(trace: Trace) -> list[int]:
    values: list[Any] = [state["x"] for state in trace.states]
    return [value["p"] + value["q"] for value in values]


def test_random_behaviours_are_behaviours_and_the_same_for_a_seed(counter: Model, tmp_path: Path) -> None:
    log = tmp_path / "log"
    traces = simulate(counter, number=12, depth=6, seed=7, limits=LIMITS, log=log)
    assert len(traces) == 12
    for trace in traces:
        assert len(trace.states) == 7
        assert all(now == 0 or abs(now - was) == 1 for was, now in pairwise(counts(trace)))
    assert traces == simulate(counter, number=12, depth=6, seed=7, limits=LIMITS, log=log)
    assert traces != simulate(counter, number=12, depth=6, seed=8, limits=LIMITS, log=log)
    assert counter.config is not None
    assert traces[3].meta == {
        "description": "Generated: random simulation",
        "model": "Counter",
        "engine": "tlc",
        "version": "2.18",
        "spec_hash": spec_hash(counter.module, counter.config),
        "constants": {"Limit": 2},
        "seed": 7,
        "depth": 6,
        "number": 4,
    }


def test_goals_are_reached_by_shortest_behaviours(counter: Model, tmp_path: Path) -> None:
    goals = {
        "an increment": 'step.action = "Inc"',
        "all full": 'x["p"] = 2 /\\ x["q"] = 2',
        "a reset after a decrement": 'step.action = "Dec" /\\ step\'.action = "Reset"',
        "the same step again": "step' = step /\\ x' # x",
        "too far": 'x["p"] = 3',
    }
    reached = reach_goals(counter, goals, limits=LIMITS, log=tmp_path / "log")
    assert reached.unreached == ["too far"]
    results = {goal: trace for trace in reached.traces for goal in trace.meta["goals"]}
    assert list(results) == ["an increment", "the same step again", "a reset after a decrement", "all full"]
    assert {goal: len(trace.states) - 1 for goal, trace in results.items()} == {
        "an increment": 1,
        "the same step again": 2,
        "a reset after a decrement": 3,
        "all full": 4,
    }
    assert results["all full"].actions[-1] == "Inc"


def test_the_view_does_not_hide_a_goal(specs: Path, tmp_path: Path) -> None:
    # Under the view of Counter.cfg, `Dec` leads only to states that `Init` and `Inc` have reached before.
    model = Model("Counter", specs / "Counter.tla", specs / "Counter.cfg")
    reached = reach_goals(model, {"down": 'step.action = "Dec"'}, limits=LIMITS, log=tmp_path / "log")
    assert reached.unreached == []


def test_a_wrong_goal_is_named(counter: Model, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"The goal 'second' of Counter: TLC cannot parse") as error:
        reach_goals(counter, {"first": "TRUE", "second": "x[ = 1"}, limits=LIMITS, log=tmp_path / "log")
    assert error.value.failure is Failure.PARSE


def test_a_model_without_a_step_variable_has_no_goals(specs: Path, tmp_path: Path) -> None:
    with pytest.raises(ConformError, match=r"Walk\.tla has no variable `step`.*use --simulate or --edges"):
        reach_goals(
            Model("Walk", specs / "Walk.tla", None), {"a": "TRUE"}, limits=LIMITS, log=tmp_path / "log"
        )


def test_a_tour_takes_every_edge_without_view(counter: Model, tmp_path: Path) -> None:
    graph = dump_graph(counter, limits=LIMITS, log=tmp_path / "log")
    traces = list(tour_traces(counter, graph, max_length=15))
    steps = {
        (trace.states[index], trace.states[index + 1])
        for trace in traces
        for index in range(len(trace.states) - 1)
    }
    assert len(steps) == len({(one, other) for one, other in graph.edges()})
    for _, target, label in graph.edges(keys=True):
        step: Any = graph.nodes[target]["state"]["step"]
        assert step["action"] == label  # so no state carries the step of another edge
    assert traces[0].meta["edges"] == graph.number_of_edges()


def test_a_merged_graph_has_each_step_from_each_state_once(counter: Model, tmp_path: Path) -> None:
    dumped = dump_graph(counter, limits=LIMITS, log=tmp_path / "log")
    merged = merge_by_hidden(dumped, "step")
    assert len(merged) == 9 < len(dumped)
    wanted = {
        (dumped.nodes[start]["state"]["x"], dumped.nodes[end]["state"]) for start, end in dumped.edges()
    }
    traces = list(tour_traces(counter, merged, max_length=30))
    taken = {(was["x"], now) for trace in traces for was, now in pairwise(trace.states)}
    assert taken == wanted
    assert merged.number_of_edges() == len(wanted)


def test_the_graph_of_steps_is_the_merged_one(counter: Model, tmp_path: Path) -> None:
    def edges(graph: Any) -> set[Any]:
        return {
            (graph.nodes[start]["state"]["x"], attributes["state"], edge_action(graph, (start, end, key)))
            for start, end, key, attributes in graph.edges(keys=True, data=True)
        }

    merged = merge_by_hidden(dump_graph(counter, limits=LIMITS, log=tmp_path / "log"), "step")
    result = step_graph(counter, limits=LIMITS, log=tmp_path / "log")
    assert edges(result) == edges(merged)
    assert (len(result), result.number_of_edges()) == (len(merged), merged.number_of_edges())
    assert [result.nodes[node]["state"] for node in result.graph["initial"]] == [
        merged.nodes[node]["state"] for node in merged.graph["initial"]
    ]


def test_an_edge_is_called_what_its_step_says(specs: Path, tmp_path: Path) -> None:
    module = specs / "Bounded.tla"
    module.write_text(
        '---- MODULE Bounded ----\nEXTENDS Counter\nBoundedNext == Next /\\ x\'["p"] < 2\n====\n'
    )
    config = specs / "Bounded.cfg"
    config.write_text('CONSTANTS Limit = 2 Procs = {"p", "q"}\nINIT Init NEXT BoundedNext\n')
    graph = dump_graph(Model("Bounded", module, config), limits=LIMITS, log=tmp_path / "log")
    edges = list(graph.edges(keys=True))
    assert {edge_action(graph, edge) for edge in edges} == {"Inc", "Dec", "Reset"}
    assert all(graph.nodes[node]["state"]["x"]["p"] < 2 for node in graph)
    assert isinstance(graph.nodes[edges[0][0]]["state"], frozendict)
