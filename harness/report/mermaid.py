"""Sequence diagrams as Mermaid text, which issues and pull requests draw.

Mermaid has no arrow that takes time: a message stands at its arrival, with the number of the step in which it
left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from harness.report.sequence import Event, Message, Note, Shows, Step

_BAND: Final = "rect rgba(230, 126, 34, 0.2)"
"""The background of a highlighted step, which fits a light page and a dark one."""
_SPECIAL: Final = re.compile(r"[#;<>&\"%{}\\`]")
_ARROWS: Final = {"request": "->>", "answer": "-->>", "error": "-->>"}
_LOST: Final = {"request": "-x", "answer": "--x", "error": "--x"}


def mermaid(lanes: Sequence[str], steps: Sequence[Step], events: Iterable[Event]) -> str:
    """The text of a diagram, with a line break at its end.

    Lanes, steps and events are those of `harness.report.sequence`; text that begins with "3. " is of step 3.
    """
    names = {lane: f"L{number}" for number, lane in enumerate(lanes)}
    lines = ["sequenceDiagram", *(f"  participant {names[lane]} as {_text(lane)}" for lane in lanes)]
    known = list(events)
    across = ",".join(dict.fromkeys((names[lanes[0]], names[lanes[-1]])))
    for step in steps:
        body = list(
            _of_step(step, [one for one in known if one.step == step.number], names, names[lanes[-1]])
        )
        if step.failing:
            words = "<br/>".join(map(_text, step.failing))
            body = [_BAND, *(f"  {line}" for line in body), f"  Note over {across}: {words}", "end"]
        lines += [f"  {line}" for line in body]
    return "\n".join(lines) + "\n"


def _of_step(
    step: Step, events: Sequence[Event], names: Mapping[str, str], coordinator: str
) -> Iterator[str]:
    """The lines of a step: messages, notes, then the state after it; the first has the step's number."""
    number = f"{step.number}. "
    for event in sorted(events, key=lambda one: (isinstance(one, Shows), isinstance(one, Note))):
        if isinstance(event, Shows):
            yield f"Note over {coordinator}: {'<br/>'.join(_text(line) for line in event.lines)}"
        elif isinstance(event, Note):
            yield f"Note over {names[event.lane]}: {number}{_text(event.text)}"
        else:
            yield _message(event, names, number)
        number = ""
    if number and step.name:
        yield f"Note over {coordinator}: {number}{_text(step.name)}"


def _message(message: Message, names: Mapping[str, str], number: str) -> str:
    arrows = _LOST if message.fate in ("lost", "underway") else _ARROWS
    words = [{"lost": "lost", "underway": "under way"}.get(message.fate, "")]
    words += [f"sent in step {message.sent}" if message.slanted else ""]
    aside = ", ".join(filter(None, words))
    label = f"{number}{_text(message.label)}{f' ({aside})' if aside else ''}"
    return f"{names[message.sender]}{arrows[message.kind]}{names[message.receiver]}: {label}"


def _text(words: str) -> str:
    """Words without signs that Mermaid reads itself."""
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", words).replace("\n", " ")
