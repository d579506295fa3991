"""A schedule: concrete operations of the line protocol, which can be repeated on any pair of targets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.errors import USAGE, ConformError
from harness.files import read_json, write_text
from harness.replay import wire
from harness.replay.signature import way
from harness.targets.base import Answer, Json, Target
from harness.validate.form import check_form

HAVE: Final = {
    "request": ("api", "client", "body"),
    "topics": ("upsert", "delete"),
    "advance": ("ms",),
    "fire": ("timer", "member"),
    "restart": (),
}
"""The operations that a schedule may have, and the fields that they need.

Each may have a `script`, the target assignment that is installed before it ({member id: topic partitions}, or
the message of an assignor that fails); a join without member id may have a `newId`, which the targets are to
give it.
"""
_EPOCHS: Final = {0: "Join", -1: "Leave", -2: "LeaveTemporarily"}
_TIMERS: Final = {"session": "SessionTimeout", "rebalance": "RebalanceTimeout", "group": "DeleteGroup"}
_OTHERS: Final = {"topics": "ChangeTopics", "advance": "Advance", "restart": "FailOver"}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The configuration of both new coordinators, and the operations in order."""

    settings: Json
    operations: tuple[Json, ...]


def perform(target: Target, operation: Json, end: int) -> Answer:
    """Do one operation, and observe the group; `end` is the number of records in the target's log before
    it."""
    group = wire.GROUP
    if "newId" in operation:
        target.ids([operation["newId"]])
    if "script" in operation:
        script = operation["script"]
        target.assign(group, *((None, script) if isinstance(script, str) else (script,)))
    match operation["op"]:
        case "request":
            api = operation["api"]
            return target.request(
                api, wire.VERSIONS[api], operation["client"], operation["body"], observe=group
            )
        case "topics":
            return target.topics(operation["upsert"], operation["delete"], group)
        case "advance":
            return target.advance(operation["ms"], group)
        case "fire":
            return target.fire(operation["timer"], group, operation["member"], group)
        case "restart":
            answer = target.restart()
            return answer._replace(group=target.describe(group), records=target.records(end))
    raise ConformError(f"There is no operation {operation['op']!r} in schedules.")


def action(operation: Json) -> str:
    """The name of an operation in reports, as in the specification: "Join", "SessionTimeout"."""
    name: str = operation["op"]
    if name == "request":
        if operation["api"] != wire.HEARTBEAT:
            return str(operation["api"])
        return _EPOCHS.get(operation["body"]["memberEpoch"], "Heartbeat")
    return _TIMERS.get(operation["timer"], name) if name == "fire" else _OTHERS.get(name, name)


def way_of(operation: Json, answer: Answer) -> str:
    """An operation and its answer: "Join/NONE"; the part of it that counts in signatures."""
    code = _error(answer.body)
    if code is None:
        return action(operation)
    return way(action(operation), "", wire.ERROR_NAMES.get(code, str(code)))


def _error(body: Any) -> int | None:
    """The error of a response: for commits and fetches that of the first group, or else partition."""
    while isinstance(body, dict) and not body.get("errorCode"):
        inner = body.get("groups") or body.get("topics") or body.get("partitions")
        if not inner:
            break
        body = inner[0]
    return body.get("errorCode") if isinstance(body, dict) else None


def write_schedule(schedule: Schedule, path: Path) -> None:
    """Write the schedule as JSON, one operation on a line; `schedule_of` reads the same."""
    lines = ",\n".join(f"  {json.dumps(operation)}" for operation in schedule.operations)
    settings = json.dumps(schedule.settings)
    write_text(path, f'{{\n "settings": {settings},\n "operations": [\n{lines}\n ]\n}}\n')


def read_schedule(path: Path) -> Schedule:
    """Read the schedule again. ConformError (exit 2) for another file."""
    return schedule_of(read_json(path, "The schedule"), path)


def schedule_of(data: Any, path: Path) -> Schedule:
    """The schedule in JSON from the file `path`. ConformError (exit 2) where it is malformed."""
    if not isinstance(data, dict) or set(data) != {"settings", "operations"}:
        raise ConformError(f"The schedule {path} must have settings and operations, and nothing else.", USAGE)
    settings, operations = data["settings"], data["operations"]
    if not isinstance(settings, dict) or not isinstance(operations, list) or not operations:
        raise ConformError(
            f"The schedule {path} needs an object of settings and a list of operations.", USAGE
        )
    for number, operation in enumerate(operations, start=1):
        check_form(f"{path}, operation {number}", operation)
        if problem := _problem(operation):
            raise ConformError(f"{path}, operation {number}: {problem}.", USAGE)
    return Schedule(settings, tuple(operations))


def _problem(operation: Any) -> str | None:
    name = str(operation.get("op")) if isinstance(operation, dict) else ""
    if name not in HAVE:
        return f"there is no operation {name!r} in schedules; there are {', '.join(HAVE)}"
    if missing := [field for field in HAVE[name] if operation.get(field) is None]:
        return f"{name} needs the field {missing[0]!r}"
    known = ("op", *HAVE[name], "script", "newId")
    if unknown := [field for field in operation if field not in known]:
        return f"{name} has no field {unknown[0]!r}; there are {', '.join(known)}"
    if not isinstance(operation.get("script", ""), str | dict):
        return "the script must be a target assignment or a message"
    if not isinstance(operation.get("newId", ""), str):
        return "the newId must be a text"
    if name == "request" and operation["api"] not in wire.VERSIONS:
        return f"there is no API {operation['api']!r} in schedules; there are {', '.join(wire.VERSIONS)}"
    if name == "request" and not isinstance(operation["body"], dict):
        return "the body of a request must be an object"
    if (
        name == "request"
        and operation["api"] == wire.HEARTBEAT
        and operation["body"].get("memberEpoch") is None
    ):
        return "the body of a heartbeat needs a memberEpoch"
    return None
