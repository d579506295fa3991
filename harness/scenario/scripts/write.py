"""Writing the states that the specification gives into a file, and sentences about its faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.itf import Trace
from harness.scenario.scalar import scalar
from harness.scenario.scripts.model import Facts, PlayedScript, Script


def state_lines(facts: Facts, tall: frozenset[str]) -> Iterator[str]:
    """A state as the lines of a file, without the indentation of its step."""
    yield "expect:"
    for name, value in facts.items():
        if name in tall and value:
            yield f"  {name}:"
            yield from (f"    {scalar(key)}: {_flow(item)}" for key, item in value.items())
        else:
            yield f"  {scalar(name)}: {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar(name)}: {_flow(item)}' for name, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    text = str(value)
    return text if text.lstrip("-").isdigit() or text in ("true", "false") else scalar(text)


def rewritten(text: str, played: PlayedScript) -> str:
    """The text of the file with the states that the specification gives; every other line stays as it is."""
    lines = text.splitlines()
    script = played.scenario
    wrong = {number for number, *_ in played.mismatches} | set(played.missing)
    for number in sorted(wrong & set(range(1, len(played.transcripts) + 1)), reverse=True):
        step = script.steps[number - 1]
        new = list(state_lines(played.transcripts[number - 1], script.kind.tall))
        first, last = step.last_line + 1, step.last_line
        if step.expect is not None:
            first, last = step.expect.first_line, step.expect.last_line
        lines[first : last + 1] = [f"{' ' * step.column}{line}" for line in new]
    return "\n".join(lines) + "\n"


def explain(played: PlayedScript) -> Iterator[str]:
    """All faults, one on a line, with the file's lines."""
    script = played.scenario

    def at(line: int, sentence: str) -> str:
        return f"{script.file}, line {line + 1}: {sentence}"

    for number, what, old, new in played.mismatches:
        line = script.steps[number - 1].first_line
        yield at(line, f"after step {number}: {what}: the file has {old}, the specification gives {new}")
    if played.stuck:
        step = script.steps[played.stuck - 1]
        reason = f"the specification has no step {played.stuck} ({step.words})"
        yield at(step.first_line, f"{reason}: it may not be possible in this state")
    for number in played.missing if not played.stuck else ():
        line = script.steps[number - 1].first_line
        yield at(
            line, f"step {number} has a state that is not written yet: conform scenario --rewrite writes it"
        )
    for erratum in played.accepted:
        yield at(erratum.line, f"the specification does not reject the uncorrected state ({erratum.where})")


def out_of_step(script: Script, trace: Trace) -> str:
    """Differences of a trace from the script, in words; "" if it is its behaviour."""
    if trace.meta.get("script") != script.digest:
        return "what is done is something else"
    wrong = PlayedScript(script, trace, script.kind.facts(trace)).mismatches
    return f"after step {wrong[0][0]} it has {wrong[0][1]} {wrong[0][3]}, not {wrong[0][2]}" if wrong else ""
