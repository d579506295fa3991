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
_OF: Final = {field: name for name, fields in FEATURES.items() for field in fields}


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
    return frozenset([name for part in parts for field, name in _OF.items() if part.get(field) is not None])


def used_in(records: Iterable[Json]) -> frozenset[str]:
    """The features that the members of a log use."""
    return frozenset().union(*(used(record.get("value")) for record in records))
