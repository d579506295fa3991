"""A trace to go through step by step: the changes of each step, and the steps that were possible there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConformError
from harness.files import read_text
from harness.itf import Trace
from harness.kinds.registry import kind_of
from harness.replay.compare import Difference
from harness.replay.decode import Decoder
from harness.replay.files import ENABLED, SUFFIX
from harness.report.changes import Change, changes, variable_changes
from harness.report.sequence import Step
from harness.targets.base import Json


@dataclass(frozen=True)
class Stage:
    """One step of a trace, or (number 0) its beginning: `enabled` are the steps that were possible in the
    state before it, in words."""

    number: int
    title: str
    changes: Sequence[Change]
    enabled: Sequence[str] = ()


def stages_of(
    trace: Trace, name: str, groups: Sequence[Json], steps: Sequence[Step], different: Sequence[Difference]
) -> list[Stage]:
    """The stages of the trace in the file `name`; `different` are the target's differences after the last
    step.

    `groups` are as of `groups_of`, and `steps` are the rows of its sequence diagram.
    """
    titles = {step.number: "/".join(filter(None, (step.name, step.branch))) for step in steps}
    kind = kind_of(trace, name)
    others = {*trace.variables, "topics"} - ({*kind.variables, *kind.beside} - {"topics"})
    possible = _enabled(Path(name))
    last = len(groups) - 1
    stages = [Stage(0, "the beginning", changes({}, groups[0], () if last else different))]
    for number in range(1, last + 1):
        of_group = changes(groups[number - 1], groups[number], different if number == last else ())
        of_others = variable_changes(trace.states[number - 1], trace.states[number], others)
        stages.append(
            Stage(number, titles.get(number, ""), [*of_group, *of_others], possible.get(number, ()))
        )
    return stages


def groups_of(trace: Trace, name: str) -> list[Json]:
    """The group after each step, in the `describe` form of its kind; timers have lines of their own."""
    decoder = Decoder()
    described = (decoder.start(state, name, trace.meta)[1] for state in trace.states)
    return [{field: part for field, part in group.items() if field != "timers"} for group in described]


def _enabled(trace: Path) -> Mapping[int, Sequence[str]]:
    """By the number of a step the actions that were enabled before it; empty where no file has them."""
    file = trace.with_name(f"{trace.name.removesuffix(SUFFIX)}{ENABLED}")
    if not file.is_file():
        return {}
    try:
        return {
            int(number): [str(one) for one in some]
            for number, some in json.loads(read_text(file, "")).items()
        }
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise ConformError(f"The file {file} is not what `conform exhaust` writes: {error}.") from None
