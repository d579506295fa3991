"""Scenarios of consumer groups beside traces of them, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.itf import Trace
from harness.kinds.consumer.scenario.from_trace import steps_of
from harness.kinds.consumer.scenario.model import Scenario, ScriptStep
from harness.kinds.consumer.scenario.run import Played
from harness.kinds.consumer.scenario.transcript import mismatches
from harness.kinds.consumer.scenario.write import done_line
from harness.kinds.consumer.state import StateReader


def out_of_step(scenario: Scenario, trace: Trace) -> str:
    """Differences between a trace and the scenario, in words; "" if the trace is the scenario's behaviour."""
    states = StateReader().read(trace, f"The trace beside {scenario.file}")
    topics = {topic: count for topic, count in states[0].topics.items() if count > 0}
    if topics != scenario.topics or (states[0].group if states[0].group.exists else None) != scenario.first:
        return "it starts from another state"
    steps = steps_of(states)
    if len(steps) != len(scenario.steps):
        return f"it has {len(steps)} steps, not {len(scenario.steps)}"
    for number, (file, spec) in enumerate(zip(scenario.steps, steps, strict=True), start=1):
        if _script(file) != _script(spec) or file.target not in (None, spec.target):
            return f"step {number} is another one"
    mismatch = next(mismatches(scenario, [step.states for step in steps]), None)
    return (
        f"after step {mismatch.step} it has {mismatch.what} {mismatch.spec}, not {mismatch.file}"
        if mismatch
        else ""
    )


def _script(step: ScriptStep) -> ScriptStep:
    """The operations, without the target and the transcript."""
    return replace(step, target=None, says="", sections={}, first_line=0, last_line=0, column=0)


def explain(played: Played) -> Iterator[str]:
    """All faults, one on a line, with the file's lines."""
    scenario = played.scenario

    def at(line: int, sentence: str) -> str:
        return f"{scenario.file}, line {line + 1}: {sentence}"

    for one in played.mismatches:
        where = f"after step {one.step}" if one.section == "expect" else f"in step {one.step}, {one.section}"
        yield at(
            one.line, f"{where}: {one.what}: the file has {one.file}, the specification gives {one.spec}"
        )
    if played.stuck:
        step = scenario.steps[played.stuck - 1]
        yield at(
            step.first_line,
            f"the specification has no step {played.stuck} ({done_line(step)}): {_stuck(step)}",
        )
    for number in played.unused:
        line = scenario.steps[number - 1].first_line
        yield at(line, f"step {number} says a target, but no new target is due there: leave it out")
    for number in played.missing:
        line = scenario.steps[number - 1].first_line
        yield at(
            line, f"step {number} has a state that is not written yet: conform scenario --rewrite writes it"
        )
    for erratum in played.accepted:
        yield at(erratum.line, f"the specification does not reject the uncorrected state ({erratum.where})")


def _stuck(step: ScriptStep) -> str:
    target = (
        "A4: each partition of a subscribed topic has one owner, who subscribes to it, and no other has one"
    )
    if step.target is not None:
        advice = f"its target may not be legal ({target})"
    else:
        advice = f"a new target may be due: say it with target: ({target})"
    return advice if step.request else f"it may not be possible in this state, or {advice}"
