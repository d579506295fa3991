"""Targets and kinds of groups that other packages add, by the entry points that they declare.

`group_conformance.targets` names factories, which are called for `--target NAME:ARGUMENT` with the argument
and the dialect. `group_conformance.kinds` names a `Kind` under the name of the kind and, under that name with
`.decoder`, `.actions`, `.reader`, `.language`, `.describer` or `.sequence`, the entry in the registry of that
part (`harness/kinds/`). A package is imported only where its parts are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from harness.errors import ENGINE_FAILED, ConformError

TARGETS: Final = "group_conformance.targets"
KINDS: Final = "group_conformance.kinds"
PARTS: Final = ("decoder", "actions", "reader", "language", "describer", "sequence")
"""The parts of a kind, each for one registry."""
NEEDED: Final = PARTS[:2]
"""The parts that every replay needs; the others are for single verbs."""


@lru_cache(maxsize=2)
def declared(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of installed packages, by name. ConformError (exit 3) if two packages use a name."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in points:
            raise ConformError(
                f"The packages {_package(points[point.name])} and {_package(point)} both bring "
                f"{point.name!r} ({group}): uninstall one of them.",
                ENGINE_FAILED,
            )
        points[point.name] = point
    return points


def loaded(point: EntryPoint) -> Any:
    """The object of an entry point. ConformError (exit 3) with the package if it cannot be imported."""
    try:
        return point.load()
    except ConformError:
        raise
    except Exception as error:  # code of another package, which may raise any exception
        raise bad(point, f"cannot be loaded: {type(error).__name__}: {error}") from error


def bad(point: EntryPoint, why: str) -> ConformError:
    """The failure of a package: `why` follows the name and the value of its entry point."""
    return ConformError(
        f"{point.name!r} ({point.value}) of the package {_package(point)} {why}. "
        "Mend that package, or uninstall it.",
        ENGINE_FAILED,
    )


def kinds(type_: type, own: Iterable[str]) -> tuple[Any, ...]:
    """The kinds that packages add, each a value of `type_`; `own` are the names of the kit's own kinds.

    ConformError (exit 3) for an entry of another type, with the name of another kind, or without a part.
    """
    points, own_kinds = declared(KINDS), []
    for name, point in points.items():
        kind, _, part = name.partition(".")
        if part:
            if part not in PARTS or kind not in points:
                raise bad(point, f"belongs to no kind: it is KIND.PART, and the parts are {', '.join(PARTS)}")
            continue
        value = loaded(point)
        if not isinstance(value, type_) or getattr(value, "name", None) != name:
            raise bad(point, f"is no {type_.__name__} with the name {name!r}")
        if name in own:
            raise bad(point, "has the name of a kind of the kit")
        if lacking := [needed for needed in NEEDED if f"{name}.{needed}" not in points]:
            raise bad(point, f"lacks the entry point {name}.{lacking[0]} beside it")
        own_kinds.append(value)
    return tuple(own_kinds)


def parts(part: str) -> dict[str, Any]:
    """One part of every kind that has it, by the name of the kind."""
    ending = f".{part}"
    points = declared(KINDS).items()
    return {name.removesuffix(ending): loaded(point) for name, point in points if name.endswith(ending)}


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "?"
