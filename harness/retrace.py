"""Counterexamples with the steps that their model did not record.

A model with the constant `TrackSteps = FALSE` keeps its variable `step`, and others that only record, at
their initial values, so that a liveness check has fewer states. Its counterexample names no step, and
cannot be replayed from the states alone. The model's own next-state relation, with `TrackSteps = TRUE`,
follows the same states again and names each step.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.engines import tlc_output
from harness.engines.base import EngineError, Failure, Limits, Model
from harness.engines.tlc import run_tlc
from harness.engines.tlc_config import CHECKS, UNKNOWN_TO_TLC, Config, read_config
from harness.itf import Trace
from harness.kinds.literals import tla_value
from harness.modules import dependencies
from harness.transitions import behaviour
from harness.values import State

MODULE: Final = "Retraced"
_STEP: Final = "step"
_RECORDED: Final = re.compile(r"\b(\w+)'\s*=\s*IF TrackSteps\b")
"""A variable that the specification records only where steps are tracked."""
_UNTRACKED: Final = re.compile(r"\bTrackSteps\s*=\s*FALSE\b")
_BEHAVIOUR: Final = ("SPECIFICATION", "INIT", "NEXT", "VIEW", "SYMMETRY", *CHECKS, *UNKNOWN_TO_TLC)


def with_steps(model: Model, trace: Trace, limits: Limits) -> Trace:
    """The states of a trace, each with the step that leads to it; `trace` itself where its model recorded
    them.

    EngineError (exit 3) if TLC fails, or cannot follow the states, which would be a fault of this program.
    """
    config = read_config(model.configuration)
    if not any(_UNTRACKED.search(text) for _, text in config.sections) or _STEP not in trace.variables:
        return trace
    with tempfile.TemporaryDirectory(prefix="conform-retrace-") as name:
        folder = Path(name)
        module, tracked = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
        module.write_text(_module(model, config, trace), encoding="utf-8")
        tracked.write_text(_tracked(config).text(), encoding="utf-8")
        ended = run_tlc(
            module,
            tracked,
            ["-deadlock", "-workers", "1", "-seed", "0"],
            log=folder / "tlc.log",
            limits=replace(limits, brief=True),
            libraries=[model.module.parent, *model.libraries],
        )
        report = tlc_output.read_report(ended.lines)
    states = [_own(state) for state in report.states]
    if len(states) != len(trace.states):
        raise EngineError(
            Failure.CRASH,
            f"The steps of the counterexample of {model.name} could not be named: its model followed "
            f"{len(states)} of {len(trace.states)} states.",
        )
    return replace(trace, meta=_meta(trace), states=states, actions=())


def _tracked(config: Config) -> Config:
    """The model's constants, with steps recorded and no property of its own."""
    sections = tuple((key, _UNTRACKED.sub("TrackSteps = TRUE", text)) for key, text in config.sections)
    plain = Config(sections).without(_BEHAVIOUR)
    return plain.having("SPECIFICATION", "RetracedSpec").having("INVARIANT", "RetracedNotWhole")


def _meta(trace: Trace) -> dict[str, object]:
    constants = trace.meta.get("constants")
    tracked = {**constants, "TrackSteps": True} if isinstance(constants, dict) else {}
    return {**trace.meta, **({"constants": tracked} if tracked else {})}


def _module(model: Model, config: Config, trace: Trace) -> str:
    """A module over the model whose only behaviour has the trace's states; `retraced` counts them."""
    init, following = behaviour(model, config)
    variables = list(trace.variables)
    recorded = {
        name for path in dependencies(model.module) for name in _RECORDED.findall(path.read_text("utf-8"))
    }
    compared = [name for name in variables if name not in recorded]
    given = ",\n".join(f"  {_record(state, compared)}" for state in trace.states)
    same = [f"/\\ {name}{{0}} = RetracedStates[retraced{{0}}].{name}" for name in compared]
    first, then = ("\n".join(f"  {line.format(prime)}" for line in same) for prime in ("", "'"))
    return f"""---- MODULE {MODULE} ----
EXTENDS {model.module.stem}, Naturals, Sequences
VARIABLE retraced
RetracedStates == <<
{given}
>>
RetracedInit ==
  /\\ retraced = 1
  /\\ {init}
{first}
RetracedNext ==
  /\\ retraced < Len(RetracedStates)
  /\\ retraced' = retraced + 1
  /\\ {following}
{then}
RetracedSpec == RetracedInit /\\ [][RetracedNext]_<<{", ".join(variables)}, retraced>>
RetracedNotWhole == retraced < Len(RetracedStates)
====
"""


def _record(state: State, names: Sequence[str]) -> str:
    return "[" + ", ".join(f"{name} |-> {tla_value(state[name])}" for name in names) + "]"


def _own(state: State) -> State:
    return type(state)({name: value for name, value in state.items() if name != "retraced"})
