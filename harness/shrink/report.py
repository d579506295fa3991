"""The shrunk trace, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.kinds.registry import kind_of
from harness.kinds.shortenings import SHORTENINGS
from harness.replay.report import explain, time_waited
from harness.shrink.run import Oracle, Shrunk
from harness.targets.base import Json
from harness.words import counted


def lines(result: Shrunk, name: str, target: str, dialect: str, oracle: Oracle) -> Iterator[str]:
    """The remaining steps, the difference after the last one, and the way in which it was found."""
    waited = oracle.waited
    calls = " that call the coordinator" if result.scenario else ""
    if result.runs:
        yield (
            f"{name}: shrunk to {result.kept} of {counted(result.steps, 'step')}{calls} "
            f"({result.failing} up to the one that fails)"
        )
    else:
        gone = result.failing - result.kept
        leads = "leads" if gone == 1 else "lead"
        yield (
            f"{name}: cut after step {result.failing} of {result.steps}, the first that fails; "
            f"{counted(gone, 'step')} before it that {leads} back to a state left out, no "
            "model has the whole trace to do others again"
        )
    yield f"signature: {result.signature}"
    for number, done in enumerate(done_lines(result), start=1):
        yield f"  {number}. {done}"
    yield from explain(result.failure, target, dialect, waited.budget_s if waited else 0)
    if waited:
        yield time_waited(waited)
    if oracle.out_of_time:
        yield "these seconds did not suffice for each part: with more of them it may become shorter"
    if not result.runs:
        return
    yield (
        f"a behaviour of the specification: its states are {result.engine}'s (spec {result.spec[:12]}), "
        f"as are those of {counted(result.tried, 'shorter trace')} on the way"
    )


def done_lines(result: Shrunk) -> list[str]:
    """The steps in the words of a scenario."""
    if not result.scenario:
        steps: list[Any] = [state["step"] for state in result.trace.states[1:]]
        return [f"{step['action']} {step['member']}".strip() for step in steps]
    return SHORTENINGS[kind_of(result.trace, "The shortest trace").name].lines(result.trace)


def to_json(
    result: Shrunk, name: str, target: str, dialect: str, written: Sequence[Path], oracle: Oracle
) -> Json:
    """The result for `--json`: `steps` of the trace, `failing` up to the one that fails, `kept` of the
    shortest one; `shortest` has these in words, `differences` those after the last one. `waited` is as of
    `conform replay`; if its seconds were `out_of_time`, some parts were not judged."""
    return {
        "verb": "shrink",
        "trace": name,
        "target": target,
        "dialect": dialect,
        "signature": result.signature,
        "steps": result.steps,
        "failing": result.failing,
        "kept": result.kept,
        "shortest": done_lines(result),
        "differences": [
            {"path": one.path, "expected": one.expected, "got": one.got} for one in result.failure.differences
        ],
        "engine": result.engine,
        "spec": result.spec,
        "runs": result.runs,
        "tried": result.tried,
        "waited": asdict(oracle.waited) if oracle.waited else None,
        "out_of_time": oracle.out_of_time,
        "written": [str(path) for path in written],
    }
