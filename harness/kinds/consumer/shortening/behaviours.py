"""Behaviours of the specification for parts of a trace: TLC does all of them in one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import networkx as nx

from harness.engines.base import Limits
from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer.scenario.from_trace import steps_of
from harness.kinds.consumer.scenario.write import done_line
from harness.kinds.consumer.shortening.kept import Kept, kept_steps, simpler
from harness.kinds.consumer.shortening.render import render
from harness.kinds.consumer.state import StateReader
from harness.shrink.parts import explored, own
from harness.values import State

CONSTANTS: Final = ("Dialect", "MaxGroupSize")
"""The constants of a model that a replay must know."""


def behaviours(
    trace: Trace, parts: Sequence[Sequence[Kept]], spec: Path, limits: Limits
) -> list[list[State]]:
    """The states of each part's behaviour, the first one included: fewer than steps + 1 where a step is not
    possible. ConformError: exit 2 without a specification, 3 if TLC fails."""
    if not (spec / "Shortened.tla").is_file():
        raise ConformError(
            f"There is no {spec / 'Shortened.tla'}: run in the repository's folder, or name "
            "spec/manifest.json with --manifest."
        )
    graph, starts = explored(lambda folder: render(trace, parts, folder), spec, limits)
    return [
        [own(state) for state in _path(graph, starts[number], steps)]
        for number, steps in enumerate(parts, start=1)
    ]


def _path(graph: nx.MultiDiGraph, node: int, steps: Sequence[Kept]) -> Iterator[Any]:
    """The steps of a part; where a target may lag, the step that lags as in the trace comes first."""
    yield graph.nodes[node]["state"]
    for step in steps:
        following = sorted(set(graph.successors(node)))
        if not following:
            return
        node = min(following, key=lambda one: _lags(graph.nodes[one]["state"]) != step.lags)
        yield graph.nodes[node]["state"]


def _lags(state: Any) -> bool:
    return bool(state["group"]["epoch"] > state["group"]["assignmentEpoch"])


def trace_of(states: Sequence[State], trace: Trace, description: str) -> Trace:
    """The behaviour as a trace, with the facts about the model of `trace`."""
    constants = {name: value for name, value in trace.meta.get("constants", {}).items() if name in CONSTANTS}
    meta = {"description": description, **({"constants": constants} if constants else {})}
    return Trace(meta, tuple(states[0]), list(states))


class ConsumerShortening:
    """Does steps of a consumer group's trace again, as spec/Shortened.tla understands them."""

    module = "Shortened.tla"

    def __init__(self, trace: Trace, name: str, spec: Path, limits: Limits) -> None:
        self.steps = kept_steps(trace, name)
        self._trace, self._spec, self._limits = trace, spec, limits

    def behaviours(self, parts: Sequence[Sequence[Kept]]) -> list[list[State]]:
        """As `behaviours`."""
        return behaviours(self._trace, parts, self._spec, self._limits)

    def trace_of(self, states: Sequence[State], description: str) -> Trace:
        """As `trace_of`."""
        return trace_of(states, self._trace, description)

    def simpler(self, step: Kept) -> Iterator[Kept]:
        """As `simpler`."""
        return simpler(step)

    def words(self, step: Kept) -> str:
        """The step's action, and its member."""
        return f"{step.does} of {step.member or 'nobody'}"


def done_lines(trace: Trace) -> list[str]:
    """The steps of a trace in the words of a scenario."""
    return [done_line(step) for step in steps_of(StateReader().read(trace, "The shortest trace"))]
