"""Words that all sequence diagrams of traces have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from harness.itf import Trace
from harness.kinds.fields import Partition

COORDINATOR: Final = "coordinator"
NOBODY: Final = "no member"
"""The lane of requests without a member, of an administrator's commits say."""
_DIGITS: Final = re.compile(r"(\d+)")


def violated(trace: Trace) -> dict[int, list[str]]:
    """The violation that the last step of a counterexample shows."""
    name, last = trace.meta.get("violated"), len(trace.states) - 1
    if not name:
        return {}
    if trace.loop is None:
        return {last: [f"{name} is violated"]}
    forever = "nothing else happens, ever" if trace.loop == last else f"step {trace.loop + 1} follows again"
    return {last: [f"{name} is violated: {forever}"]}


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts names with numbers in them as people do."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in _DIGITS.split(name)]


def partitions(some: Iterable[Partition]) -> str:
    """Partitions by topic: "foo-0,1 bar-0"; "nothing"."""
    topics: dict[str, list[str]] = {}
    for topic, index in sorted(some):
        topics.setdefault(topic, []).append(str(index))
    return " ".join(f"{topic}-{','.join(indices)}" for topic, indices in topics.items()) or "nothing"
