"""Scenario files and the traces beside them: `basic.yaml` has its behaviour in `basic.itf.json`.

The trace is the same steps and states for whoever has no model checker; it is written by `conform scenario
--rewrite`, never by hand, and counts only while it says what the scenario says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.engines.base import Limits
from harness.errors import MODEL_VIOLATED, ConformError
from harness.itf import Trace, read_trace, trace_to_text
from harness.kinds.consumer.state import StateReader
from harness.scenario.fields import read_fields
from harness.scenario.from_trace import steps_of
from harness.scenario.load import load_scenario
from harness.scenario.model import Scenario, ScriptStep
from harness.scenario.names import SUFFIX as SUFFIX
from harness.scenario.names import trace_beside as trace_beside
from harness.scenario.run import DEFAULT_LIMITS, Played, play
from harness.scenario.scripts import write as scripts
from harness.scenario.scripts.load import load_script
from harness.scenario.scripts.model import PlayedScript, Script
from harness.scenario.scripts.play import play_scripts
from harness.scenario.transcript import mismatches
from harness.scenario.write import done_line, rewritten

SPEC: Final = Path("spec")


def scenario_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and all scenarios in and below the folders, in a fixed order; ConformError for none."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob(f"*{SUFFIX}"))
            if not inside:
                raise ConformError(f"There are no scenarios (*{SUFFIX}) in {path}.")
            found.update(dict.fromkeys(inside))
        elif path.suffix != SUFFIX:
            raise ConformError(f"{path} is no scenario: their names end with {SUFFIX}.")
        else:
            found[path] = None
    if not found:
        raise ConformError(f"No scenarios were given: name *{SUFFIX} files or folders that have some.")
    return list(found)


def load_file(path: Path) -> Scenario | Script:
    """The scenario in a file, of whatever kind of group. ConformError (exit 2) for the first mistake."""
    whole = read_fields(path)
    return load_script(whole) if "protocol" in whole.mapping() else load_scenario(path)


def play_files(
    files: Sequence[Path], spec: Path, limits: Limits = DEFAULT_LIMITS
) -> list[Played | PlayedScript]:
    """Play scenarios, those of each kind of group in one run of TLC. ConformError as of `play`."""
    loaded = {file: load_file(file) for file in files}
    played: dict[Path, Played | PlayedScript] = {}
    ordinary = {file: one for file, one in loaded.items() if isinstance(one, Scenario)}
    if ordinary:
        played |= zip(ordinary, play(list(ordinary.values()), spec, limits), strict=True)
    others = {file: one for file, one in loaded.items() if isinstance(one, Script)}
    for kind in sorted({script.kind.name for script in others.values()}):
        mine = {file: one for file, one in others.items() if one.kind.name == kind}
        played |= zip(mine, play_scripts(list(mine.values()), spec, limits), strict=True)
    return [played[file] for file in files]


def out_of_step(scenario: Scenario | Script, trace: Trace) -> str:
    """Differences of a trace from the scenario, in words; "" if it is its behaviour."""
    if isinstance(scenario, Script):
        return scripts.out_of_step(scenario, trace)
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
    found = next(mismatches(scenario, [step.states for step in steps]), None)
    return f"after step {found.step} it has {found.what} {found.spec}, not {found.file}" if found else ""


def _script(step: ScriptStep) -> ScriptStep:
    """The operations, without the target and the transcript."""
    return replace(step, target=None, says="", sections={}, first_line=0, last_line=0, column=0)


def trace_of(path: Path, spec: Path = SPEC) -> Trace:
    """The behaviour of a scenario file: the trace beside it if it is in step, else what TLC makes of it.

    ConformError: exit 10 if the scenario is no behaviour of the specification, 2 for a wrong file, 3 without
    TLC.
    """
    scenario = load_file(path)
    beside = trace_beside(path)
    if beside.is_file():
        trace = read_trace(beside)
        if not out_of_step(scenario, trace):
            return trace
    played = play_files([path], spec)[0]
    wrong = list(explain(played)) if played.broken else []
    if wrong:
        raise ConformError("\n".join(wrong), MODEL_VIOLATED)
    return played.trace


def explain(played: Played | PlayedScript) -> Iterator[str]:
    """Everything that is not as it should be, a line each, with the file's lines."""
    if isinstance(played, PlayedScript):
        yield from scripts.explain(played)
        return
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


def stale(played: Played | PlayedScript) -> Iterator[str]:
    """Faults of the trace beside the file; a file may have none."""
    beside = trace_beside(Path(played.scenario.file))
    if played.stuck or not beside.is_file():
        return
    trace = read_trace(beside)
    reason = out_of_step(played.scenario, trace)
    if not reason and trace_to_text(trace) != trace_to_text(played.trace):
        reason = "the specification gives other states"
    if reason:
        yield f"{beside} is stale: {reason}; write it anew with conform scenario --rewrite"


def _stuck(step: ScriptStep) -> str:
    target = (
        "A4: each partition of a subscribed topic has one owner, who subscribes to it, and no other has one"
    )
    if step.target is not None:
        said = f"its target may not be legal ({target})"
    else:
        said = f"a new target may be due: say it with target: ({target})"
    return said if step.request else f"it may not be possible in this state, or {said}"


def rewritten_file(played: Played | PlayedScript, text: str) -> str:
    """A file's text with the states that the specification gives. ConformError (exit 10) if what is done is
    no behaviour at all."""
    if played.stuck:
        raise ConformError(
            "\n".join(line for line in explain(played) if "has no step" in line), MODEL_VIOLATED
        )
    if isinstance(played, PlayedScript):
        return scripts.rewritten(text, played)
    return rewritten(text, played.scenario, played.transcripts)
