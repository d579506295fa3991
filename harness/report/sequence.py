"""Sequence diagrams as SVG: a lane for each member and one for the coordinator, step after step.

Lines, dashes and marks repeat the meaning of the colours, which are Okabe and Ito's; a reader's dark mode is
kept. `harness.report.trace_sequence` decides which lines are drawn for a trace.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from harness.pages import template

Kind: TypeAlias = Literal["request", "answer", "error"]
Fate: TypeAlias = Literal["arrives", "lost", "late", "underway"]

_LETTER: Final = 6.4
"""Average width of a letter of 12 pixels, with room: fonts differ."""
_SLOT: Final = 24
_LINE: Final = 16
_PAD: Final = 12
_HEAD: Final = 34
_TITLE: Final = 30
_TITLE_SIZE: Final = 15 / 12
_GAP: Final = 104
_WIDEST: Final = 660
"""The width of the words of a message; the rest of longer words is in a tooltip."""
_CAPITAL: Final = 2.2
_BOLD: Final = 1.05
_UNDER: Final = 12
_LOST: Final = 0.62
"""The part of its way that a lost message makes."""
_BETWEEN: Final = 11
"""The distance below its request at which an answer that arrives in a later step leaves."""


@dataclass(frozen=True, slots=True)
class Step:
    """A row: its number in the trace, the name of the step, and its branch ("Heartbeat", "acknowledge").

    `failing` are words under the row, which they highlight; empty where nothing is wrong.
    """

    number: int
    name: str
    branch: str = ""
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """An arrow that arrives, is lost, or (at the end) is still `underway`, in `step`.

    `sent` is the step in which it left; None: this step.
    """

    step: int
    sender: str
    receiver: str
    label: str
    kind: Kind
    fate: Fate = "arrives"
    sent: int | None = None

    @property
    def slanted(self) -> bool:
        """Tell if the message was in flight in other steps, too."""
        return self.sent not in (None, self.step)


@dataclass(frozen=True, slots=True)
class Note:
    """An event at one lane, or (`bad`) one that should not happen."""

    step: int
    lane: str
    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Shows:
    """The state after a step, in lines beside the last lane."""

    step: int
    lines: tuple[str, ...]


Event: TypeAlias = Message | Note | Shows


@dataclass
class _Row:
    """Place of a step: its `top` and its height; `slots` are the heights of its messages and notes."""

    step: Step
    top: float = 0.0
    height: float = 0.0
    messages: list[Message] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    lines: tuple[str, ...] = ()

    def slot(self, index: int) -> float:
        """Distance from the top of a message or, after the messages, of a note; the words of a slanted arrow
        are under it."""
        slanted = sum(message.slanted for message in self.messages[:index])
        return self.top + _PAD + _SLOT * (index + 0.7) + _UNDER * slanted

    @property
    def slots(self) -> float:
        slanted = sum(message.slanted for message in self.messages)
        return _SLOT * (len(self.messages) + len(self.notes)) + _UNDER * slanted


def sequence(
    title: str, lanes: Sequence[str], steps: Sequence[Step], events: Iterable[Event], inline: bool = False
) -> str:
    """The diagram. The coordinator is the last lane; `inline` leaves out the parts that a page around it has
    already.

    ValueError for an event of an unknown step or lane.
    """
    rows = {step.number: _Row(step) for step in steps}
    for event in events:
        _place(event, rows, lanes)
    across = _across(lanes, rows.values())
    x = dict(zip(lanes, across.lanes, strict=True))
    top = float(_HEAD + (_TITLE if title else 0))
    for row in rows.values():
        row.top = top
        words = max(len(row.lines), 1 + bool(row.step.branch))
        row.height = max(row.slots, words * _LINE) + _PAD * 2 + _LINE * len(row.step.failing)
        top += row.height
    return template(Path(__file__).parent, "sequence.svg.j2").render(
        title=title,
        inline=inline,
        head=_TITLE if title else 0,
        lanes=[{"name": name, "x": place, "width": _width(name) + 24} for name, place in x.items()],
        across=across,
        whole=max(across.width, _width(title) * _TITLE_SIZE + 24),
        bottom=top,
        rows=[_drawn_row(row, x, lanes[-1]) for row in rows.values()],
        arrows=[
            _arrow(message, rows, index, x)
            for row in rows.values()
            for index, message in enumerate(row.messages)
        ],
        line=_LINE,
    )


def _place(event: Event, rows: Mapping[int, _Row], lanes: Sequence[str]) -> None:
    named = {event.lane} if isinstance(event, Note) else set()
    if isinstance(event, Message):
        named = {event.sender, event.receiver}
    if event.step not in rows or not named <= set(lanes):
        raise ValueError(f"no such step or lane: {event}")
    row = rows[event.step]
    if isinstance(event, Message):
        row.messages.append(event)
    elif isinstance(event, Note):
        row.notes.append(event)
    else:
        row.lines = event.lines


@dataclass(frozen=True, slots=True)
class _Across:
    """Places from left to right: the lanes, the column of states, the right edge."""

    lanes: list[float]
    states: float
    width: float


def _across(lanes: Sequence[str], rows: Collection[_Row]) -> _Across:
    """Places as narrow as the words allow: between two lanes their longest message must fit. The coordinator
    may be the only lane: a schedule may have no member."""
    left = max((_width(word) for row in rows for word in (row.step.name, row.step.branch)), default=0) + 60
    places = [left + _width(lanes[0]) / 2]
    for before, lane in pairwise(lanes[:-1]):
        across = (one for row in rows for one in row.messages if _is_between(one, before, lane))
        widest = max((_width(one.label) for one in across), default=0)
        names = (_width(lane) + _width(before)) / 2
        places.append(places[-1] + max(_GAP, names + 30, min(widest, _WIDEST) + 34))
    x = dict(zip(lanes, places, strict=False))
    last = places[-1] + _GAP
    for row in rows:
        for message in row.messages:
            member = x.get(message.sender, x.get(message.receiver, 0.0))
            last = max(last, member + min(_width(message.label), _WIDEST) + 34)
        for note in row.notes:
            last = max(last, x.get(note.lane, places[0]) + _width(note.text) + 12)
    states = last + _width(lanes[-1]) / 2 + 24
    words = [line for row in rows for line in row.lines]
    failing = [line for row in rows for line in row.step.failing]
    width = (
        max(states + max(map(_width, words), default=0), 60 + max(map(_width, failing), default=0) * _BOLD)
        + 16
    )
    all_lanes = (*places, last) if len(lanes) > 1 else places
    return _Across([round(place, 1) for place in all_lanes], round(states, 1), round(width, 1))


def _is_between(message: Message, one: str, other: str) -> bool:
    return {message.sender, message.receiver} == {one, other}


def _width(text: str) -> float:
    return sum(_LETTER + (_CAPITAL if letter.isupper() else 0) for letter in text)


def _cut(label: str) -> str:
    """The words of a message, as many as fit."""
    if _width(label) <= _WIDEST:
        return label
    return next(
        label[:length] + "…" for length in range(len(label), 0, -1) if _width(label[:length]) < _WIDEST
    )


def _drawn_row(row: _Row, x: Mapping[str, float], coordinator: str) -> dict[str, Any]:
    notes = []
    for index, note in enumerate(row.notes):
        width = _width(note.text) + 14
        left = x[note.lane] + 10 - width if note.lane == coordinator else x[note.lane] - 10
        y = row.slot(len(row.messages) + index)
        notes.append(
            {"x": round(left, 1), "y": round(y, 1), "width": width, "text": note.text, "bad": note.bad}
        )
    return {
        "step": row.step,
        "top": row.top,
        "height": row.height,
        "notes": notes,
        "lines": row.lines,
        "words": row.top + row.height - _LINE * len(row.step.failing) + 6,
    }


def _arrow(message: Message, rows: Mapping[int, _Row], index: int, x: Mapping[str, float]) -> dict[str, Any]:
    """The arrow from the place where the message left to the place where it arrived or was lost, and the
    place of its words."""
    row = rows[message.step]
    left, right, top, bottom = x[message.sender], x[message.receiver], row.slot(index), row.slot(index)
    if message.sent is not None and message.slanted:
        left, top = _origin(message, rows[message.sent], x)
    if message.fate in ("lost", "underway"):
        right = left + (right - left) * _LOST
    if not message.slanted:
        words = (min(x[message.sender], x[message.receiver]) + 9, bottom - 6, "start")
    elif left < right or message.fate in ("lost", "underway"):
        words = (right - 9, bottom + 14, "end")
    else:
        words = (right + 9, bottom + 14, "start")
    return {
        "message": message,
        "label": _cut(message.label),
        "failing": bool(row.step.failing),
        **{"x1": round(left, 1), "y1": round(top, 1), "x2": round(right, 1), "y2": round(bottom, 1)},
        "turn": round(math.degrees(math.atan2(bottom - top, right - left)), 1),
        **{"x": round(words[0], 1), "y": round(words[1], 1), "anchor": words[2]},
    }


def _origin(message: Message, row: _Row, x: Mapping[str, float]) -> tuple[float, float]:
    """The place where a message left in an earlier step: where it seemed lost, under the request that it
    answers, or beside the note about its sender's end."""
    for index, other in enumerate(row.messages):
        if other.fate == "lost" and other.sender == message.sender:
            return x[message.sender] + (x[message.receiver] - x[message.sender]) * _LOST, row.slot(index)
    if message.kind == "request":
        return x[message.sender], row.slot(max(len(row.messages) + len(row.notes) - 1, 0))
    return x[message.sender], row.slot(max(len(row.messages) - 1, 0)) + _BETWEEN
