"""Apalache's output: the verdict, how far it looked, why it has no answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.engines.base import EngineError, Failure, Outcome

OK: Final = 0
COUNTEREXAMPLE: Final = 12
_FAILURES: Final = {
    75: Failure.EVALUATION,
    120: Failure.TYPE,
    150: Failure.PARSE,
}
_USAGE: Final = "Failed to parse command"
_WORDS: Final = (
    ("Parsing error", Failure.PARSE),
    ("type input error", Failure.TYPE),
    ("Configuration error", Failure.CONFIGURATION),
    ("Unexpected expressions", Failure.EVALUATION),
    (_USAGE, Failure.CONFIGURATION),
)
"""What it says where its exit code is only 255 (or 1)."""

_STAMP = re.compile(r"\s+([A-Z])@\d\d:\d\d:\d\d\.\d+$")
_MEMORY = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit|out of memory", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[\d*m")
_STEP = re.compile(r"Step (\d+):")
_STEP_OR_STATE = re.compile(r"(?:State|Step) (\d+):")
_INVARIANT = re.compile(r"Producing verification conditions from the invariant (\S+)")
_CONDITIONS = re.compile(r"VCGen produced (\d+) verification condition")
_VIOLATED_AT = re.compile(r"State (\d+): state invariant \d+ violated")
_VIOLATED = re.compile(r"(state|action) invariant (\d+) violated")
_ENDED = re.compile(r"EXITCODE: (?:OK|ERROR \((\d+)\))")


def read_exit_code(lines: list[str]) -> int | None:
    """The exit code that a whole output ends with; None for one that is cut off."""
    ended = _ENDED.fullmatch(lines[-1].strip()) if lines else None
    return int(ended[1] or OK) if ended else None


def read_length(lines: list[str]) -> int | None:
    """The steps of a counterexample to an invariant of states; of others the output does not say them."""
    found = [int(match[1]) for line in lines if (match := _VIOLATED_AT.match(line))]
    return found[0] if len(found) == 1 else None


def read_depth(lines: list[str]) -> int | None:
    """The last step that was looked at. Once Apalache has checked invariants of steps, its number of the
    state that follows is one too many."""
    numbered = _STEP if any("action invariant" in line for line in lines) else _STEP_OR_STATE
    steps = [int(match[1]) for line in lines if (match := numbered.match(line))]
    return max(steps, default=None)


def read_verdict(lines: list[str], exit_code: int) -> tuple[Outcome, str | None]:
    """The outcome and the violated invariant that an output (exit code 0 or 12) tells of."""
    if exit_code == OK:
        return Outcome.HOLDS, None
    if any(line.startswith("The outcome is: Deadlock") for line in lines):
        return Outcome.DEADLOCK, None
    return Outcome.VIOLATED, _violated_invariant(lines)


def _violated_invariant(lines: list[str]) -> str | None:
    """Conditions are numbered through all invariants, but those on states and on actions apart."""
    names: list[str] = []
    invariants: list[str] = []
    for line in lines:
        if named := _INVARIANT.search(line):
            invariants.append(named[1])
        elif (count := _CONDITIONS.search(line)) and invariants:
            names += [invariants[-1]] * int(count[1])
        elif violated := _VIOLATED.search(line):
            if len(invariants) == 1:
                return invariants[0]
            kinds = {kind for text in lines for kind in re.findall(r"Checking \d+ (state|action) inv", text)}
            return names[int(violated[2])] if len(kinds) == 1 and int(violated[2]) < len(names) else None
    return None


def _errors(lines: list[str]) -> str:
    """Its error messages: each ends with a stamp E@time and may begin on an earlier line."""
    if usage := [line for line in lines if line.startswith(_USAGE)]:
        return _COLOUR.sub("", usage[-1])
    errors: list[str] = []
    message: list[str] = []
    for line in lines:
        stamp = _STAMP.search(line)
        message.append(_STAMP.sub("", line))
        if stamp:
            if stamp[1] == "E":
                errors += message
            message = []
    kept = errors or [line for line in lines[-20:] if not line.lstrip().startswith("at ")]
    return "\n".join(line for line in kept if line.strip() and "found an error" not in line)


def read_failure(lines: list[str], exit_code: int, name: str, log: Path, memory: str) -> EngineError:
    """What to tell the user about a run without an answer, Apalache's own words included."""
    text = "\n".join(lines)
    detail = _errors(lines)
    if _MEMORY.search(text):
        return EngineError(
            Failure.MEMORY,
            f"Apalache ran out of memory ({memory}) on {name}; allow more with --memory.\n{detail}",
        )
    by_words = next((kind for words, kind in _WORDS if words in text), Failure.CRASH)
    kind = _FAILURES.get(exit_code, by_words)
    sentences = {
        Failure.PARSE: f"Apalache cannot parse {name}.",
        Failure.TYPE: f"{name} has a type error.",
        Failure.CONFIGURATION: f"Apalache's arguments or configuration for {name} are wrong.",
        Failure.EVALUATION: f"{name} uses something that Apalache does not support.",
        Failure.CRASH: f"Apalache failed on {name} with exit code {exit_code}; its log is {log}.",
    }
    return EngineError(kind, f"{sentences[kind]}\n{detail}")
