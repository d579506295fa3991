"""Sequence diagrams of a simulation's story: messages and notes, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.report.sequence import Event, Fate, Kind, Message, Note, Step
from harness.report.sequence_words import COORDINATOR, natural

_FATES: Final[Mapping[str, Fate]] = {"lost": "lost", "late": "late", "copy": "late"}
_PREFIX: Final = {"late": "late: ", "copy": "copy: "}
_NOTE: Final = 50
_MESSAGE: Final = 76
"""Letters of words; longer ones are cut."""


def content_of_story(
    messages: Sequence[Mapping[str, Any]], failing: Sequence[str]
) -> tuple[list[str], list[Step], list[Event]]:
    """Lanes, rows and messages of a diagram; messages are in the form of `conform simulate --json`: from, to,
    label, kind.

    A note goes from a process to itself; one without a process is the coordinator's, as is a message that
    does not name both ends. `failing` are words under the last message.
    """
    members = {one[end] for one in messages for end in ("from", "to")} - {COORDINATOR, ""}
    steps, events = [], []
    for number, one in enumerate(messages, start=1):
        steps.append(Step(number, "", failing=tuple(failing) if number == len(messages) else ()))
        events.append(_event(number, one))
    return [*sorted(members, key=natural), COORDINATOR], steps, events


def _event(number: int, one: Mapping[str, Any]) -> Event:
    most = _NOTE if one["kind"] == "note" else _MESSAGE
    label = one["label"] if len(one["label"]) <= most else f"{one['label'][: most - 1]}…"
    if one["kind"] == "note" or not (one["from"] and one["to"]):
        return Note(number, one["from"] or COORDINATOR, label)
    kind: Kind = "request" if one["to"] == COORDINATOR else "error" if label.isupper() else "answer"
    words = _PREFIX.get(one["kind"], "") + label
    return Message(number, one["from"], one["to"], words, kind, _FATES.get(one["kind"], "arrives"))
