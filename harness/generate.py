"""Behaviours of a model, by TLC: random ones, the shortest that reach a goal, tours of the state graph.

Views and symmetries are left out of the configuration here: they would give states with the step of another
edge, or paths that are no behaviours. Invariants and properties are left out, too: a behaviour is valid
whether or not they hold.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import networkx as nx
from frozendict import frozendict

from harness.engines import tlc_output
from harness.engines.base import EngineError, Failure, Limits, Model, Progress, silent
from harness.engines.tlc import VERSION, run_tlc, variant
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, Config, read_config, trace_origin
from harness.errors import ConformError
from harness.files import read_text
from harness.itf import Trace
from harness.modules import declared_variables
from harness.spechash import spec_hash
from harness.stategraph import HIDDEN, Edge, EdgeFilter, path_to_trace, read_graph, tours
from harness.tlaparse import Reader, TlaSyntaxError, parse_value
from harness.transitions import ADDED, LEAF, dump
from harness.values import State

STEP_VARIABLE: Final = "step"
_BRIEF: Final = 5_000
"""The number of random steps that TLC takes in a few seconds."""
_REGISTER: Final = 999
_LINES_BEFORE_GOALS: Final = 3
_PRINTED: Final = "conform goals"
_LEFT_OUT: Final = (*UNKNOWN_TO_TLC, *CHECKS, "VIEW", "SYMMETRY")
_PRIME = re.compile(r"[\w)\]]'")
_STEP_BEFORE = re.compile(rf"\b(?:{'|'.join(HIDDEN)})\b(?!')")


def _config(model: Model) -> Config:
    return read_config(model.configuration).without(_LEFT_OUT)


def _meta(model: Model, how: str, **more: Any) -> dict[str, Any]:
    """The origin of a trace, and the constants of its model that a replay may need."""
    return {
        "description": f"Generated: {how}",
        "model": model.name,
        "engine": "tlc",
        "version": VERSION,
        "spec_hash": spec_hash(model.module, model.configuration),
        **trace_origin(_config(model)),
        **more,
    }


def simulate(
    model: Model,
    *,
    number: int,
    depth: int,
    seed: int,
    limits: Limits,
    log: Path,
    progress: Progress = silent,
) -> list[Trace]:
    """`number` random behaviours of at most `depth` steps: the same for the same seed."""
    with tempfile.TemporaryDirectory(prefix="conform-") as folder, variant(_config(model)) as config:
        options = ["-simulate", f"num={number},file={folder}/b", "-depth", str(depth + 1), "-seed", str(seed)]
        run_tlc(
            model.module,
            config,
            ["-deadlock", "-workers", "1", *options],
            log=log,
            limits=replace(limits, brief=number * depth <= _BRIEF),
            progress=progress,
            libraries=model.libraries,
        )
        files = sorted(Path(folder).iterdir(), key=lambda path: int(path.name.rpartition("_")[2]))
        reader = Reader()
        behaviours = [_behaviour(path, reader, model.name) for path in files]
    meta = _meta(model, "random simulation", seed=seed, depth=depth)
    return [
        Trace({**meta, "number": index}, tuple(states[0]), states)
        for index, states in enumerate(behaviours, start=1)
    ]


def _behaviour(path: Path, reader: Reader, name: str) -> list[Any]:
    try:
        states = tlc_output.read_behaviour(read_text(path, "The simulated behaviour"), reader)
    except TlaSyntaxError as error:
        raise EngineError(Failure.CRASH, f"A behaviour of {name} cannot be read: {error}.") from None
    if not states:
        raise EngineError(Failure.CRASH, f"TLC wrote an empty behaviour of {name}.")
    return states


@dataclass(frozen=True)
class Reached:
    """The shortest behaviours that reach goals (`meta["goals"]`: perhaps several), and the goals that none
    reaches."""

    traces: list[Trace]
    unreached: list[str]


def goal_variables(model: Model) -> list[str]:
    """The model's variables. ConformError if none of them names the last step: then it has no goals."""
    variables = declared_variables(model.module)
    if STEP_VARIABLE not in variables:
        raise ConformError(
            f"{model.module.name} has no variable `{STEP_VARIABLE}` that names the last step, "
            "so goals are not available for it; use --simulate or --edges."
        )
    return variables


def reach_goals(
    model: Model, goals: Mapping[str, str], *, limits: Limits, log: Path, progress: Progress = silent
) -> Reached:
    """The shortest behaviour whose last step satisfies each goal: name -> TLA+ expression.

    An expression with primes is about a step, an expression without primes about the state after it. One
    breadth-first run of one worker looks for all goals: a property that is false exactly at the first step
    that reaches any, with `-continue`. TLC judges such a property on every step, also into a known state, so
    that the model's VIEW may stay, unless a goal reads the step before the last, which a view hides.
    """
    variables = goal_variables(model)
    config = _config(model)
    if not any(_reads_step_before(goal) for goal in goals.values()):
        views = read_config(model.configuration).names("VIEW")
        config = config.having("VIEW", views[0]) if views else config
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        module = Path(folder) / "ConformGoals.tla"
        module.write_text(_goals_module(model.module.stem, variables, list(goals.values())), encoding="utf-8")
        with variant(config.having("PROPERTY", "ConformGoals")) as path:
            try:
                ended = run_tlc(
                    module,
                    path,
                    ["-deadlock", "-continue", "-workers", "1", "-seed", "0"],
                    log=log,
                    limits=limits,
                    progress=progress,
                    libraries=[model.module.parent, *model.libraries],
                )
            except EngineError as error:
                raise EngineError(
                    error.failure, f"{_wrong_goal(goals, error)} of {model.name}: {error.message}"
                ) from None
    names = list(goals)
    meta = _meta(model, "shortest way to a goal")
    traces = []
    reached: set[str] = set()
    for printed, report in tlc_output.counterexamples(ended.lines):
        here = [names[number - 1] for number in _reached_here(printed)]
        reached |= set(here)
        traces.append(
            Trace({**meta, "goals": here}, tuple(report.states[0]), report.states, tuple(report.actions))
        )
    return Reached(traces, [name for name in names if name not in reached])


def _reads_step_before(goal: str) -> bool:
    """Tell if a goal about a step reads, without a prime, a variable that records how a state was reached."""
    return bool(_PRIME.search(goal) and _STEP_BEFORE.search(goal))


def _wrong_goal(goals: Mapping[str, str], error: EngineError) -> str:
    """Name the goal in whose line of the module the first error is."""
    line = re.search(r"line (\d+)", error.message)
    number = int(line[1]) - _LINES_BEFORE_GOALS if line and error.failure is Failure.PARSE else 0
    return f"The goal {list(goals)[number - 1]!r}" if 1 <= number <= len(goals) else "The goals"


def _reached_here(printed: str) -> list[int]:
    start = printed.rfind(f'<<"{_PRINTED}"')
    value = parse_value(printed[start:])
    assert isinstance(value, tuple) and isinstance(value[1], frozenset)
    return sorted(number for number in value[1] if isinstance(number, int))


def _goals_module(extended: str, variables: list[str], predicates: list[str]) -> str:
    """A module with the property that is false at each step that reaches a goal for the first time."""
    numbers = range(1, len(predicates) + 1)
    goals = [
        f"ConformGoal{number} == {predicate if _PRIME.search(predicate) else f'({predicate})' + chr(39)}"
        for number, predicate in zip(numbers, predicates, strict=True)
    ]
    # A goal that was reached is not evaluated again: that would be most of the work.
    hit = " \\cup ".join(
        f"(IF {number} \\in found THEN {{}} ELSE IF ConformGoal{number} THEN {{{number}}} ELSE {{}})"
        for number in numbers
    )
    seen = f"TLCGet({_REGISTER})"
    return "\n".join(
        [
            "---- MODULE ConformGoals ----",
            f"EXTENDS {extended}, TLC",
            f"ASSUME TLCSet({_REGISTER}, {{}})",
            *goals,
            f"ConformHit(found) == {hit}",
            f"ConformGoals == [][LET new == ConformHit({seen}) IN",
            f'  new = {{}} \\/ ~(/\\ PrintT(<<"{_PRINTED}", new>>)',
            f"    /\\ TLCSet({_REGISTER}, {seen} \\cup new)",
            f'    /\\ ({seen} = 1..{len(predicates)} => TLCSet("exit", TRUE)))]_<<{", ".join(variables)}>>',
            "====",
            "",
        ]
    )


def dump_graph(model: Model, *, limits: Limits, log: Path, progress: Progress = silent) -> nx.MultiDiGraph:
    """The whole state graph of a model (see `harness.stategraph.read_graph`)."""
    with tempfile.TemporaryDirectory(prefix="conform-") as folder, variant(_config(model)) as config:
        dot = Path(folder) / "graph.dot"
        options = ["-deadlock", "-workers", "1", "-seed", "0", "-dump", "dot,actionlabels", str(dot)]
        run_tlc(
            model.module,
            config,
            options,
            log=log,
            limits=limits,
            progress=progress,
            libraries=model.libraries,
        )
        progress("reading the state graph")
        return read_graph(dot)


def step_graph(model: Model, *, limits: Limits, log: Path, progress: Progress = silent) -> nx.MultiDiGraph:
    """The state graph of a model with a variable `step`, where an edge is one step from one state:
    `dump_graph`, with states merged that differ only in how they were reached
    (`harness.stategraph.merge_by_hidden`).

    TLC takes the steps of each such state once (`harness.transitions`), not once for every step into it: that
    is most of the work. ConformError for a model whose initial predicate and next-state relation have no
    name.
    """
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        dot = Path(folder) / "graph.dot"
        dump(model, dot, limits=limits, log=log, progress=progress)
        progress("reading the state graph")
        dumped = read_graph(dot)
    graph = nx.MultiDiGraph(initial=[])
    node_of: dict[Any, int] = {}
    for node in (*dumped.graph["initial"], *dumped):
        state = dumped.nodes[node]["state"]
        if not state[LEAF]:
            node_of[_without(state, *HIDDEN, *ADDED)] = node
            graph.add_node(node, state=_without(state, *ADDED))
    graph.graph["initial"] = dumped.graph["initial"]
    for start, end in dumped.edges():
        state = dumped.nodes[end]["state"]
        if state[LEAF]:
            after = _without(state, *ADDED)
            target = node_of.get(_without(after, *HIDDEN))
            if target is not None:  # a constraint may exclude a state that is a leaf
                graph.add_edge(start, target, key=str(end), action=_action(after), state=after)
    return graph


def _action(state: State) -> str:
    """The action that a state's step names, "" if the step is no record with an action."""
    step = state[STEP_VARIABLE]
    return str(step.get("action", "")) if isinstance(step, frozendict) else ""


def _without(state: State, *names: str) -> State:
    return frozendict({name: value for name, value in state.items() if name not in names})


def edge_action(graph: nx.MultiDiGraph, edge: Edge) -> str:
    """The action of an edge: from the step variable, else the label (which may be a bound's name)."""
    attributes = graph.edges[edge]
    step = attributes.get("state", graph.nodes[edge[1]]["state"]).get(STEP_VARIABLE)
    named = isinstance(step, frozendict) and "action" in step
    return str(step["action"]) if named else str(attributes["action"])


def tour_traces(
    model: Model, graph: nx.MultiDiGraph, *, max_length: int, edge_filter: EdgeFilter | None = None
) -> Iterator[Trace]:
    """Behaviours that together take every edge of the state graph that the filter accepts.

    With a step variable an edge is one step from one state, however the state was reached.
    """
    meta = _meta(model, "transition tour", states=len(graph), edges=graph.number_of_edges())
    return (path_to_trace(graph, path, meta) for path in tours(graph, edge_filter, max_length))
