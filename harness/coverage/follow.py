"""Measure the arms that the states of traces reach, where their model is too large to run to its end.

TLC checks a copy of the model that goes on only from the states of the traces: each arm of the actions and
properties is evaluated in these states, and in no others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness.coverage.arms import extents
from harness.coverage.measure import Reached, run_copy, write_copy
from harness.engines.base import Limits, Model, Progress
from harness.files import read_text
from harness.itf import Trace, read_trace
from harness.kinds.literals import tla_value
from harness.manifest import Entry
from harness.modules import declared_variables
from harness.words import counted

ITF: Final = ".itf.json"
MODULE: Final = "CoverageTraces"


Traces: TypeAlias = Mapping[str, Sequence[Trace]]
"""Model -> its traces."""


def traces_by_model(folder: Path) -> Traces:
    """The traces in a folder and below by the models that they name; none where there is no such folder."""
    by_model: dict[str, list[Trace]] = {}
    for path in sorted(folder.rglob(f"*{ITF}")):
        trace = read_trace(path)
        by_model.setdefault(str(trace.meta.get("model", "")), []).append(trace)
    return by_model


def follow(
    entry: Entry, traces: Sequence[Trace], reached: Reached, limits: Limits, progress: Progress
) -> int:
    """Add the arms that a begun model reaches in the states of its traces; the number of arms that nothing
    had reached before.

    The model's figures are not compared: the copy has other states. EngineError if TLC or SANY fails.
    """
    model = entry.model()
    progress(f"reading its expressions, to follow {counted(len(traces), 'trace')}")
    all_extents = extents(model.module, limits, model.libraries)
    reached.add(all_extents)
    reached.followed[entry.name] = len(traces)
    wanted = reached.open_arms(all_extents)
    if not wanted:
        return 0
    with tempfile.TemporaryDirectory(prefix="conform-coverage-") as name:
        folder = Path(name)
        copy = write_copy(model, dict(enumerate(wanted, start=1)), folder)
        new, _ = run_copy(_bound(copy, traces), wanted, folder, limits, progress)
    reached.by.update(dict.fromkeys((arm for arm in wanted if arm in new), entry.name))
    return len(new)


def _bound(copy: Model, traces: Sequence[Trace]) -> Model:
    """The copy with a constraint: TLC goes on from the states of the traces."""
    assert copy.config is not None
    root = copy.module.stem
    declared = set(declared_variables(copy.module))
    variables = sorted(declared.intersection(*(trace.variables for trace in traces)))
    known = sorted({_record(variables, state) for trace in traces for state in trace.states})
    values = ", ".join(f"{name} |-> {name}" for name in variables)
    text = (
        f"---- MODULE {MODULE} ----\nEXTENDS {root}\n"
        f"StatesOfTraces == {{\n  {f',{chr(10)}  '.join(known)}\n}}\n"
        f"InTraces == [{values}] \\in StatesOfTraces\n====\n"
    )
    module = copy.module.with_name(f"{MODULE}.tla")
    module.write_text(text, encoding="utf-8")
    config = copy.config.with_name(f"{MODULE}.cfg")
    lines = read_text(copy.config, "The configuration")
    config.write_text(f"{lines}\nCONSTRAINT InTraces\n", encoding="utf-8")
    return replace(copy, module=module, config=config)


def _record(variables: Iterable[str], state: Mapping[str, Any]) -> str:
    return f"[{', '.join(f'{name} |-> {tla_value(state[name])}' for name in variables)}]"
