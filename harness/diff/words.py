"""Steps and states in words: the group protocol in its terms, other specifications by their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from frozendict import frozendict

from harness.diff.behaviours import BESIDE, FETCH, OUTCOME, answered, input_part
from harness.tlaparse import print_value
from harness.values import State, Value, sort_key
from harness.words import counted

NOT_IN_GROUP: Final = -1
NOTHING: Final = "nothing changes"
_LONG: Final = 60
_REQUEST: Final = ("instance", "owned", "subscription", "regex", "assignor")
_SAYS: Final = {"owned": "owning", "subscription": "subscribing to"}
_EVENTS: Final = {"topic": "", "partitions": "", "partition": "of", "offset": "offset"}

Where: TypeAlias = "tuple[Value, ...]"
"""A place in a state: a variable, then fields and arguments."""
Change: TypeAlias = "tuple[Where, Value | None, Value | None]"
"""Place, value before, value after; None where there is none."""


def input_of(step: Any, before: State) -> str:
    """The request or event in words: "Heartbeat of m1 with epoch 1 (it has 2), owning foo-0"."""
    if not isinstance(step, frozendict):
        return str(step)
    action = str(step.get("action", "step"))
    request = step.get("request")
    beside = list(_beside(step, input_part))
    if isinstance(request, frozendict) and "response" in step and _is_given(request, step):
        return ", ".join([_request(action, step, request, before), *beside])
    no_field = ("action", "request", *OUTCOME, *BESIDE)
    fields = {name: value for name, value in step.items() if name not in no_field}
    if "response" not in step:
        parts = [f"{name} {_plain(value)}" for name, value in sorted(fields.items())]
        return f"{action} {', '.join(parts)}".strip()
    return ", ".join([" ".join([action, *_event(action, fields)]), *beside])


def _beside(step: Mapping[Any, Value], part: Callable[[str, Value], Any]) -> Iterator[str]:
    """Words for the variables beside `step`, of the request or the answer, without those that have no
    news."""
    for variable in BESIDE:
        for name, value in sorted(part(variable, step[variable]).items()) if variable in step else ():
            if value:
                yield f"{name} {_plain(value)}"


def _is_given(request: Mapping[Any, Value], step: Mapping[Any, Value]) -> bool:
    return any(request.get(name) for name in ("member", "epoch", *_REQUEST)) or step["action"] in (
        "Join",
        "Rejoin",
    )


def _event(action: str, fields: Mapping[Any, Value]) -> Iterator[str]:
    if member := fields.get("member"):
        yield f"of {_plain(member)}"
    if topic := fields.get("topic"):
        count = fields.get("partitions")
        yield str(topic)
        if isinstance(count, int) and count > 0:
            yield f"to {counted(count, 'partition')}"
    if partition := fields.get("partition"):
        yield f"of {_plain(partition)}"
        if action != FETCH:
            yield f"offset {_plain(fields.get('offset', 0))}"


def _request(action: str, step: Mapping[Any, Value], request: Mapping[Any, Value], before: State) -> str:
    member, epoch = step.get("member"), request.get("epoch")
    has = member_of(before, str(member)).get("epoch", NOT_IN_GROUP)
    words = [f"{action} of {member}" if member else action]
    if action not in ("Join", "Leave", "LeaveTemporarily", "Return"):
        if has == NOT_IN_GROUP:
            words.append(f"with epoch {epoch} (it is no member)")
        else:
            words.append(f"with epoch {epoch}" + ("" if epoch == has else f" (it has {has})"))
    if not request.get("member") and member:
        words.append("without a member id")
    given = [
        f"{_SAYS.get(name, name)} {_plain(next(iter(option)))}"
        for name in _REQUEST
        if isinstance(option := request.get(name), frozenset) and option
    ]
    words += list(_event(action, {name: step.get(name, 0) for name in ("partition", "offset")}))
    return ", ".join([" ".join(words), *given])


def answer_of(step: Any) -> str:
    """The step's answer: "FENCED_MEMBER_EPOCH", "epoch 2 and foo-0"; "" for a step without an answer."""
    response = step.get("response") if isinstance(step, Mapping) else None
    if response is None:
        return ""
    beside = list(_beside(step, answered))
    if not isinstance(response, frozendict) or "error" not in response:
        return ", ".join([_plain(response), *beside])
    error = response["error"]
    if error != "NONE":
        return str(error)
    if step.get("action") == FETCH:
        return f"offset {_plain(step['offset'])}"
    parts = [f"epoch {response.get('epoch')}", *beside]
    for assignment in response.get("assignment") or ():
        parts.append(f"assigned {_plain(assignment['assigned'])}")
        if assignment.get("pending"):
            parts.append(f"pending {_plain(assignment['pending'])}")
    return ", ".join(parts)


def way_of(step: Any) -> str:
    """The branch and the error of a step, as counts are grouped by: "fenced FENCED_MEMBER_EPOCH"."""
    if not isinstance(step, frozendict):
        return ""
    response = step.get("response")
    error = response.get("error", "") if isinstance(response, frozendict) else ""
    branch = str(step.get("branch", ""))
    return " ".join(word for word in (branch, "" if error == "NONE" else str(error)) if word)


def member_of(state: State, name: str) -> Mapping[Any, Value]:
    """A member in a state of the group protocol; {} if there is none."""
    group = state.get("group")
    members = group.get("members") if isinstance(group, frozendict) else None
    member = members.get(name) if isinstance(members, frozendict) else None
    return member if isinstance(member, frozendict) else {}


def changes(before: Any, after: Any, path: Where = ()) -> Iterator[Change]:
    """Places where two values differ. A member that joins or leaves is one change, not one for each field."""
    if before == after:
        return
    both = isinstance(before, frozendict) and isinstance(after, frozendict)
    if not both or _comes_or_goes(before, after, path):
        yield path, before, after
        return
    assert isinstance(before, frozendict) and isinstance(after, frozendict)
    for key in sorted({*before, *after}, key=sort_key):
        if key not in before or key not in after:
            yield (*path, key), before.get(key), after.get(key)
        else:
            yield from changes(before[key], after[key], (*path, key))


def _comes_or_goes(before: Any, after: Any, path: Where) -> bool:
    return path[:2] == ("group", "members") and len(path) == 3 and _is_member(before) != _is_member(after)


def _is_member(member: Any) -> bool:
    return isinstance(member, frozendict) and member.get("epoch") != NOT_IN_GROUP


def effects(before: State, after: State) -> list[str]:
    """The changes in a step, in words, the most telling first."""
    ranked = [(_rank(change), _change(change)) for change in changes(before, after)]
    return [text for _, text in sorted(ranked, key=lambda item: item[0])] or [NOTHING]


def _rank(change: Change) -> int:
    path, before, after = change
    if path[:2] == ("group", "members"):
        return 0 if _comes_or_goes(before, after, path) else 3
    return 1 if path == ("group", "epoch") else 2


def _change(change: Change) -> str:
    path, before, after = change
    if path[:2] == ("group", "members") and _comes_or_goes(before, after, path):
        if not _is_member(after):
            return f"{path[2]} is removed from the group"
        assert isinstance(after, frozendict)
        assigned = _plain(after.get("assigned", frozenset()))
        return f"{path[2]} is a member, with epoch {after['epoch']} and {assigned}"
    return f"{_place(path)}: {_plain(before)} → {_plain(after)}"


_NAMES: Final[dict[Where, str]] = {
    ("group", "epoch"): "group epoch",
    ("group", "assignmentEpoch"): "assignment epoch",
    ("group", "target"): "target of",
    ("group", "metadata"): "known partitions of",
    ("group", "members"): "",
    ("topics",): "partitions of",
    ("clients",): "client",
    ("late",): "requests that may arrive late",
    ("responses",): "in flight to",
}
_FIELDS: Final = {"previousEpoch": "previous epoch", "revoking": "to revoke"}


def _place(path: Where) -> str:
    for length in (2, 1):
        if (name := _NAMES.get(path[:length])) is not None:
            rest = [_FIELDS.get(str(key), _plain(key)) for key in path[length:]]
            return " ".join([*([name] if name else []), *rest])
    return ".".join(_plain(key) for key in path)


def aspect(path: Where, member: str) -> str:
    """The subject of a place in a state, for any member: "epoch of the member", "target"."""
    for length in (2, 1):
        if path[:length] in (("group", "members"), ("clients",), ("responses",)):
            whose = "the member" if path[length : length + 1] == (member,) else "another member"
            fields = path[length + 1 :]
            what = _FIELDS.get(str(fields[0]), str(fields[0])) if fields else path[0]
            return f"{'client ' if path[0] == 'clients' else ''}{what} of {whose}"
        if (name := _NAMES.get(path[:length])) is not None:
            return name.removesuffix(" of")
    return str(path[0]) if path else ""


def membership(before: State, after: State) -> frozenset[str]:
    """Members that come and go by a step, in words."""
    return frozenset(_change(change) for change in changes(before, after) if _rank(change) == 0)


def _plain(value: Value | None) -> str:
    """A value for reading: partitions as foo-0, a set by its elements."""
    if value is None or value == "":
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, frozendict) and {"owned", "epoch", "member"} <= set(value):
        return f"request of {value['member']} with epoch {value['epoch']}"
    if isinstance(value, frozendict) and {"error", "epoch", "assignment"} <= set(value):
        return f"answer {answer_of({'response': value})}"
    if isinstance(value, frozenset):
        return " ".join(_plain(item) for item in sorted(value, key=sort_key)) or "nothing"
    if (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], int)
    ):
        return f"{value[0]}-{value[1]}"
    text = print_value(value)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
