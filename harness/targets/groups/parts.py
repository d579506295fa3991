"""Parts of this repository with which whole groups are simulated, by the kind of the groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from harness.targets.groups.classic import ClassicParts
from harness.targets.groups.python import PythonParts

_PARTS: Final[dict[str, Callable[[], Any]]] = {"consumer": PythonParts, "classic": ClassicParts}


def parts_of(kind: str) -> Any:
    """New parts for the stage of a kind: a coordinator, and members."""
    return _PARTS[kind]()
