"""Features of requests that a target may lack: its `hello` names them under `lacks`.

A step whose request uses a feature that the target lacks is left out, as one whose API is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Capabilities, Json

STATIC: Final = "static members"
FEATURES: Final = {
    STATIC: ("instanceId", "groupInstanceId"),
    "regular expressions": ("subscribedTopicRegex",),
}
"""Each name that `Capabilities.lacks` may have, and the fields of requests and records that use it."""


def offered(known: Capabilities) -> frozenset[str]:
    """The features that a target has. ConformError (exit 3) if it lacks what is no feature."""
    if unknown := sorted(known.lacks - FEATURES.keys()):
        raise ConformError(
            f"The target {known.name} says that it lacks {', '.join(unknown)}, but there is no such feature; "
            f"there are {', '.join(FEATURES)}.",
            ENGINE_FAILED,
        )
    return frozenset(FEATURES) - known.lacks


def used(value: Json | None) -> frozenset[str]:
    """The features that the body of a request, or the value of a record, uses: all but null in a field."""
    parts: list[Any] = [value or {}, *((value or {}).get("members") or ())]
    given = {field for part in parts for field, said in part.items() if said is not None}
    return frozenset(name for name, fields in FEATURES.items() if not given.isdisjoint(fields))


def used_in(records: Iterable[Json]) -> frozenset[str]:
    """The features that the members of a log use."""
    return frozenset().union(*(used(record.get("value")) for record in records))
