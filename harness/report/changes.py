"""Changes of a state by a step, place by place, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from frozendict import frozendict

from harness.replay.compare import ABSENT, Difference, differences
from harness.replay.report import shown, shown_at
from harness.targets.base import Answer, Json
from harness.tlaparse import print_value
from harness.values import State, Value

_LONGEST: Final = 400
"""The number of letters of a value of the specification; a longer value is cut."""


@dataclass(frozen=True)
class Change:
    """A place in the group, a response or a record: before the step, after it in the specification, and on
    the target (None: as in the specification). `before` is empty for a new place."""

    path: str
    before: str
    expected: str
    got: str | None = None


def short(path: str, given: Any) -> str:
    """The value at a path in words that fit beside others."""
    text = value(path, given).replace("\n", ", ")
    return text if len(text) <= 40 else f"{text[:39]}…"


def value(path: str, given: Any) -> str:
    """The value at a path in words: one line for each field of an object, without missing fields."""
    if given == ABSENT:
        return "absent"
    if not isinstance(given, dict):
        return shown_at(path, given)
    return "\n".join(f"{name}: {shown(part)}" for name, part in given.items() if part not in (None, ABSENT))


def plain(different: Iterable[Difference]) -> list[Change]:
    """Differences as changes of which only the target's value is known."""
    return [
        Change(one.path, "", value(one.path, one.expected), value(one.path, one.got)) for one in different
    ]


def changes(before: Json, after: Json, different: Sequence[Difference] = ()) -> list[Change]:
    """Changes of a group's description in the specification, with the target's values where these differ."""
    changed = {
        one.path: _change(one, different) for one in differences(Answer(group=before), Answer(group=after))
    }
    for one in different:
        if one.path in changed:
            earlier = changed[one.path].before
        elif any(
            one.path.startswith(f"{path}.") and change.before == value("", ABSENT)
            for path, change in changed.items()
        ):
            earlier = value("", ABSENT)
        else:
            unchanged = one.path.startswith("group") and ".timers" not in one.path
            earlier = value(one.path, one.expected) if unchanged else ""
        changed[one.path] = Change(one.path, earlier, value(one.path, one.expected), value(one.path, one.got))
    return sorted(changed.values(), key=lambda one: one.got is None)


def _change(one: Difference, different: Sequence[Difference]) -> Change:
    """Changes by a step, without the fields in which the target differs, which have their own lines."""
    own = {other.path.removeprefix(f"{one.path}.") for other in different if other.path != one.path}
    if not isinstance(one.got, dict) or own.isdisjoint(one.got):
        return Change(one.path, value(one.path, one.expected), value(one.path, one.got))
    rest = {name: part for name, part in one.got.items() if name not in own}
    return Change(f"{one.path}, the rest", value(one.path, one.expected), value(one.path, rest))


def variable_changes(before: State, after: State, variables: Collection[str]) -> list[Change]:
    """Changes of some variables of the specification: the knowledge of its clients and its network, say."""
    return [
        change
        for name in sorted(variables)
        if name in before
        for change in _of_value(name, before[name], after[name])
    ]


def _of_value(path: str, before: Value, after: Value) -> Iterator[Change]:
    if before == after:
        return
    if not isinstance(before, frozendict) or not isinstance(after, frozendict):
        yield Change(path, _printed(before), _printed(after))
        return
    for key in sorted({*before, *after}, key=str):
        place = f"{path}.{key}" if isinstance(key, str) else f"{path}[{print_value(key)}]"
        if key in before and key in after:
            yield from _of_value(place, before[key], after[key])
        else:
            ends = (_printed(one[key]) if key in one else value("", ABSENT) for one in (before, after))
            yield Change(place, *ends)


def _printed(given: Value) -> str:
    text = print_value(given)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
