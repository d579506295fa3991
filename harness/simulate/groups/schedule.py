"""A schedule of whole groups: settings and events, each with its time, as a file that can be read and edited.

Times are milliseconds of the world's clock; an event whose time is past happens at once. `who` is a process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, Final

from harness.errors import USAGE, ConformError, meant
from harness.files import read_json, write_text
from harness.forms import formed
from harness.simulate.groups.parts import LOCAL
from harness.simulate.groups.story import MOST, Settings
from harness.simulate.stage import Stage, stage_of
from harness.targets.base import Json

EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "topic": ("name", "id", "partitions"),
    "delete-topic": ("name",),
    "down": ("how",),
    "fail-over": (),
    "log": ("fails",),
    "delete-group": ("group",),
    "partition": ("from",),
    "heal": (),
    "wait": (),
    "start": ("who", "group", "topics", "ownId", "maxPollMs"),
    "late": ("who",),
    "crash": ("who",),
    "close": ("who",),
    "subscribe": ("who", "topics"),
    "unsubscribe": ("who",),
    "poll": ("who",),
    "done": ("who",),
    "consume": ("who", "records"),
    "commit": ("who",),
    "leap": ("who", "ms"),
    "send": ("who",),
    "deliver": ("who",),
    "lose": ("who",),
    "duplicate": ("who",),
    "deliver-copy": ("who",),
    "answer": ("who",),
    "answer-again": ("who",),
    "wrong-error": ("who", "error"),
    "give-up": ("who",),
}
"""Events that may happen in consumer groups, and their fields."""
_LEAST: Final = {"permille": 1, "error": -1}
"""The smallest numbers that are not 0."""
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("who", "group", "name", "id", "how", "configuration"), (str,)),
    **dict.fromkeys(("instance", "assignor", "regex"), (str, NoneType)),
    **dict.fromkeys(("topics", "from", "local"), (list,)),
    **dict.fromkeys(("fails", "ownId", "slow", "raises", "disconnected", "again"), (bool,)),
    **dict.fromkeys(("at", "ms", "maxPollMs", "permille"), (int,)),
    **dict.fromkeys(("partitions", "records", "offset", "error"), (int,)),
}
"""The types of fields; a list has texts."""
_KNOWN: Final = ("do", *_TYPES)
_PARTS: Final = ("settings", "requirement", "invariant", "events")
"""The fields of an event, and of a schedule."""
_WORDS: Final = {str: "a text", list: "a list", bool: "true or false", int: "a whole number"}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The events to play, in order, and the requirement and invariant that they violate, "" where unknown."""

    settings: Settings
    events: tuple[Json, ...]
    requirement: str = ""
    invariant: str = ""


def to_json(schedule: Schedule) -> Json:
    """Write the schedule as JSON, one event on a line."""
    return {
        "settings": schedule.settings.to_json(),
        "requirement": schedule.requirement,
        "invariant": schedule.invariant,
        "events": list(schedule.events),
    }


def write_schedule(schedule: Schedule, path: Path) -> None:
    """Write it as JSON, one event a line."""
    head = to_json(schedule)
    lines = ",\n".join(f"  {json.dumps(event)}" for event in head.pop("events"))
    fields = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    write_text(path, f'{{\n{fields} "events": [\n{lines}\n ]\n}}\n')


def read_schedule(path: Path) -> Schedule:
    """Read the schedule again. ConformError (exit 2) for another file."""
    return schedule_of(read_json(path, "The schedule"), path)


def schedule_of(data: Any, path: Path) -> Schedule:
    """The schedule in JSON from the file `path`. ConformError (exit 2) where it is malformed."""
    if not isinstance(data, dict) or not isinstance(data.get("events"), list) or not data["events"]:
        raise ConformError(f"The schedule {path} needs a list of events.", USAGE)
    if unknown := sorted(data.keys() - _PARTS):
        raise ConformError(
            f"The schedule {path} has the unknown field {unknown[0]!r}.{meant(unknown[0], _PARTS)}", USAGE
        )
    settings = _settings(data.get("settings", {}), path)
    stage = stage_of(settings.kind)
    for number, event in enumerate(data["events"], start=1):
        if problem := _problem(event, stage):
            raise ConformError(f"{path}, event {number}: {problem}.", USAGE)
    return Schedule(
        settings,
        tuple(data["events"]),
        str(data.get("requirement") or ""),
        str(data.get("invariant") or ""),
    )


def _settings(content: Any, path: Path) -> Settings:
    known = {field.name for field in fields(Settings)}
    if not isinstance(content, dict) or set(content) - known:
        raise ConformError(f"The settings of {path} must be some of {', '.join(sorted(known))}.", USAGE)
    settings = formed(content, Settings, f"The settings of {path}:")
    if not settings.groups:
        raise ConformError(f"The settings of {path}: there must be a group.", USAGE)
    return settings


def _problem(event: Any, stage: Stage) -> str:
    """The problem of an event as a sentence; "" where there is none."""
    does = str(event.get("do")) if isinstance(event, dict) else ""
    if does not in stage.events:
        return f"there is no event {does!r}; there are {', '.join(stage.events)}"
    if missing := [field for field in ("at", *stage.events[does]) if field not in event]:
        return f"{does} needs the field {missing[0]!r}"
    if unknown := next((name for name in event if name not in _KNOWN), None):
        return f"there is no field {unknown!r} in events; there are {', '.join(_KNOWN)}"
    if wrong := next(filter(None, (_wrong(name, value, stage) for name, value in event.items())), ""):
        return wrong
    if local := event.get("local"):
        if len(set(local) & set(LOCAL)) != len(local):
            return f"'local' must be a list of {', '.join(LOCAL)}"
        if event.get("assignor"):
            return "a consumer has 'local' assignors or an 'assignor', not both"
    return ""


def _wrong(name: str, value: Any, stage: Stage) -> str:
    """The fault of a field as a sentence; "" where there is none."""
    kinds = _TYPES.get(name, (str,))
    if type(value) not in kinds:
        return f"{name!r} must be {_WORDS[kinds[0]]}, not {json.dumps(value)}"
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        return f"{name!r} must be a list of texts"
    least = _LEAST.get(name, 0)
    if type(value) is int and not least <= value <= MOST:
        return f"{name!r} must be from {least} to {MOST}, not {value}"
    if name in stage.choices and value not in stage.choices[name]:
        return f"{name!r} must be one of {', '.join(stage.choices[name])}"
    return ""
