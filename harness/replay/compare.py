"""All differences between the expected and the observed results of a step.

Differences without a meaning are removed first, by a normal form: the text of an error message, response
fields that are left out because they have the schema's default, the order of one kind of records within a
batch (P1 orders kinds, not members).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import msgspec

from harness.targets.base import Answer, Json


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the target differs; the values are JSON, or `ABSENT`."""

    path: str
    expected: Any
    got: Any


ABSENT: Final = "(absent)"
SCRIPTED: Final = "scripted target used"


def agree(expected: Answer, got: Answer, shift: int = 0) -> bool:
    """Tell if the answers are plainly equal, except for an error's text: nearly always, and fast.

    `shift` is as in `differences`, which decides whether shifted offsets are right.
    """
    if (got.group, got.consumed) != (expected.group, expected.consumed) or (shift and expected.records):
        return False
    for one, other in zip(_lists(expected), _lists(got), strict=True):
        if one != other and [*one] != [*other]:
            return False
    body = got.body
    if body != expected.body:
        if not isinstance(body, dict) or not body.get("errorCode"):
            return False
        body = {**body, "errorMessage": None} if type(body.get("errorMessage")) is str else body
    return same([expected.body, expected.group, *_lists(expected)], [body, got.group, *_lists(got)])


def same(one: Any, other: Any) -> bool:
    """Tell if two values are the same JSON. 1, true and 1.0 are equal in Python, and differ in JSON."""
    return bool(one == other) and _text(one) == _text(other)


def _text(value: Any) -> bytes:
    """JSON with its names in order, by a faster library than `json` where that can."""
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError):  # as for half of a surrogate pair, or a large number
        return json.dumps(value, sort_keys=True, default=dict).encode()


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def _lists(answer: Answer) -> tuple[Sequence[Json], ...]:
    """The parts of an answer that may be of any type of sequence."""
    return answer.records, answer.fired, answer.completed


def differences(expected: Answer, got: Answer, shift: int = 0) -> list[Difference]:
    """Every difference of a step; empty if the answers mean the same.

    `shift` is the number of records by which the target's log is ahead of the expected one.
    """
    different = list(_differ("response", expected.body, normal_response(expected.body, got.body)))
    different += _differ("group", expected.group, got.group)
    different += _differ_in_records(expected.records, got.records, shift)
    different += _differ(SCRIPTED, expected.consumed, got.consumed)
    different += _differ("fired", list(expected.fired), list(got.fired))
    different += _differ("completed", _by_id(expected.completed), _by_id(got.completed))
    return different


def _without_empty_name(body: Json) -> Json:
    """An error of JoinGroup without a protocol's name may have an empty name, the schema's default."""
    return (
        {**body, "protocolName": None} if body.get("errorCode") and body.get("protocolName") == "" else body
    )


def _by_id(completed: Sequence[Json]) -> Json:
    """Late responses by their requests; several responses of a request in their order."""
    by_id: Json = {}
    for one in completed:
        body = one.get("body")
        named = _without_empty_name(body) if isinstance(body, dict) else body
        whole = one.keys() <= {"id", "body"}
        by_id.setdefault(str(one.get("id")), []).append(named if whole else {**one, "body": named})
    return by_id


RESPONSE: Final[Json] = {
    "throttleTimeMs": 0,
    "errorCode": 0,
    "errorMessage": None,
    "memberId": None,
    "memberEpoch": 0,
    "shouldComputeAssignment": False,
    "heartbeatIntervalMs": 0,
    "assignment": None,
}
ASSIGNMENT: Final[Json] = {
    "error": 0,
    "assignedTopicPartitions": [],
    "pendingTopicPartitions": [],
    "metadataVersion": 0,
    "metadataBytes": "",
}


_LISTS: Final[dict[str, Json]] = {
    "topics": {"name": None},
    "groups": {"errorCode": 0},
    "results": {"errorCode": 0, "errorMessage": None},
    "responses": {"errorCode": 0, "errorMessage": None},
    "configs": {"readOnly": False, "isSensitive": False, "synonyms": [], "documentation": None},
    "partitions": {"errorCode": 0, "committedLeaderEpoch": -1, "metadata": ""},
}
"""The defaults of the items of lists in the responses of all other APIs."""


def normal_response(expected: Json | None, body: Json | None) -> Json | None:
    """A response with the fields that may be left out; `expected` shows which API it answers."""
    if not isinstance(body, dict):
        return body
    if isinstance(expected, dict) and not {"memberId", "memberEpoch"} <= expected.keys():
        top = {"errorMessage": None} if "errorMessage" in expected else {}
        named = _without_empty_name(body)
        return {"throttleTimeMs": 0, **_normal_lists(expected, _normal_item(expected, top, named))}
    normal = {**_defaults(RESPONSE, expected), **body}
    if normal["errorCode"] != 0 and isinstance(normal["errorMessage"], str):
        normal["errorMessage"] = None
    if isinstance(normal["assignment"], dict):
        wanted = expected["assignment"] if isinstance(expected, dict) and "assignment" in expected else None
        normal["assignment"] = {**_defaults(ASSIGNMENT, wanted), **normal["assignment"]}
    return normal


def _defaults(fields: Json, expected: Json | None) -> Json:
    """The defaults of the fields that the response of this API has: that to a share group has fewer."""
    return fields if expected is None else {name: fields[name] for name in fields if name in expected}


def _normal_lists(expected: Json, body: Json) -> Json:
    """Add the fields that `body` leaves out of the items of its lists, where they have a default and are
    expected."""
    normal = dict(body)
    for name, defaults in _LISTS.items():
        wanted, given = expected.get(name), body.get(name)
        if name == "configs" and isinstance(given, list):
            given = sorted(given, key=_config_name)
        if isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
            normal[name] = [
                _normal_lists(left, _normal_item(left, defaults, right)) if isinstance(right, dict) else right
                for left, right in zip(wanted, given, strict=True)
            ]
    return normal


def _config_name(config: object) -> str:
    """The sort key of a configuration: configurations come in any order."""
    return str(config.get("name")) if isinstance(config, dict) else ""


def _normal_item(expected: Json, defaults: Json, item: Json) -> Json:
    """An item of a list with its defaults; the text of an error is the target's own."""
    normal = {**{key: defaults[key] for key in defaults if key in expected}, **item}
    if normal.get("errorCode") and isinstance(normal.get("errorMessage"), str):
        normal["errorMessage"] = None
    return normal


def _differ_in_records(expected: Sequence[Json], got: Sequence[Json], shift: int) -> Iterator[Difference]:
    """Compare keys and values in order; offsets only where those agree: a missing record moves all later
    ones."""
    if shift == 0 and same(list(expected), list(got)):
        return
    different = list(_differ("records", _in_order(expected), _in_order(got)))
    if not different:
        offsets = [record.get("offset") for record in got]
        different += _differ("record offsets", [record["offset"] + shift for record in expected], offsets)
    yield from different


def _in_order(records: Sequence[Json]) -> list[Json]:
    """Neighbours of one kind sorted by their members or partitions, without offsets."""
    if not all(isinstance(record, dict) and isinstance(record.get("key"), dict) for record in records):
        return list(records)
    return [
        {name: value for name, value in record.items() if name != "offset"}
        for _, run in groupby(records, key=lambda record: record["key"].get("type"))
        for record in sorted(run, key=lambda record: [str(record["key"].get(part)) for part in _WITHIN])
    ]


_WITHIN: Final = ("memberId", "topic", "partition")
"""The fields that distinguish keys of one type in a group."""


def _differ(path: str, expected: Any, got: Any) -> Iterator[Difference]:
    if same(expected, got):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            yield from _differ(f"{path}.{key}", expected.get(key, ABSENT), got.get(key, ABSENT))
    elif isinstance(expected, list) and isinstance(got, list) and (names := _names(expected, got)):
        left, right = dict(zip(names[0], expected, strict=True)), dict(zip(names[1], got, strict=True))
        different = False
        for name in [*left, *(name for name in right if name not in left)]:
            for difference in _differ(f"{path}[{name}]", left.get(name, ABSENT), right.get(name, ABSENT)):
                different = True
                yield difference
        if not different:
            yield Difference(f"{path} in this order", names[0], names[1])
    else:
        yield Difference(path, expected, got)


def _names(expected: list[Any], got: list[Any]) -> tuple[list[str], list[str]] | None:
    """The names of the items of both lists, if all have a name and no two in a list the same."""
    names = [_name(item) for item in expected], [_name(item) for item in got]
    for side in names:
        if None in side or len(set(side)) != len(side):
            return None
    return [str(name) for name in names[0]], [str(name) for name in names[1]]


def record_name(key: Json) -> str:
    """The name of a record with this key in reports."""
    return " ".join(str(key[part]) for part in ("type", *_WITHIN) if part in key)


def _name(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    if "key" in item and isinstance(item["key"], dict):
        return record_name(item["key"])
    if "timer" in item:
        return f"{item['timer']} {item.get('member', '')}".strip()
    member = item.get("memberId")
    return member if isinstance(member, str) else None


HARMLESS: Final = frozenset(
    f"response.{name}" for name in ("heartbeatIntervalMs", "throttleTimeMs", "errorMessage")
)
"""Differences that change nothing: the coordinator's state does not depend on these fields."""


STATE: Final = "group.state"


def may_go_on(difference: Difference) -> bool:
    """Tell if the same steps follow after this difference. The group's state follows from its epochs and
    members, which are compared, too."""
    return difference.path in HARMLESS or difference.path == STATE


def is_of_state(difference: Difference) -> bool:
    """Tell if the coordinator is in another state."""
    return not (difference.path.startswith("response") or may_go_on(difference))
