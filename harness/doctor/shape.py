"""The forms of descriptions, records and responses: their fields and types.

Each function returns the first fault, in words, or "".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, TypeAlias
from uuid import UUID

from harness.protocol_schema import kinds
from harness.replay.compare import ASSIGNMENT, RESPONSE
from harness.replay.view import TIMERS, View
from harness.replay.wire import KEY_NUMBERS
from harness.targets.base import Answer, Json

Kind: TypeAlias = tuple[type, ...]

TEXT: Final[Kind] = (str,)
NUMBER: Final[Kind] = (int,)
LIST: Final[Kind] = (list,)
STATES: Final = ("Dead", "Empty", "Assigning", "Reconciling", "Stable")

GROUP: Final = kinds("consumerGroup", without=("computation", "configs"))
MEMBER: Final = kinds(
    "consumerMember", without=("clientAssignors", "targetMetadata", "classicState", "classicMemberMetadata")
)
TOPIC: Final = kinds("topicMetadata")
TIMER: Final = kinds("timer")
HEARTBEAT: Final = kinds("response.ConsumerGroupHeartbeat")
GIVEN: Final = kinds("assignment")
PARTITIONS: Final = ("assigned", "pendingRevocation", "target")


def as_json(value: object) -> str:
    """A value as the line protocol has it: null, true, "text"; an answer is an object, a set is a list."""
    return json.dumps(plain(value), ensure_ascii=False)


def plain(value: object) -> object:
    """A value as objects and lists of JSON."""
    if isinstance(value, Answer):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Set):
        return sorted(map(str, value))
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def of_group(group: Json, view: View) -> str:
    """The first fault of a description, without the fields that the target does not show."""
    fields = {name: kind for name, kind in GROUP.items() if view.shows(name)}
    shown = view.of(Answer(group=group)).group or {}
    if problem := _of_fields(shown, fields, "the group"):
        return problem
    if shown.get("state", "Dead") not in STATES:
        return f"the group has the state {as_json(shown['state'])}, which is none of {', '.join(STATES)}"
    members, timers = shown.get("members", []), shown.get("timers", [])
    if problem := _of_members(members, view) or _of_timers(timers, view):
        return problem
    return _of_each(shown.get("metadata", []), TOPIC, "the metadata", "topicName")


def _of_members(members: Sequence[Any], view: View) -> str:
    fields = {name: kind for name, kind in MEMBER.items() if view.shows(f"members.{name}")}
    if problem := _of_each(members, fields, "the members", "memberId"):
        return problem
    for member in members:
        for name in PARTITIONS:
            if problem := of_partitions(member.get(name, [])):
                return f"{name} of member {as_json(member['memberId'])}: {problem}"
    return ""


def _of_timers(timers: Sequence[Any], view: View) -> str:
    fields = {name: kind for name, kind in TIMER.items() if view.shows(f"timers.{name}")}
    for timer in timers:
        if problem := _of_fields(timer, fields, "a timer"):
            return problem
        if timer["timer"] not in TIMERS:
            return f"there is a timer {as_json(timer['timer'])}, which is none of {', '.join(TIMERS)}"
    return ""


def of_partitions(listed: Any) -> str:
    """The first fault of topic partitions in the normal form: sorted by topic id, and indices sorted."""
    if not isinstance(listed, list):
        return f"topic partitions must be a list, not {as_json(listed)}"
    for one in listed:
        if problem := _of_fields(one, {"topicId": TEXT, "partitions": LIST}, "a topic with partitions"):
            return problem
        if not is_uuid(one["topicId"]):
            return f"the topic id {as_json(one['topicId'])} is not a UUID as RFC 4122 writes it"
        if not all(type(index) is int for index in one["partitions"]):
            return f"the partitions {as_json(one['partitions'])} must be numbers"
        if one["partitions"] != sorted(set(one["partitions"])):
            return f"the partitions {one['partitions']} must be sorted"
    ids = [one["topicId"] for one in listed]
    return "" if ids == sorted(set(ids)) else f"the topic ids {as_json(ids)} must be sorted"


def is_uuid(text: str) -> bool:
    """Tell if this is the one text that RFC 4122 gives a UUID."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def of_heartbeat(body: Any) -> str:
    """The body of a response to ConsumerGroupHeartbeat."""
    if not isinstance(body, dict):
        return f"there is no body, but {as_json(body)}"
    if unknown := sorted(body.keys() - RESPONSE.keys()):
        return f"the response has {', '.join(unknown)}, which ConsumerGroupHeartbeatResponse has not"
    fields = {name: kind for name, kind in HEARTBEAT.items() if name in body and name != "assignment"}
    if problem := _of_types(body, fields, "the response"):
        return problem
    assignment = body.get("assignment")
    if assignment is None:
        return ""
    if not isinstance(assignment, dict) or assignment.keys() - ASSIGNMENT.keys():
        return f"assignment must have {', '.join(ASSIGNMENT)}, but is {as_json(assignment)}"
    for name in ("assignedTopicPartitions", "pendingTopicPartitions"):
        if problem := of_partitions(assignment.get(name, [])):
            return f"assignment.{name}: {problem}"
    given = {name: kind for name, kind in GIVEN.items() if name in assignment}
    return _of_types(assignment, given, "the assignment")


def of_records(records: Sequence[Any], first: int) -> str:
    """Records of one group from an offset on."""
    for offset, record in enumerate(records, start=first):
        fields: dict[str, Kind] = {"offset": NUMBER, "key": (dict,), "value": (dict, type(None))}
        if problem := _of_fields(record, fields, "a record"):
            return problem
        if record["offset"] != offset:
            return f"after offset {offset - 1} comes {as_json(record['offset'])}, not {offset}"
        if str(record["key"].get("type")) not in KEY_NUMBERS:
            kind = as_json(record["key"].get("type"))
            return f"a key has the type {kind}; there are {', '.join(KEY_NUMBERS)}"
    return ""


def _of_each(items: Sequence[Any], fields: Mapping[str, Kind], what: str, by: str) -> str:
    for item in items:
        if problem := _of_fields(item, fields, f"one of {what}"):
            return problem
    names = [item[by] for item in items]
    return "" if names == sorted(names) else f"{what} must be sorted by {by}: {as_json(names)}"


def _of_fields(item: Any, fields: Mapping[str, Kind], what: str) -> str:
    if not isinstance(item, dict):
        return f"{what} must be an object, not {as_json(item)}"
    if missing := [name for name in fields if name not in item]:
        return f"{what} has no {', '.join(missing)}"
    if unknown := sorted(item.keys() - fields.keys()):
        return f"{what} has {', '.join(unknown)}, which a description or record has not"
    return _of_types(item, fields, what)


def _of_types(item: Json, fields: Mapping[str, Kind], what: str) -> str:
    for name, types in fields.items():
        # bool is an int to Python, but not to JSON.
        if not isinstance(item[name], types) or (isinstance(item[name], bool) and bool not in types):
            return f"{name} of {what} is {as_json(item[name])}, which is of another type"
    return ""
