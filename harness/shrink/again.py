"""Parts of a trace as behaviours of its model, for any kind of group.

spec/Shortened.tla knows requests of consumer groups and their meanings in another state. Here the kept steps
are done again in the same order by the model's own next-state relation: each has its inputs of before, except
for the epoch or generation of a request, and is a step within the model's bounds. The result
is the possible behaviour that is most similar to the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import jinja2
import networkx as nx
from frozendict import frozendict

from harness.engines.base import Limits, Model
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, read_config
from harness.itf import Trace
from harness.kinds.literals import tla_value
from harness.manifest import read_manifest
from harness.shrink.parts import explored, own
from harness.tla_templates import tla_templates
from harness.transitions import behaviour
from harness.values import State

MODULE: Final = "DoneAgain"
OUTPUTS: Final = frozenset({"branch", "response", "completed"})
"""The fields of a step about its outcome."""
EPOCHS: Final = ("epoch", "generation")
"""The fields of a request that depend on the steps before it."""
_BEHAVIOUR: Final = ("SPECIFICATION", "INIT", "NEXT", "VIEW", "SYMMETRY", *CHECKS, *UNKNOWN_TO_TLC)


@dataclass(frozen=True, slots=True)
class Again:
    """The step that leads to a state of the trace; `sentence` has its inputs in TLA+."""

    index: int
    sentence: str


@dataclass(frozen=True)
class Doing:
    """A class that does steps of a trace again: `model` is the trace's, `variables` are its variables with
    facts about a step."""

    trace: Trace
    model: Model
    limits: Limits

    @cached_property
    def steps(self) -> list[Again]:
        """Every step of the trace."""
        return [Again(at, self._inputs(state)) for at, state in enumerate(self.trace.states) if at]

    @cached_property
    def variables(self) -> list[str]:
        """The variables with an action."""
        first = self.trace.states[0].items()
        return sorted(name for name, value in first if isinstance(value, Mapping) and "action" in value)

    def _inputs(self, state: State) -> str:
        return tla_value({name: _inputs_of(state[name]) for name in self.variables})

    def behaviours(self, parts: Sequence[Sequence[Again]]) -> list[list[State]]:
        """The states of each part's behaviour, the first one included: fewer than steps + 1 where a step is
        not possible. ConformError (exit 3) if TLC fails."""
        library = self.model.module.parent
        graph, starts = explored(lambda folder: self._render(parts, folder), library, self.limits)
        return [self._nearest(graph, starts[number], part) for number, part in enumerate(parts, start=1)]

    def _render(self, parts: Sequence[Sequence[Again]], folder: Path) -> tuple[Path, Path]:
        config = read_config(self.model.configuration)
        _, following = behaviour(self.model, config)
        sentences = list(dict.fromkeys(step.sentence for part in parts for step in part))
        request = {name: _epoch_of(self.trace.states[0][name]) for name in self.variables}
        values = {
            "module": MODULE,
            "model": self.model.module.stem,
            "next": following,
            "first": {name: tla_value(value) for name, value in sorted(self.trace.states[0].items())},
            "inputs": {name: sorted(_inputs_of(self.trace.states[0][name])) for name in self.variables},
            "epoch": request,
            "said": sentences,
            "parts": [[sentences.index(step.sentence) + 1 for step in part] for part in parts],
        }
        module, cfg = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
        module.write_text(_template().render(values), encoding="utf-8")
        kept = config.without(_BEHAVIOUR).having("SPECIFICATION", "AgainSpec")
        cfg.write_text(kept.having("CHECK_DEADLOCK", "FALSE").text(), encoding="utf-8")
        return module, cfg

    def _nearest(self, graph: nx.MultiDiGraph, start: int, part: Sequence[Again]) -> list[State]:
        """Level by level, each state by the way to it that is most similar to the trace."""
        best: dict[int, tuple[int, list[int]]] = {start: (0, [start])}
        for step in part:
            was = self.trace.states[step.index]
            following: dict[int, tuple[int, list[int]]] = {}
            for node, (like, path) in best.items():
                for after in sorted(set(graph.successors(node))):
                    state = graph.nodes[after]["state"]
                    score = like + sum(state[name] == value for name, value in was.items())
                    if after not in following or following[after][0] < score:
                        following[after] = score, [*path, after]
            if not following:
                break
            best = following
        _, path = max(best.values(), key=lambda near: (near[0], near[1]))
        return [own(graph.nodes[node]["state"]) for node in path]

    def trace_of(self, states: Sequence[State], description: str) -> Trace:
        """The behaviour as a trace of the model."""
        return Trace({**self.trace.meta, "description": description}, tuple(states[0]), list(states))


def model_of(trace: Trace, spec: Path) -> Model | None:
    """The model that a trace names, if the manifest has it."""
    manifest = spec / "manifest.json"
    name = trace.meta.get("model")
    if not isinstance(name, str) or not manifest.is_file():
        return None
    return next((entry.model() for entry in read_manifest(manifest).entries if entry.name == name), None)


def _inputs_of(step: Any) -> dict[str, Any]:
    """Inputs of a step; the model chooses the epoch of its request."""
    given = {name: value for name, value in step.items() if name not in OUTPUTS}
    if epoch := _epoch_of(step):
        given["request"] = frozendict({**given["request"], epoch: 0})
    return given


def _epoch_of(step: Any) -> str:
    return next((name for name in EPOCHS if name in step.get("request", {})), "")


@cache
def _template() -> jinja2.Template:
    return tla_templates("harness.shrink", {}).get_template("again.tla.j2")
