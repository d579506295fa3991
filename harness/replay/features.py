"""Features of requests that a target may lack: its `hello` names them under `lacks`.

A step whose request uses a feature that the target lacks is left out, as one whose API the target lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Capabilities, Json

STATIC: Final = "static members"
REGEXES: Final = "regular expressions"
CLIENT_SIDE: Final = "client-side assignors"
SERVER_SIDE: Final = "server-side assignor "
"""The prefix that makes a feature of the name of an assignor: to have that assignor."""


def _has(*fields: str) -> Callable[[Json], bool]:
    return lambda part: any(part.get(field) is not None for field in fields)


def _names(assignor: str) -> Callable[[Json], bool]:
    return lambda part: part.get("serverAssignor") == assignor


def _offers(part: Json) -> bool:
    """A request may offer none, and differs from one without the field; a record has the field always."""
    return part.get("clientAssignors") is not None or bool(part.get("assignors"))


FEATURES: Final[dict[str, Callable[[Json], bool]]] = {
    STATIC: _has("instanceId", "groupInstanceId"),
    REGEXES: _has("subscribedTopicRegex"),
    CLIENT_SIDE: _offers,
    **{SERVER_SIDE + name: _names(name) for name in ("uniform", "range")},
}
"""Each name that `Capabilities.lacks` may have, and its use in the fields of a request or a record."""


def offered(known: Capabilities) -> frozenset[str]:
    """The features that a target has. ConformError (exit 3) if it declares the lack of an unknown feature."""
    if unknown := sorted(known.lacks - FEATURES.keys()):
        raise ConformError(
            f"The target {known.name} says that it lacks {', '.join(unknown)}, but there is no such feature; "
            f"there are {', '.join(FEATURES)}.",
            ENGINE_FAILED,
        )
    return frozenset(FEATURES) - known.lacks


def used(value: Json | None) -> frozenset[str]:
    """The features that the body of a request, or the value of a record, uses: their members' fields, too."""
    parts: list[Any] = [value or {}, *((value or {}).get("members") or ())]
    return frozenset([name for part in parts for name, uses in FEATURES.items() if uses(part)])


def used_in(records: Iterable[Json]) -> frozenset[str]:
    """The features that the members of a log use."""
    return frozenset().union(*(used(record.get("value")) for record in records))
